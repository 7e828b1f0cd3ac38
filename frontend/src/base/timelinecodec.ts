/** What a view of the timeline consists of, as options of the URL. */

import { decodeAddressPart, encodeAddressPart } from "./text";

export interface Mark {
  /** ps since the capture's first event. */
  readonly begin: number;
  readonly end: number;
  readonly name: string;
}

export const MODES = ["select", "pan", "zoom", "timing"] as const;
export type Mode = (typeof MODES)[number];

/** What the panel of a box shows. */
export const BOX_TABS = ["statistics", "flame", "callers"] as const;
export type BoxTab = (typeof BOX_TABS)[number];

/** What slices of one colour have in common. */
export const COLOURINGS = ["kind", "name", "library"] as const;
export type Colouring = (typeof COLOURINGS)[number];

/** A box: a range of time on rows of lanes, as the routes take them. */
export interface Box {
  readonly begin: number;
  readonly end: number;
  readonly lanes: readonly string[];
}

export interface TimelineView {
  /** The window of time, ps; null for all of it. */
  readonly window: readonly [number, number] | null;
  readonly scrollPx: number;
  readonly event: string;
  readonly mode: Mode;
  readonly pins: readonly string[];
  readonly folds: readonly string[];
  /** Lanes and sections that are left out. */
  readonly hidden: readonly string[];
  readonly marks: readonly Mark[];
  readonly find: string;
  readonly regex: boolean;
  /** Hits are walked from the longest on, those of devices first; otherwise by begin. */
  readonly longest: boolean;
  readonly listed: boolean;
  readonly laneFilter: string;
  /** Slices shorter than this many ps are dimmed. */
  readonly leastPs: number;
  readonly colouring: Colouring;
  /** Kinds of arrows that are shown between all visible events. */
  readonly arrowKinds: readonly string[];
  readonly box: Box | null;
  readonly tab: BoxTab;
  /** What calls are weighed by. */
  readonly weight: string;
  /** A link's wish: move to the event, or to the first hit. Once done it is no part of the view. */
  readonly go: boolean;
}

export const DEFAULT_VIEW: TimelineView = {
  window: null,
  scrollPx: 0,
  event: "",
  mode: "pan",
  pins: [],
  folds: [],
  hidden: [],
  marks: [],
  find: "",
  regex: false,
  longest: false,
  listed: false,
  laneFilter: "",
  leastPs: 0,
  colouring: "kind",
  arrowKinds: [],
  box: null,
  tab: "statistics",
  weight: "time",
  go: false,
};

/** Nanoseconds with up to three digits behind the point: exact, and readable. */
const nsText = (ps: number) => String(Math.round(ps) / 1000);
const psOfNsText = (text: string | undefined) => Math.round(Number(text) * 1000);

function readList(text: string | undefined): string[] {
  return text ? text.split(",").map(decodeAddressPart) : [];
}

function readSpan(text: string | undefined): readonly [number, number] | null {
  const [begin, end] = (text ?? "").split("~");
  const pair = [psOfNsText(begin), psOfNsText(end)] as const;
  return end !== undefined && pair.every(Number.isFinite) && pair[1] > pair[0] ? pair : null;
}

function readBox(text: string | undefined): Box | null {
  const [times, ...lanes] = (text ?? "").split(",");
  const span = readSpan(times);
  return span && lanes.length ? { begin: span[0], end: span[1], lanes } : null;
}

function readMarks(text: string | undefined): Mark[] {
  return (text ? text.split(",") : []).flatMap((piece) => {
    const [times, name] = piece.split(":");
    const span = readSpan(times);
    return span ? [{ begin: span[0], end: span[1], name: decodeAddressPart(name ?? "") }] : [];
  });
}

/** Names of the options that a view consists of. */
export const VIEW_OPTIONS: readonly string[] =
  "t y event mode pin fold hide marks find regex longest lanes least colour arrows box tab weight list go".split(" ");

export function readTimelineView(options: Readonly<Record<string, string>>): TimelineView {
  return {
    window: readSpan(options.t),
    scrollPx: Math.max(0, Number(options.y) || 0),
    event: options.event ?? "",
    mode: MODES.find((mode) => mode === options.mode) ?? DEFAULT_VIEW.mode,
    pins: readList(options.pin),
    folds: readList(options.fold),
    hidden: readList(options.hide),
    marks: readMarks(options.marks),
    find: options.find ?? "",
    regex: options.regex === "1",
    longest: options.longest === "1",
    listed: options.list === "1",
    laneFilter: options.lanes ?? "",
    leastPs: Math.max(0, psOfNsText(options.least) || 0),
    colouring: COLOURINGS.find((colouring) => colouring === options.colour) ?? DEFAULT_VIEW.colouring,
    arrowKinds: readList(options.arrows),
    box: readBox(options.box),
    tab: BOX_TABS.find((tab) => tab === options.tab) ?? DEFAULT_VIEW.tab,
    weight: options.weight || DEFAULT_VIEW.weight,
    go: options.go === "1",
  };
}

/** A view as options; what is as it always is takes no room. */
export function writeTimelineView(view: TimelineView): Record<string, string> {
  const join = (items: readonly string[]) => items.map(encodeAddressPart).join(",");
  const options: Record<string, string> = {
    t: view.window ? view.window.map(nsText).join("~") : "",
    y: view.scrollPx > 0 ? String(Math.round(view.scrollPx)) : "",
    event: view.event,
    mode: view.mode === DEFAULT_VIEW.mode ? "" : view.mode,
    pin: join(view.pins),
    fold: join(view.folds),
    hide: join(view.hidden),
    marks: view.marks.map((m) => `${nsText(m.begin)}~${nsText(m.end)}:${encodeAddressPart(m.name)}`).join(","),
    find: view.find,
    regex: view.regex ? "1" : "",
    longest: view.longest ? "1" : "",
    list: view.listed ? "1" : "",
    lanes: view.laneFilter,
    least: view.leastPs ? nsText(view.leastPs) : "",
    colour: view.colouring === DEFAULT_VIEW.colouring ? "" : view.colouring,
    arrows: join(view.arrowKinds),
    box: view.box ? [`${nsText(view.box.begin)}~${nsText(view.box.end)}`, ...view.box.lanes].join(",") : "",
    tab: view.tab === DEFAULT_VIEW.tab ? "" : view.tab,
    weight: view.weight === DEFAULT_VIEW.weight ? "" : view.weight,
  };
  return Object.fromEntries(Object.entries(options).filter(([, text]) => text !== ""));
}
