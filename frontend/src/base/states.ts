/** What a step's time is spent on; scripts/schema writes this file from analysis/activity/states.py. */

export const CATEGORIES = [
  { id: "compute", label: "Compute" },
  { id: "communication", label: "Communication" },
  { id: "copies", label: "Copies" },
  { id: "input", label: "Waiting for input" },
  { id: "python", label: "Python" },
  { id: "framework", label: "Framework" },
  { id: "launch", label: "Launching" },
  { id: "wait", label: "Host synchronization" },
  { id: "compile", label: "Compiling, allocating" },
  { id: "unknown", label: "Not recorded, not explained" },
] as const;

/** In the order of their categories. */
export const STATES = {
  compute: { label: "Compute", category: "compute" },
  exposed_collective: { label: "Exposed communication", category: "communication" },
  collective_host: { label: "Host-side communication", category: "communication" },
  peer: { label: "Waiting for another device", category: "communication" },
  exposed_copy: { label: "Exposed copies", category: "copies" },
  transfer: { label: "Staging transfers", category: "copies" },
  input: { label: "Waiting for input", category: "input" },
  python: { label: "Python", category: "python" },
  callback: { label: "Host callbacks", category: "python" },
  pause: { label: "Pauses", category: "python" },
  dispatch: { label: "Framework overhead", category: "framework" },
  launch: { label: "Kernel launch", category: "launch" },
  latency: { label: "Launch delay", category: "launch" },
  between: { label: "Gaps between kernels", category: "launch" },
  sync: { label: "Host synchronization", category: "wait" },
  stream: { label: "Waiting in a stream", category: "wait" },
  compile: { label: "Compiling", category: "compile" },
  allocator: { label: "Memory allocation", category: "compile" },
  unrecorded: { label: "Nothing recorded", category: "unknown" },
  before_capture: { label: "Launched before the capture", category: "unknown" },
  unexplained: { label: "Unexplained", category: "unknown" },
} as const;
