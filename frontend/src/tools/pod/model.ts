/** The pod viewer's protobuf JSON as steps and workers. Times are in ms from here on. */

import { Table } from "../../base/datatable";
import { PARTS, POD_PARTS, part } from "../../base/parts";
import { median } from "../../base/statistics";
import type { Piece } from "../../view/stackbar";

export interface PodRecord {
  readonly hostName: string;
  readonly chipId: number;
  readonly nodeId: number;
  readonly stepNum: number;
  readonly totalDurationUs: number;
  readonly bottleneck: string;
  readonly stepBreakdownUs: Readonly<Record<string, number>>;
  readonly stepName?: string;
  readonly complete?: boolean;
  /** Since the first event of the worker. */
  readonly beginMs?: number;
}

export interface PodAnswer {
  readonly podStatsSequence?: {
    readonly podStatsMap?: readonly {
      readonly stepNum: number;
      readonly podStatsPerCore?: Readonly<Record<string, PodRecord>>;
    }[];
  };
  readonly diagnostics?: {
    readonly info?: readonly string[];
    readonly warnings?: readonly string[];
    readonly errors?: readonly string[];
  };
  readonly deviceType?: string;
}

export interface Worker {
  readonly name: string;
  readonly host: string;
  /** Since the worker's first event; null where it is not told. */
  readonly begin: number | null;
  readonly total: number;
  readonly bottleneck: string;
  /** By part id. */
  readonly parts: Readonly<Record<string, number>>;
}

export interface PodStep {
  readonly number: number;
  /** What the program called the step; `Step n` where it has no name. */
  readonly name: string;
  /** False where the capture's begin or end cuts it on any worker. */
  readonly complete: boolean;
  /** By name. */
  readonly workers: readonly Worker[];
}

const ORDER = PARTS.map(({ id }) => id);

function worker(core: string, record: PodRecord, tpu: boolean): Worker {
  const parts: Record<string, number> = {};
  for (const [number, us] of Object.entries(record.stepBreakdownUs)) {
    const id = POD_PARTS[number] ?? "other";
    parts[id] = (parts[id] ?? 0) + us / 1000;
  }
  const name = tpu ? `(${record.chipId},${record.nodeId})` : record.hostName || `core ${core}`;
  const { hostName: host, bottleneck, beginMs: begin = null } = record;
  return { name, host, begin, total: record.totalDurationUs / 1000, bottleneck, parts };
}

function stepName(name: string): string {
  return /^\d+$/.test(name) ? `Step ${name}` : name;
}

export function stepsOf(answer: PodAnswer): PodStep[] {
  const tpu = (answer.deviceType ?? "").includes("TPU");
  const natural = new Intl.Collator("en", { numeric: true });
  return (answer.podStatsSequence?.podStatsMap ?? []).map(({ stepNum, podStatsPerCore = {} }) => ({
    number: stepNum,
    name: stepName(Object.values(podStatsPerCore)[0]?.stepName || String(stepNum)),
    complete: Object.values(podStatsPerCore).every((record) => record.complete !== false),
    workers: Object.entries(podStatsPerCore)
      .map(([core, record]) => worker(core, record, tpu))
      .sort((a, b) => natural.compare(a.name, b.name)),
  }));
}

/** An outlier: over the median by 5 % and by three robust standard deviations of the workers. */
export function isSlow({ total }: Worker, step: PodStep): boolean {
  const totals = step.workers.map((worker) => worker.total);
  if (totals.length < 3) return false;
  const middle = median(totals);
  const spread = 1.4826 * median(totals.map((value) => Math.abs(value - middle)));
  return total > middle * 1.05 && total > middle + 3 * spread;
}

/** The part in which a worker exceeds the median worker most, and by how much. */
export function largestExcess(worker: Worker, step: PodStep): { readonly id: string; readonly more: number } {
  const excesses = Object.entries(worker.parts).map(([id, value]) => ({
    id,
    more: value - median(step.workers.map((other) => other.parts[id] ?? 0)),
  }));
  return excesses.reduce((most, next) => (next.more > most.more ? next : most), { id: "other", more: 0 });
}

export function piecesOf(worker: Worker): Piece[] {
  return ORDER.flatMap((id) => {
    const value = worker.parts[id];
    return value === undefined ? [] : [{ part: part(id), value }];
  });
}

/** Ids of the parts in which any worker spends time, in the order of all pages. */
export function partsIn(step: PodStep): string[] {
  return ORDER.filter((id) => step.workers.some((worker) => (worker.parts[id] ?? 0) > 0));
}

/** The chart's twin, with the same parts and the workers in the same order. */
export function tableOf(workers: readonly Worker[], ids: readonly string[]): Table {
  const ms = (id: string, label: string) => ({ id, label, type: "number", p: { unit: "ms" } });
  return new Table({
    cols: [
      { id: "worker", label: "Worker", type: "string" },
      ms("total", "Step time"),
      { id: "bottleneck", label: "Most time in", type: "string" },
      ...ids.map((id) => ms(id, part(id).label)),
    ],
    rows: workers.map((worker) => ({
      c: [worker.name, worker.total, worker.bottleneck, ...ids.map((id) => worker.parts[id] ?? 0)].map((v) => ({ v })),
    })),
  });
}
