/** One stacked column per worker; sortable by any part, with outliers marked. */

import { useCallback, useMemo } from "preact/hooks";
import { largest } from "../../base/extent";
import { formatTime, timeScale } from "../../base/format";
import { t } from "../../base/messages";
import { stateNames } from "../../base/parts";
import type { Row, Table } from "../../base/table";
import type { TimelineView } from "../../base/timelinecodec";
import { type Link, laneFilterFor, linkToTime } from "../../state/links";
import type { Store } from "../../state/store";
import { ChartSection } from "../../view/chartsection";
import { useChoice } from "../../view/choices";
import type { Palette } from "../../view/palette";
import { LabelledSelect } from "../../view/select";
import { type StackedChart, stackedOption } from "../../view/stackedchart";
import { BASE_PART_SPECS, baselineStepOf, partLayers, usedPartIds } from "../steps/stepparts";
import type { PodStep } from "./podsteps";

const SLOW_MARK = "▲ ";
const TOTAL_COLUMN = "total_ms";

function sortWorkers(workers: Table, by: string): Table {
  if (!by) return workers;
  return workers.withRows([...workers.rows].sort((a, b) => workers.numberOrZero(b, by) - workers.numberOrZero(a, by)));
}

function stackedWorkers(step: PodStep, workers: Table): StackedChart {
  return {
    layers: partLayers(workers),
    columns: workers.rows.map((row) => {
      const [worker, totalMs] = [workers.text(row, "worker"), workers.numberOrZero(row, TOTAL_COLUMN)];
      return {
        name: (workers.cell(row, "slow") === true ? SLOW_MARK : "") + worker,
        head: [worker, formatTime(totalMs), t("mostly {part}", { part: workers.text(row, "largest") })].join(" · "),
        totalMs,
        base: baselineStepOf(workers, row, TOTAL_COLUMN),
      };
    }),
    scale: timeScale(
      largest(
        workers.rows.flatMap((row) => [
          workers.numberOrZero(row, TOTAL_COLUMN),
          workers.numberOrZero(row, `base_${TOTAL_COLUMN}`),
        ]),
      ),
    ),
    axisName: "",
    line: workers.rows.length > 1 ? { label: t("median"), value: step.medianMs } : null,
    sliderFrom: 40,
  };
}

interface WorkerChartProps {
  readonly step: PodStep;
  /** Tells which worker the pointer is on. */
  readonly setHoveredWorker: (name: string) => void;
  readonly name: string;
  readonly store: Store;
}

/** What the worker did in this step, on the timeline; of a part what devices computed, or its states among the idle causes. */
export function linkToWorker(store: Store, workers: Table, row: Row, part = ""): Link | undefined {
  const beginMs = workers.number(row, "begin_ms");
  if (beginMs === null) return undefined;
  const [host, device] = [workers.text(row, "host"), workers.text(row, "device")];
  const devices = device ? laneFilterFor(device) : "/device:";
  const onDevice = part === "compute";
  const view: Partial<TimelineView> = {
    laneFilter: onDevice ? devices : device && `${devices}|/host:`,
    ...(part && !onDevice && { find: `^(${stateNames(part).join("|")})$`, regex: true }),
  };
  return linkToTime(store, { beginMs, lengthMs: workers.numberOrZero(row, TOTAL_COLUMN), host, view });
}

export function WorkerChart({ step, setHoveredWorker, name, store }: WorkerChartProps) {
  const [sortColumn, setSortColumn] = useChoice("by");
  const workers = useMemo(() => sortWorkers(step.workers, sortColumn), [step, sortColumn]);
  const parts = usedPartIds(step.workers);
  const chartTable = useMemo(() => {
    const columnGroups = [TOTAL_COLUMN, ...parts.map((id) => `${id}_ms`)].map((id) => [
      id,
      `base_${id}`,
      `delta_${id}`,
    ]);
    const [whole = [], ...rest] = columnGroups;
    return workers.pickColumns(["worker", "host", "match", ...whole, "largest", "slow", ...rest.flat()]);
  }, [workers, step]);
  const build = useCallback(
    (palette: Palette) => stackedOption(stackedWorkers(step, workers), palette),
    [step, workers],
  );
  const sorter = (
    <LabelledSelect
      label={t("Sort by")}
      value={sortColumn}
      options={[
        ["", t("name")],
        [TOTAL_COLUMN, t("step time")],
        ...parts.map((id) => [`${id}_ms`, workers.column(`${id}_ms`)?.label ?? ""] as const),
      ]}
      choose={setSortColumn}
    />
  );
  return (
    <ChartSection
      title={t("Step time by worker")}
      doc={t(
        "One column per worker. ▲ marks workers that exceed the median by 5 % and three robust standard deviations. Click a column for its events on the Timeline.",
      )}
      note={
        step.slowCount > 0 ? t("{count} far slower than the others, marked ▲", { count: step.slowCount }) : undefined
      }
      controls={workers.rows.length > 1 ? sorter : undefined}
      label={t("{step} on {count} workers", { step: step.name, count: workers.rows.length })}
      height={300}
      build={build}
      onPoint={({ dataIndex }) => setHoveredWorker(workers.text(workers.rows[dataIndex] ?? [], "worker"))}
      table={chartTable}
      specs={BASE_PART_SPECS}
      name={name}
      id="workers"
      link={(row) => linkToWorker(store, workers, workers.rows[chartTable.rows.indexOf(row)] ?? [])}
    />
  );
}
