/**
 * The timeline's routes (see docs/http.md). Times are ps since the first event that is shown: `begin` and `end` of
 * whatever has them. What is written with underscores is named by the server.
 */

import type { WeightedCalls } from "../base/calltree";
import { PS_PER_MS } from "../base/format";
import type { Table } from "../base/schema";
import type { Slab } from "../base/slab";
import { getJson, getSlab, type Query, routeAddress } from "./client";

export interface LaneEntry {
  /** `host.number`, as the routes take it. */
  readonly key: string;
  /** Stable over versions, for links. */
  readonly id: string;
  readonly name: string;
  readonly detail: string;
  readonly kind: string;
  /** How many rows its events nest in. */
  readonly rows: number;
  /** How many events it has. */
  readonly events: number;
  /** What a counter counts in. */
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
  /** Length of the whole capture, ps. */
  readonly duration: number;
  /** How many names the server sends together. */
  readonly block: number;
  /** How far `apart` the hosts' clocks are, and the `error` of that, ps; null where nothing tells that they differ. */
  readonly clocks: { readonly apart: number; readonly error: number } | null;
  readonly sections: readonly SectionEntry[];
}

/** A host's steps as columns of one length, in order of time. */
export interface HostSteps {
  readonly host: string;
  /** The rule that found them. */
  readonly source: string;
  readonly begin: readonly number[];
  readonly end: readonly number[];
  readonly name: readonly string[];
  /** Whether all of the step was recorded. */
  readonly complete: readonly boolean[];
}

/** A step of one side that lies over a step of the other. */
export interface AlignedStep {
  /** Its index in order of time; null where a side has no steps. */
  readonly step: number | null;
  readonly name: string;
  readonly begin: number | null;
  readonly end: number | null;
  /** Names of the first steps, by index. */
  readonly names: readonly string[];
}

export interface Alignment {
  /** The host of the base that is meant. */
  readonly base_host: string;
  /** ps; added to a time of the session it is that of the base. */
  readonly offset: number;
  /** The offset in words. */
  readonly text: string;
  readonly session: AlignedStep;
  readonly base: AlignedStep;
}

/** An event, and where it is drawn. */
export interface EventPlace {
  /** `host.number`, as the routes take it. */
  readonly event: string;
  /** Key of its lane. */
  readonly lane: string;
  readonly row: number;
  readonly name: string;
  readonly begin: number;
  readonly end: number;
}

/** A link between two events, such as from a launch to its kernel. */
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
  /** Share of the gap, 0 to 1. */
  readonly share: number;
}

/** A stretch in which a device does nothing. */
export interface Gap {
  readonly device: string;
  readonly begin: number;
  readonly end: number;
  /** They sum to the gap. */
  readonly parts: readonly GapPart[];
  /** Name of the event that ends it; empty at the capture's end. */
  readonly next: string;
  /** Name of the event that launched that; empty where none is known. */
  readonly launched_by: string;
  /** From the gap's begin to that launch; below 0 where it was launched before. */
  readonly late_ps: number | null;
  /** Events (`host.number`) of the gaps before and after it; empty where there is none. */
  readonly before: string;
  readonly after: string;
}

export interface EventDetails extends EventPlace {
  /** As it was recorded; `name` may be shorter. */
  readonly full_name: string;
  readonly host: string;
  readonly lane_name: string;
  /** `id` of its lane. */
  readonly lane_id: string;
  /** Self time, ps. */
  readonly own: number;
  /** Name of the step that it belongs to; empty for none. */
  readonly step: string;
  /** Line of source that was recorded with it; empty for none. */
  readonly source: string;
  /** The framework's op that it is or works for. */
  readonly op?: string;
  /** All of its stats. */
  readonly args: Readonly<Record<string, string | number | boolean>>;
  readonly arrows: readonly Arrow[];
  /** `file:line function`: the innermost line of the program itself around it; empty where none is known. */
  readonly line: string;
  /** Path of modules; empty where none is known. */
  readonly module: string;
  /** Python around it, from the innermost. */
  readonly frames: readonly string[];
  /** The whole gap that it is part of, where it tells why a device is idle. */
  readonly gap?: Gap;
}

/** The events of a selection by name and lane. */
export interface Statistics {
  /** How many pairs of name and lane there are; the table holds those of most time. */
  readonly names: number;
  readonly events: number;
  /** When the first event begins and the last one ends; null for none. */
  readonly begin: number | null;
  readonly end: number | null;
  readonly table: Table;
}

/** Another session to hold something against: its name, and what added to a time here is the time there, ps. */
export interface Baseline {
  readonly run: string;
  readonly offset: number;
}

/** How a selection's calls are merged into a tree. */
export interface CallsChoice {
  /** Id of one of the weights that answers list. */
  readonly weight: string;
  /** Whether each name has its callers below it. */
  readonly inverted: boolean;
  readonly base: Baseline | null;
}

/** One lane of a window that is drawn at once; its slices are columns of one length. */
export interface StepLane {
  readonly title: string;
  readonly kind: "idle" | "device" | "host";
  /** How many rows its slices lie in. */
  readonly rows: number;
  readonly begin: readonly number[];
  readonly end: readonly number[];
  readonly row: readonly number[];
  /** Indices in `StepSlices.names`. */
  readonly name: readonly number[];
}

/** What a host did in a window, in few slices. */
export interface StepSlices {
  readonly begin: number;
  readonly end: number;
  readonly lanes: readonly StepLane[];
  readonly names: readonly string[];
}

/** A window of time, ps. */
export interface TimeRange {
  readonly begin: number;
  readonly end: number;
}

/** A window of time on some lanes. */
export interface LaneRange extends TimeRange {
  /** Keys of lanes; `key:3` for the first 3 rows, `key:2-5` for rows 2 to 4, as far as the route takes them. */
  readonly lanes: readonly string[];
}

/** How many pixels wide a step is taken to be drawn: finer slices are merged. */
const STEP_WIDTH_PX = 1000;

function integerText(value: number): string {
  return String(Math.round(value));
}

function rangeQuery({ begin, end }: TimeRange) {
  return { begin: integerText(begin), end: integerText(end) };
}

function laneQuery(range: LaneRange) {
  return { lanes: range.lanes.join(","), ...rangeQuery(range) };
}

/** What asks for the baseline's calls at the same time. */
function baselineQuery(base: Baseline | null, { begin, end }: TimeRange): Query {
  if (!base) return {};
  return { base: base.run, base_begin: integerText(begin + base.offset), base_end: integerText(end + base.offset) };
}

function flag(isSet: boolean): string {
  return isSet ? "1" : "";
}

/** What one host did in a window, ps since its first event. */
export function loadStepSlices(run: string, host: string, range: TimeRange, signal: AbortSignal): Promise<StepSlices> {
  return getJson<StepSlices>("timeline/glance", { run, host, ...rangeQuery(range), width: `${STEP_WIDTH_PX}` }, signal);
}

/** By whose clocks the times of several hosts are: those that collectives align, or as they were recorded. */
export type ClockChoice = "" | "raw";

/** The choice among the page's options. */
export function clockChoice({ clocks }: Readonly<Record<string, string>>): ClockChoice {
  return clocks === "raw" ? clocks : "";
}

/** The routes for one session and one host, or all of them. */
export class TimelineApi {
  /** Parameters of routes to which it does not matter which lanes there are. */
  private readonly session: Readonly<Record<string, string>>;
  /** Parameters of routes that name lanes, or events on them. */
  private readonly sessionAndLanes: Readonly<Record<string, string>>;

  /** `hasIdleLanes` says whether lanes and events are also those that tell why devices are idle. */
  constructor(
    private readonly run: string,
    private readonly host: string,
    private readonly clocks: ClockChoice = "",
    readonly hasIdleLanes = false,
  ) {
    this.session = { run, host, clocks };
    this.sessionAndLanes = { ...this.session, why: flag(hasIdleLanes) };
  }

  /** These routes with the lanes that tell why devices are idle. */
  withIdleLanes(): TimelineApi {
    return new TimelineApi(this.run, this.host, this.clocks, true);
  }

  lanes(signal: AbortSignal): Promise<Lanes> {
    return getJson("timeline/lanes", this.sessionAndLanes, signal);
  }

  /** `widthPx` is how wide the window is drawn. */
  slices(range: LaneRange, widthPx: number, signal: AbortSignal): Promise<Slab> {
    const query = { ...this.sessionAndLanes, ...laneQuery(range), width: integerText(widthPx) };
    return getSlab("timeline/slices", query, signal);
  }

  /** Names by block; `blocks` are `host.block`. */
  names(blocks: readonly string[]): Promise<Readonly<Record<string, readonly string[]>>> {
    return getJson("timeline/names", { ...this.sessionAndLanes, blocks: blocks.join(",") });
  }

  steps(signal: AbortSignal): Promise<readonly HostSteps[]> {
    return getJson("timeline/steps", this.session, signal);
  }

  /** `step` and `baseStep` are indices; "" for those that the server chooses. */
  aligned(base: string, step: string, baseStep: string, signal: AbortSignal): Promise<Alignment> {
    return getJson("timeline/aligned", { ...this.session, base, step, base_step: baseStep }, signal);
  }

  /** Fails with `no_such_event` where no lane shows it. */
  event(event: string, signal: AbortSignal): Promise<EventDetails> {
    return getJson("timeline/event", { ...this.sessionAndLanes, event }, signal);
  }

  /** Some of the arrows in a window, how many there are in all, and the kinds that the capture has anywhere. */
  arrows(
    range: LaneRange,
    signal: AbortSignal,
  ): Promise<{ readonly arrows: readonly Arrow[]; readonly total: number; readonly kinds: readonly string[] }> {
    return getJson("timeline/arrows", { ...this.sessionAndLanes, ...laneQuery(range) }, signal);
  }

  /** Events that were recorded: in order of time, or the longest first. */
  search(text: string, how: { regex: boolean; longest: boolean }, signal: AbortSignal): Promise<Slab> {
    const query = { ...this.session, text, regex: flag(how.regex), longest: flag(how.longest) };
    return getSlab("timeline/search", query, signal);
  }

  statistics(range: LaneRange, signal: AbortSignal): Promise<Statistics> {
    return getJson("timeline/statistics", { ...this.sessionAndLanes, ...laneQuery(range) }, signal);
  }

  calls(range: LaneRange, { weight, inverted, base }: CallsChoice, signal: AbortSignal): Promise<WeightedCalls> {
    const choice = { weight, inverted: flag(inverted), ...baselineQuery(base, range) };
    return getJson("timeline/flame", { ...this.sessionAndLanes, ...laneQuery(range), ...choice }, signal);
  }

  /** The address of these calls as a file for another tool. */
  callsFile(range: LaneRange, weight: string, format: string): string {
    return routeAddress("timeline/flame", { ...this.sessionAndLanes, ...laneQuery(range), weight, format });
  }

  /** The address of the trace as a file: all of it, or a window. */
  traceFile(range?: TimeRange): string {
    const msText = (ps: number | undefined) => (ps === undefined ? "" : String(Math.max(0, ps) / PS_PER_MS));
    const times = { start_time_ms: msText(range?.begin), end_time_ms: msText(range?.end) };
    return routeAddress("data", { ...this.session, tag: "trace_viewer", ...times });
  }
}
