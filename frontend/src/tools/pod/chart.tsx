/** One stacked column per worker; sortable by any part, with outliers marked. */

import { useCallback, useMemo } from "preact/hooks";
import { time, timeScale } from "../../base/format";
import { part } from "../../base/parts";
import { median, summarize } from "../../base/statistics";
import { eventsDuring, type Way } from "../../state/links";
import type { Store } from "../../state/store";
import { useKept } from "../../view/kept";
import type { Palette } from "../../view/palette";
import { ChartSection, type Stacked, stackedOption } from "../../view/stacked";
import { isSlow, type PodStep, partsIn, tableOf, type Worker } from "./model";

const MARK = "▲ ";

function sortedWorkers(step: PodStep, by: string): Worker[] {
  if (!by) return [...step.workers];
  const value = (worker: Worker) => (by === "total" ? worker.total : (worker.parts[by] ?? 0));
  return [...step.workers].sort((a, b) => value(b) - value(a));
}

function stacked(step: PodStep, workers: readonly Worker[]): Stacked {
  const totals = workers.map(({ total }) => total);
  return {
    layers: partsIn(step).map((id) => ({
      part: part(id),
      label: part(id).label,
      values: workers.map((worker) => worker.parts[id] ?? 0),
    })),
    columns: workers.map((worker) => ({
      name: (isSlow(worker, step) ? MARK : "") + worker.name,
      head: `${worker.name} · ${time(worker.total)} · mostly ${worker.bottleneck}`,
      total: worker.total,
    })),
    scale: timeScale(summarize(totals).high),
    axisName: "",
    line: workers.length > 1 ? { label: "median", value: median(totals) } : null,
    sliderFrom: 40,
  };
}

interface WorkerChartProps {
  readonly step: PodStep;
  /** Tells which worker the pointer is on. */
  readonly point: (name: string) => void;
  readonly name: string;
  readonly store: Store;
}

/** What the worker did in this step, on the timeline. */
export function workerLink(store: Store, { host, begin, total }: Worker): Way | undefined {
  return begin === null ? undefined : eventsDuring(store, begin, total, host);
}

export function WorkerChart({ step, point, name, store }: WorkerChartProps) {
  const [by, setBy] = useKept("by");
  const workers = useMemo(() => sortedWorkers(step, by), [step, by]);
  const table = useMemo(() => tableOf(workers, partsIn(step)), [workers, step]);
  const build = useCallback((palette: Palette) => stackedOption(stacked(step, workers), palette), [step, workers]);
  const outliers = step.workers.filter((worker) => isSlow(worker, step)).length;
  const sorter = (
    <label>
      Sort by{" "}
      <select value={by} onChange={(event) => setBy(event.currentTarget.value)}>
        <option value="">name</option>
        <option value="total">step time</option>
        {partsIn(step).map((id) => (
          <option key={id} value={id}>
            {part(id).label}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <ChartSection
      title="Step time by worker"
      doc="One column per worker. ▲ marks workers that take far longer than the others: over the median by 5 % and by three robust standard deviations. Click a column for its events on the timeline."
      note={outliers > 0 ? `${outliers} far slower than the others, marked ▲` : undefined}
      controls={step.workers.length > 1 ? sorter : undefined}
      label={`${step.name} on ${workers.length} workers`}
      height={300}
      build={build}
      onPoint={({ dataIndex }) => point(workers[dataIndex]?.name ?? "")}
      twin={table}
      name={name}
      id="workers"
      link={(row) => {
        const worker = workers[table.rows.indexOf(row)];
        return worker && workerLink(store, worker);
      }}
    />
  );
}
