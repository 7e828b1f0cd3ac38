/** State of the timeline: the user's choices, which stand in the URL, and what was loaded for them. */

import { batch, type Signal, signal } from "@preact/signals";
import type { Arrow, Baseline, EventDetails, HostSteps, Statistics } from "../../api/timeline";
import type { WeightedCalls } from "../../base/calltree";
import {
  type Box,
  type BoxTab,
  type Colouring,
  DEFAULT_VIEW,
  type Mark,
  type Mode,
  type TimelineView,
} from "../../base/timelinecodec";
import type { Viewport } from "../../canvas/viewport";

/** Events that a search found, by begin or the longest first; times in ps. */
export interface Hits {
  /** How many events match. */
  readonly total: number;
  /** How many of them are here. */
  readonly count: number;
  /** Duration of the longest, ps. */
  readonly longest: number;
  readonly host: Uint16Array;
  readonly lane: Uint16Array;
  readonly row: Uint16Array;
  readonly name: Uint32Array;
  readonly event: Uint32Array;
  readonly begin: Float64Array;
  readonly end: Float64Array;
  /** `host.name` of names that match by themselves. */
  readonly names: ReadonlySet<string>;
  /** `host.event` of all hits. */
  readonly events: ReadonlySet<string>;
}

export interface HoverText {
  readonly x: number;
  readonly y: number;
  readonly lines: readonly string[];
}

export interface TimelineState {
  readonly view: Signal<Viewport | null>;
  /** How far the lanes are scrolled, px. */
  readonly scrollPx: Signal<number>;
  readonly mode: Signal<Mode>;
  /** Ids of lanes, as `laneId` and `sectionId` have them, here and below. */
  readonly pins: Signal<readonly string[]>;
  readonly folds: Signal<ReadonlySet<string>>;
  readonly hidden: Signal<ReadonlySet<string>>;
  readonly marks: Signal<readonly Mark[]>;
  /** The text that is searched for. */
  readonly find: Signal<string>;
  readonly regex: Signal<boolean>;
  /** Whether the search orders its hits by length. */
  readonly longest: Signal<boolean>;
  /** Whether the hits are shown as a list. */
  readonly listed: Signal<boolean>;
  readonly laneFilter: Signal<string>;
  /** Shorter events are dimmed, ps. */
  readonly leastPs: Signal<number>;
  readonly colouring: Signal<Colouring>;
  readonly arrowKinds: Signal<readonly string[]>;
  readonly event: Signal<string>;
  /** Whether to move to the event, or to the first hit, as soon as it is known. */
  readonly go: Signal<boolean>;
  readonly details: Signal<EventDetails | null>;
  readonly box: Signal<Box | null>;
  readonly tab: Signal<BoxTab>;
  readonly weight: Signal<string>;
  readonly calls: Signal<WeightedCalls | null>;
  /** The baseline that is shown below the session's lanes. */
  readonly base: Signal<Baseline | null>;
  readonly statistics: Signal<Statistics | null>;
  readonly hits: Signal<Hits | null>;
  /** Index of the hit that is shown; -1 before the first. */
  readonly hit: Signal<number>;
  readonly hover: Signal<HoverText | null>;
  readonly arrows: Signal<readonly Arrow[]>;
  readonly steps: Signal<readonly HostSteps[]>;
  readonly problem: Signal<unknown>;
}

/** The parts of a state that a link keeps. */
function linkedValues({ window, folds, hidden, ...others }: TimelineView) {
  const view: Viewport | null = window && { begin: window[0], end: window[1] };
  return { ...others, view, folds: new Set(folds), hidden: new Set(hidden) };
}

type LinkedName = keyof ReturnType<typeof linkedValues>;

function signals<Values extends object>(values: Values) {
  const pairs = Object.entries(values).map(([name, value]) => [name, signal(value)]);
  return Object.fromEntries(pairs) as { [Name in keyof Values]: Signal<Values[Name]> };
}

export function createState(linked: TimelineView): TimelineState {
  return {
    ...signals(linkedValues(linked)),
    details: signal(null),
    calls: signal(null),
    base: signal(null),
    statistics: signal(null),
    hits: signal(null),
    hit: signal(-1),
    hover: signal(null),
    arrows: signal([]),
    steps: signal([]),
    problem: signal(null),
  };
}

const LINKED_NAMES = Object.keys(linkedValues(DEFAULT_VIEW)) as LinkedName[];

/** What the URL keeps of a state; it has no window where the whole capture is shown. */
export function timelineViewOf(state: TimelineState, whole: Viewport): TimelineView {
  const values = Object.fromEntries(LINKED_NAMES.map((name) => [name, state[name].value]));
  const { view, folds, hidden, ...others } = values as ReturnType<typeof linkedValues>;
  const isMoved = view && (view.begin !== whole.begin || view.end !== whole.end);
  const window = isMoved ? ([view.begin, view.end] as const) : null;
  return { ...others, window, folds: [...folds], hidden: [...hidden] };
}

/** Sets the state to what a link, or going back, leads to. */
export function applyTimelineView(state: TimelineState, linked: TimelineView): void {
  const values = linkedValues(linked);
  batch(() => {
    for (const name of LINKED_NAMES) (state[name] as Signal<unknown>).value = values[name];
  });
}

export function withToggled(set: ReadonlySet<string>, id: string): ReadonlySet<string> {
  const next = new Set(set);
  if (!next.delete(id)) next.add(id);
  return next;
}
