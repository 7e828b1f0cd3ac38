/** One stacked column per worker; sortable by any part, with outliers marked. */

import { useCallback, useMemo } from "preact/hooks";
import { largest } from "../../base/extent";
import { time, timeScale } from "../../base/format";
import { t } from "../../base/messages";
import { stateNames } from "../../base/parts";
import type { Row, Table } from "../../base/table";
import { type Link, laneFilterFor, linkToTime } from "../../state/links";
import type { Store } from "../../state/store";
import { useChoice } from "../../view/choices";
import type { Palette } from "../../view/palette";
import { ChartSection, type StackedChart, stackedOption } from "../../view/stacked";
import { BASE_PARTS, baseOf, layersOf, partsIn } from "../steps/parts";
import type { PodStep } from "./model";

const MARK = "▲ ";
const TOTAL = "total_ms";

function sorted(workers: Table, by: string): Table {
  if (!by) return workers;
  return workers.of([...workers.rows].sort((a, b) => workers.length(b, by) - workers.length(a, by)));
}

function stacked(step: PodStep, workers: Table): StackedChart {
  return {
    layers: layersOf(workers),
    columns: workers.rows.map((row) => {
      const [worker, total] = [workers.text(row, "worker"), workers.length(row, TOTAL)];
      return {
        name: (workers.cell(row, "slow") === true ? MARK : "") + worker,
        head: [worker, time(total), t("mostly {part}", { part: workers.text(row, "largest") })].join(" · "),
        total,
        base: baseOf(workers, row, TOTAL),
      };
    }),
    scale: timeScale(
      largest(workers.rows.flatMap((row) => [workers.length(row, TOTAL), workers.length(row, `base_${TOTAL}`)])),
    ),
    axisName: "",
    line: workers.rows.length > 1 ? { label: t("median"), value: step.medianMs } : null,
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

/** What the worker did in this step, on the timeline; of a part what devices computed, or its states among the idle causes. */
export function workerLink(store: Store, workers: Table, row: Row, part = ""): Link | undefined {
  const begin = workers.number(row, "begin_ms");
  if (begin === null) return undefined;
  const [host, device] = [workers.text(row, "host"), workers.text(row, "device")];
  const devices = device ? laneFilterFor(device) : "/device:";
  const onDevice = part === "compute";
  const place = {
    lanes: onDevice ? devices : device && `${devices}|/host:`,
    ...(part && !onDevice && { find: `^(${stateNames(part).join("|")})$`, regex: true }),
  };
  return linkToTime(store, begin, workers.length(row, TOTAL), host, place);
}

export function WorkerChart({ step, point, name, store }: WorkerChartProps) {
  const [by, setBy] = useChoice("by");
  const workers = useMemo(() => sorted(step.workers, by), [step, by]);
  const parts = partsIn(step.workers);
  const twin = useMemo(() => {
    const figures = [TOTAL, ...parts.map((id) => `${id}_ms`)].map((id) => [id, `base_${id}`, `delta_${id}`]);
    const [whole = [], ...rest] = figures;
    return workers.pick(["worker", "host", "match", ...whole, "largest", "slow", ...rest.flat()]);
  }, [workers, step]);
  const build = useCallback((palette: Palette) => stackedOption(stacked(step, workers), palette), [step, workers]);
  const sorter = (
    <label>
      {t("Sort by")}{" "}
      <select value={by} onChange={(event) => setBy(event.currentTarget.value)}>
        <option value="">{t("name")}</option>
        <option value={TOTAL}>{t("step time")}</option>
        {parts.map((id) => (
          <option key={id} value={`${id}_ms`}>
            {workers.column(`${id}_ms`)?.label}
          </option>
        ))}
      </select>
    </label>
  );
  return (
    <ChartSection
      title={t("Step time by worker")}
      doc={t(
        "One column per worker. ▲ marks workers that exceed the median by 5 % and three robust standard deviations. Click a column for its events on the Timeline.",
      )}
      note={step.slow > 0 ? t("{count} far slower than the others, marked ▲", { count: step.slow }) : undefined}
      controls={workers.rows.length > 1 ? sorter : undefined}
      label={t("{step} on {count} workers", { step: step.name, count: workers.rows.length })}
      height={300}
      build={build}
      onPoint={({ dataIndex }) => point(workers.text(workers.rows[dataIndex] ?? [], "worker"))}
      table={twin}
      specs={BASE_PARTS}
      name={name}
      id="workers"
      link={(row) => workerLink(store, workers, workers.rows[twin.rows.indexOf(row)] ?? [])}
    />
  );
}
