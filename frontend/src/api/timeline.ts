/** The timeline's routes (see docs/http.md). Times are ps since the first event that is shown. */

import type { WeighedCalls } from "../base/calltree";
import type { Table } from "../base/schema";
import type { Slab } from "../base/slab";
import { getJson, getSlab, routeAddress } from "./client";

export interface LaneEntry {
  /** `host.number`, as the routes take it. */
  readonly key: string;
  /** Stable over versions, for links. */
  readonly id: string;
  readonly name: string;
  readonly detail: string;
  readonly kind: string;
  readonly rows: number;
  readonly events: number;
  /** Of a counter's values. */
  readonly unit: "bytes" | "share" | "";
}

export interface SectionEntry {
  readonly host: string;
  readonly name: string;
  readonly kind: string;
  /** Whether it is folded until somebody unfolds it. */
  readonly folded: boolean;
  readonly lanes: readonly LaneEntry[];
}

export interface Lanes {
  readonly duration: number;
  readonly block: number;
  /** How far apart the hosts' clocks are, and the error of that, ps; null where nothing tells that they differ. */
  readonly clocks: { readonly apart: number; readonly error: number } | null;
  readonly sections: readonly SectionEntry[];
}

export interface HostSteps {
  readonly host: string;
  readonly source: string;
  readonly begin: readonly number[];
  readonly end: readonly number[];
  readonly name: readonly string[];
  readonly complete: readonly boolean[];
}

/** A step of one side that lies over a step of the other. */
export interface AlignedStep {
  /** Its place in order of time; null where a side has no steps. */
  readonly step: number | null;
  readonly name: string;
  readonly begin: number | null;
  readonly end: number | null;
  /** Of all steps, to choose from. */
  readonly names: readonly string[];
}

export interface Alignment {
  /** The host of the base that is meant. */
  readonly base_host: string;
  /** Added to a time here it is the time there. */
  readonly offset: number;
  readonly text: string;
  readonly session: AlignedStep;
  readonly base: AlignedStep;
}

export interface EventPlace {
  readonly event: string;
  readonly lane: string;
  readonly row: number;
  readonly name: string;
  readonly begin: number;
  readonly end: number;
}

export interface Arrow {
  readonly kind: string;
  readonly source: EventPlace;
  readonly target: EventPlace;
}

/** What a device waits for in part of a gap. */
export interface GapPart {
  readonly state: string;
  readonly name: string;
  readonly ps: number;
  /** Of the gap. */
  readonly share: number;
}

/** A stretch in which a device does nothing. */
export interface Gap {
  readonly device: string;
  readonly begin: number;
  readonly end: number;
  readonly parts: readonly GapPart[];
  readonly next: string;
  readonly launched_by: string;
  readonly late_ps: number | null;
  /** Events of the gaps around it; empty where there is none. */
  readonly before: string;
  readonly after: string;
}

export interface EventDetails extends EventPlace {
  readonly full_name: string;
  readonly host: string;
  readonly lane_name: string;
  readonly lane_id: string;
  readonly own: number;
  readonly step: string;
  readonly source: string;
  readonly op?: string;
  readonly args: Readonly<Record<string, string | number | boolean>>;
  readonly arrows: readonly Arrow[];
  /** `file:line function`: the innermost line of the program itself around it; empty where none is known. */
  readonly line: string;
  /** Path of modules; empty where none is known. */
  readonly module: string;
  /** Python around it, from the innermost. */
  readonly frames: readonly string[];
  /** Of a cause of idleness. */
  readonly gap?: Gap;
}

export interface Statistics {
  readonly names: number;
  readonly events: number;
  readonly begin: number | null;
  readonly end: number | null;
  readonly table: Table;
}

/** Another session to hold something against: its name, and what added to a time here is the time there, ps. */
export interface Baseline {
  readonly run: string;
  readonly offset: number;
}

export interface CallsChoice {
  readonly weight: string;
  readonly inverted: boolean;
  readonly base: Baseline | null;
}

/** One lane of a stretch that is drawn at once; slices by begin, end, row and the place of their name. */
export interface StepLane {
  readonly title: string;
  readonly kind: "idle" | "device" | "host";
  readonly rows: number;
  readonly begin: readonly number[];
  readonly end: readonly number[];
  readonly row: readonly number[];
  readonly name: readonly number[];
}

export interface StepSlices {
  readonly begin: number;
  readonly end: number;
  readonly lanes: readonly StepLane[];
  readonly names: readonly string[];
}

/** What one host did in a window, ps since its first event. */
export function loadStepSlices(
  run: string,
  host: string,
  begin: number,
  end: number,
  signal: AbortSignal,
): Promise<StepSlices> {
  const range = { begin: `${Math.round(begin)}`, end: `${Math.round(end)}` };
  return getJson<StepSlices>("timeline/glance", { run, host, ...range, width: "1000" }, signal);
}

export interface TimelineApi {
  readonly lanes: (signal: AbortSignal) => Promise<Lanes>;
  /** The same with those that tell why devices are idle; from then on all requests know them. */
  readonly withIdle: (signal: AbortSignal) => Promise<Lanes>;
  readonly slices: (lanes: string, begin: number, end: number, width: number, signal: AbortSignal) => Promise<Slab>;
  readonly names: (blocks: string) => Promise<Readonly<Record<string, readonly string[]>>>;
  readonly steps: (signal: AbortSignal) => Promise<readonly HostSteps[]>;
  readonly aligned: (base: string, step: string, baseStep: string, signal: AbortSignal) => Promise<Alignment>;
  readonly event: (event: string, signal: AbortSignal) => Promise<EventDetails>;
  readonly arrows: (
    lanes: string,
    begin: number,
    end: number,
    signal: AbortSignal,
  ) => Promise<{ readonly arrows: readonly Arrow[]; readonly total: number; readonly kinds: readonly string[] }>;
  readonly search: (text: string, regex: boolean, longest: boolean, signal: AbortSignal) => Promise<Slab>;
  readonly statistics: (lanes: string, begin: number, end: number, signal: AbortSignal) => Promise<Statistics>;
  readonly calls: (
    lanes: string,
    begin: number,
    end: number,
    choice: CallsChoice,
    signal: AbortSignal,
  ) => Promise<WeighedCalls>;
  /** The same as a file for another tool. */
  readonly callsFile: (lanes: string, begin: number, end: number, weight: string, format: string) => string;
  /** The trace as a file, all of it or a window. */
  readonly traceFile: (begin?: number, end?: number) => string;
}

/** By whose clocks the times of several hosts are: those that collectives align, or as they were recorded. */
export type ClockChoice = "" | "raw";

/** The choice among the page's options. */
export function clockChoice({ clocks }: Readonly<Record<string, string>>): ClockChoice {
  return clocks === "raw" ? clocks : "";
}

/** The routes for one session and one host, or all of them. */
export function timelineApi(run: string, host: string, clocks: ClockChoice = ""): TimelineApi {
  const common = { run, host, clocks };
  const queryWithIdle = { ...common, why: "1" };
  let query = { ...common, why: "" };
  let idleLanes: Promise<Lanes> | null = null;
  const integerText = (time: number) => String(Math.round(time));
  const range = (begin: number, end: number) => ({ begin: integerText(begin), end: integerText(end) });
  const baseRange = (base: Baseline | null, begin: number, end: number): Record<string, string> =>
    base
      ? { base: base.run, base_begin: integerText(begin + base.offset), base_end: integerText(end + base.offset) }
      : {};
  const msText = (time: number | undefined) => (time === undefined ? "" : String(Math.max(0, time) / 1e9));
  return {
    lanes: (signal) => getJson("timeline/lanes", common, signal),
    withIdle: (signal) => {
      idleLanes = getJson<Lanes>("timeline/lanes", queryWithIdle, signal).then((lanes) => {
        query = queryWithIdle;
        return lanes;
      });
      return idleLanes;
    },
    slices: (lanes, begin, end, width, signal) =>
      getSlab("timeline/slices", { ...query, lanes, ...range(begin, end), width: integerText(width) }, signal),
    names: (blocks) => getJson("timeline/names", { ...query, blocks }),
    steps: (signal) => getJson("timeline/steps", common, signal),
    aligned: (base, step, baseStep, signal) =>
      getJson("timeline/aligned", { ...common, base, step, base_step: baseStep }, signal),
    event: async (event, signal) => {
      const ask = () => getJson<EventDetails>("timeline/event", { ...query, event }, signal);
      if (!idleLanes || query === queryWithIdle) return ask();
      // It may be one of those that are still to come.
      return ask().catch(() => (idleLanes as Promise<Lanes>).then(ask));
    },
    arrows: (lanes, begin, end, signal) =>
      getJson("timeline/arrows", { ...query, lanes, ...range(begin, end) }, signal),
    search: (text, regex, longest, signal) =>
      getSlab("timeline/search", { ...common, text, regex: regex ? "1" : "", longest: longest ? "1" : "" }, signal),
    statistics: (lanes, begin, end, signal) =>
      getJson("timeline/statistics", { ...query, lanes, ...range(begin, end) }, signal),
    calls: (lanes, begin, end, { weight, inverted, base }, signal) =>
      getJson(
        "timeline/flame",
        {
          ...query,
          lanes,
          ...range(begin, end),
          weight,
          inverted: inverted ? "1" : "",
          ...baseRange(base, begin, end),
        },
        signal,
      ),
    callsFile: (lanes, begin, end, weight, format) =>
      routeAddress("timeline/flame", { ...query, lanes, ...range(begin, end), weight, format }),
    traceFile: (begin, end) =>
      routeAddress("data", { ...common, tag: "trace_viewer", start_time_ms: msText(begin), end_time_ms: msText(end) }),
  };
}
