/** The parts of a step: their order, words, colours and patterns, the same on every page. */

export type Pattern = "plain" | "forward" | "backward" | "dots" | "cross" | "level" | "upright";

export interface Part {
  readonly id: string;
  readonly label: string;
  /** Colours on a light and on a dark page. */
  readonly light: string;
  readonly dark: string;
  readonly pattern: Pattern;
}

/** Meaning fixes the hue; lightness and pattern tell neighbours apart where hues are confused (see the colour test). */
export const PARTS: readonly Part[] = [
  { id: "compile", label: "Compilation", light: "#7d4fc4", dark: "#a584e8", pattern: "cross" },
  { id: "input", label: "Input", light: "#b91c2c", dark: "#e5484d", pattern: "forward" },
  { id: "output", label: "Output", light: "#0e8f9c", dark: "#2cb5c0", pattern: "backward" },
  { id: "kernel_launch", label: "Kernel launch", light: "#f08c1a", dark: "#f7a440", pattern: "upright" },
  { id: "host_compute", label: "Host compute", light: "#1f57b8", dark: "#4178d8", pattern: "plain" },
  { id: "device_to_device", label: "Device to device", light: "#7a4a21", dark: "#a87848", pattern: "dots" },
  { id: "collectives", label: "Collectives", light: "#e57fb3", dark: "#f09ac6", pattern: "level" },
  { id: "device_compute_16", label: "Device compute, 16 bit", light: "#7fc97f", dark: "#97d897", pattern: "plain" },
  { id: "device_compute_32", label: "Device compute, 32 bit", light: "#3f9d55", dark: "#55b46b", pattern: "plain" },
  { id: "device_compute_other", label: "Device compute, other", light: "#a5d6a0", dark: "#2f7d45", pattern: "cross" },
  { id: "device_compute", label: "Device compute", light: "#3f9d55", dark: "#55b46b", pattern: "plain" },
  { id: "other", label: "All others", light: "#c6cbd2", dark: "#6d7480", pattern: "plain" },
];

/** What the host does to get input; shades of the input's red, told apart by lightness and pattern. */
export const INPUT_PARTS: readonly Part[] = [
  { id: "input_demanded", label: "Reading files on demand", light: "#7a0f1c", dark: "#a8232f", pattern: "plain" },
  { id: "input_advanced", label: "Reading files in advance", light: "#b91c2c", dark: "#e5484d", pattern: "forward" },
  { id: "input_preprocessing", label: "Preprocessing", light: "#e5736f", dark: "#f59a94", pattern: "dots" },
  { id: "input_enqueue", label: "Enqueuing to the device", light: "#f5bdb4", dark: "#fbd0c8", pattern: "upright" },
  { id: "input_other", label: "Other reading or processing", light: "#a3a9b2", dark: "#6d7480", pattern: "backward" },
];

const BY_ID: ReadonlyMap<string, Part> = new Map([...PARTS, ...INPUT_PARTS].map((part) => [part.id, part]));
const OTHER = BY_ID.get("other") as Part;

export function part(id: string): Part {
  return BY_ID.get(id) ?? OTHER;
}

/** Columns of the step tables, and which part each one measures. */
const STEP_COLUMNS: Readonly<Record<string, string>> = {
  deviceComputeTimeMs: "device_compute",
  deviceToDeviceTimeMs: "device_to_device",
  deviceCollectivesTimeMs: "collectives",
  hostComputeTimeMs: "host_compute",
  kernelLaunchTimeMs: "kernel_launch",
  infeedTimeMs: "input",
  outfeedTimeMs: "output",
  compileTimeMs: "compile",
  otherTimeMs: "other",
  tcComputeTimeMs: "device_compute",
  tcInfeedTimeMs: "input",
  tcOutfeedTimeMs: "output",
  hostTransferTimeMs: "device_to_device",
  scv0ComputeTimeMs: "device_compute_16",
  scv0InfeedTimeMs: "kernel_launch",
};

/** The part that a step table's column measures; undefined for the step's name, tooltips and the like. */
export function partOfColumn(id: string): Part | undefined {
  const known = STEP_COLUMNS[id];
  if (known !== undefined) return part(known);
  return id.endsWith("IdleTimeMs") ? OTHER : undefined;
}

/** The generic step parts as the pod viewer's protobuf numbers them. */
export const POD_PARTS: Readonly<Record<string, string>> = {
  "1": "device_compute",
  "2": "device_to_device",
  "3": "collectives",
  "4": "host_compute",
  "5": "kernel_launch",
  "6": "input",
  "7": "output",
  "8": "compile",
  "9": "other",
};
