/** How what time is spent on looks, the same on every page: colours by category, and patterns where they mean something. */

import { CATEGORIES, STATES } from "./states";
import type { Row, Table } from "./table";

/** Hatched is waiting, or not known; dotted is delay. */
export type Pattern = "plain" | "hatched" | "dotted";

export interface Part {
  readonly id: string;
  /** Colours on a light and on a dark page. */
  readonly light: string;
  readonly dark: string;
  readonly pattern: Pattern;
}

type CategoryId = (typeof CATEGORIES)[number]["id"];

/** Meaning fixes the hue; hue and lightness keep every two apart for all kinds of colour vision (see the colour test). */
const COLOURS: Readonly<Record<CategoryId, readonly [light: string, dark: string]>> = {
  compute: ["#4aa288", "#84e6c8"],
  communication: ["#6b1d66", "#9f548a"],
  copies: ["#795747", "#d4a07e"],
  input: ["#8c0002", "#c83a2e"],
  python: ["#b88c1d", "#f2d365"],
  framework: ["#1844a2", "#5b91dc"],
  launch: ["#b55d00", "#d27602"],
  wait: ["#497c8c", "#90bad1"],
  compile: ["#9681d0", "#7b56cc"],
  unknown: ["#868e99", "#848b96"],
};
const HATCHED: readonly string[] = ["unknown", "peer", "late_peer"];
const DOTTED: readonly string[] = ["latency", "between"];

/** What is told by a name of its own and is of one category all the same: causes, and the profiler's own time. */
const CATEGORY_OF_OTHERS: Readonly<Record<string, CategoryId>> = {
  retrace: "compile",
  eager: "framework",
  cpu_ops: "framework",
  thread_wait: "wait",
  event_wait: "wait",
  late_peer: "communication",
  host_offload: "copies",
  not_recorded: "unknown",
  profiler: "unknown",
};

function createPart(id: string, category: CategoryId): Part {
  const [light, dark] = COLOURS[category];
  const hatched = HATCHED.includes(id) || HATCHED.includes(category);
  return { id, light, dark, pattern: hatched ? "hatched" : DOTTED.includes(id) ? "dotted" : "plain" };
}

/** The categories, in the order of all pages: work first, then what is lost. */
export const PARTS: readonly Part[] = CATEGORIES.map(({ id }) => createPart(id, id));

/** What the host does to get input: shades of the input's red, told apart by lightness. */
export const INPUT_PARTS: readonly Part[] = [
  { id: "input_demanded", light: "#4a0006", dark: "#8a2a20", pattern: "plain" },
  { id: "input_advanced", light: "#8c0002", dark: "#c83a2e", pattern: "plain" },
  { id: "input_preprocessing", light: "#d0524b", dark: "#ef8071", pattern: "plain" },
  { id: "input_enqueue", light: "#ee9d95", dark: "#fbd0c8", pattern: "plain" },
  { id: "input_other", light: "#868e99", dark: "#848b96", pattern: "hatched" },
];

/** What is of no category: all the rest of a step, or where time lies instead of what it is spent on. */
const NO_CATEGORY: Part = { id: "other", light: "#c6cbd2", dark: "#6d7480", pattern: "plain" };

const STATE_PARTS = Object.entries(STATES).map(([id, { category }]) => createPart(id, category));
const OTHER_PARTS = Object.entries(CATEGORY_OF_OTHERS).map(([id, category]) => createPart(id, category));

const BY_ID: ReadonlyMap<string, Part> = new Map(
  [...PARTS, ...STATE_PARTS, ...OTHER_PARTS, ...INPUT_PARTS, NO_CATEGORY].map((part) => [part.id, part]),
);

/** Every part that has a colour. */
export const ALL_PARTS: readonly Part[] = [...BY_ID.values()];

/** How a state, category, cause or part of the input work looks. */
export function partById(id: string): Part {
  return BY_ID.get(id) ?? NO_CATEGORY;
}

const STATE_IDS = Object.keys(STATES);

/** Rows with a state each, by category; what is no state comes last. */
export function sortByCategory(table: Table, id: string): Row[] {
  const rank = (row: Row) => {
    const index = STATE_IDS.indexOf(table.text(row, id));
    return index < 0 ? STATE_IDS.length : index;
  };
  return [...table.rows].sort((a, b) => rank(a) - rank(b));
}

const BY_NAME: ReadonlyMap<string, { readonly id: string; readonly label: string }> = new Map(
  Object.entries(STATES).map(([id, { name, label }]) => [name, { id, label }]),
);

/** What lanes call the states of a category. */
export function stateNames(category: string): string[] {
  return Object.values(STATES).flatMap((state) => (state.category === category ? state.name : []));
}

/** The state that lanes call so. */
export function partByStateName(name: string): Part | undefined {
  return BY_ID.get(BY_NAME.get(name)?.id ?? "");
}

/** A name on a lane as readers read it: states in their language, Python's frames without the sign that marks them. */
export function displayName(name: string): string {
  return BY_NAME.get(name)?.label ?? name.replace(/^\$/, "");
}
