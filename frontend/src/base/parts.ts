/** How the parts of a step look, the same on every page: their order, colours and patterns. */

export type Pattern = "plain" | "forward" | "backward" | "dots" | "cross" | "level" | "upright";

export interface Part {
  readonly id: string;
  /** Colours on a light and on a dark page. */
  readonly light: string;
  readonly dark: string;
  readonly pattern: Pattern;
}

/** Meaning fixes the hue; lightness and pattern tell neighbours apart where hues are confused (see the colour test). */
export const PARTS: readonly Part[] = [
  { id: "compile", light: "#7d4fc4", dark: "#a584e8", pattern: "cross" },
  { id: "input", light: "#b91c2c", dark: "#e5484d", pattern: "forward" },
  { id: "output", light: "#0e8f9c", dark: "#2cb5c0", pattern: "backward" },
  { id: "kernel_launch", light: "#f08c1a", dark: "#f7a440", pattern: "upright" },
  { id: "host_compute", light: "#1f57b8", dark: "#4178d8", pattern: "plain" },
  { id: "device_to_device", light: "#7a4a21", dark: "#a87848", pattern: "dots" },
  { id: "host_offload", light: "#4a2f6b", dark: "#c9a0dc", pattern: "dots" },
  { id: "collectives", light: "#e57fb3", dark: "#f09ac6", pattern: "level" },
  { id: "device_compute_16", light: "#7fc97f", dark: "#97d897", pattern: "plain" },
  { id: "device_compute_32", light: "#3f9d55", dark: "#55b46b", pattern: "plain" },
  { id: "device_compute_other", light: "#a5d6a0", dark: "#2f7d45", pattern: "cross" },
  { id: "unrecorded", light: "#a9b1bc", dark: "#c3cad3", pattern: "forward" },
  { id: "waiting", light: "#d9c48c", dark: "#6b5b2e", pattern: "backward" },
  { id: "python", light: "#d6b21f", dark: "#e3c84a", pattern: "plain" },
  { id: "other", light: "#c6cbd2", dark: "#6d7480", pattern: "plain" },
];

/** What the host does to get input; shades of the input's red, told apart by lightness and pattern. */
export const INPUT_PARTS: readonly Part[] = [
  { id: "input_demanded", light: "#7a0f1c", dark: "#a8232f", pattern: "plain" },
  { id: "input_advanced", light: "#b91c2c", dark: "#e5484d", pattern: "forward" },
  { id: "input_preprocessing", light: "#e5736f", dark: "#f59a94", pattern: "dots" },
  { id: "input_enqueue", light: "#f5bdb4", dark: "#fbd0c8", pattern: "upright" },
  { id: "input_other", light: "#a3a9b2", dark: "#6d7480", pattern: "backward" },
];

/** What a device does, or why it is idle; what `PARTS` names, too, looks as there. */
const STATE_PARTS: readonly Part[] = [
  { id: "compute", light: "#3f9d55", dark: "#55b46b", pattern: "plain" },
  { id: "exposed_collective", light: "#e57fb3", dark: "#f09ac6", pattern: "level" },
  { id: "exposed_copy", light: "#7a4a21", dark: "#a87848", pattern: "dots" },
  { id: "callback", light: "#0e8f9c", dark: "#2cb5c0", pattern: "cross" },
  { id: "pause", light: "#0e8f9c", dark: "#2cb5c0", pattern: "backward" },
  { id: "sync", light: "#d9c48c", dark: "#6b5b2e", pattern: "backward" },
  { id: "transfer", light: "#7a4a21", dark: "#a87848", pattern: "upright" },
  { id: "collective_host", light: "#e57fb3", dark: "#f09ac6", pattern: "upright" },
  { id: "allocator", light: "#4b5b72", dark: "#5b6f90", pattern: "cross" },
  { id: "launch", light: "#f08c1a", dark: "#f7a440", pattern: "dots" },
  { id: "dispatch", light: "#1f57b8", dark: "#4178d8", pattern: "plain" },
  { id: "latency", light: "#f5bd78", dark: "#8a5a1c", pattern: "cross" },
  { id: "between", light: "#a5d6a0", dark: "#2f7d45", pattern: "level" },
  { id: "peer", light: "#9a2f92", dark: "#c560bd", pattern: "forward" },
  { id: "stream", light: "#9a2f92", dark: "#c560bd", pattern: "level" },
  { id: "before_capture", light: "#a9b1bc", dark: "#c3cad3", pattern: "forward" },
  { id: "profiler", light: "#a9b1bc", dark: "#c3cad3", pattern: "dots" },
  { id: "unexplained", light: "#c6cbd2", dark: "#6d7480", pattern: "plain" },
];

export const STATES: readonly Part[] = [
  ...PARTS.filter(({ id }) => ["compile", "input", "python"].includes(id)),
  ...STATE_PARTS,
];

export const ALL_PARTS: readonly Part[] = [...PARTS, ...INPUT_PARTS, ...STATE_PARTS];

const BY_ID: ReadonlyMap<string, Part> = new Map(ALL_PARTS.map((part) => [part.id, part]));
const OTHER = BY_ID.get("other") as Part;

export function part(id: string): Part {
  return BY_ID.get(id) ?? OTHER;
}
