/** What a step's time is spent on; scripts/schema writes this file from analysis/activity/states.py. */

import { t } from "./messages";

export const CATEGORIES = [
  { id: "compute", label: t("Compute") },
  { id: "communication", label: t("Communication") },
  { id: "copies", label: t("Copies") },
  { id: "input", label: t("Waiting for input") },
  { id: "python", label: t("Python") },
  { id: "framework", label: t("Framework") },
  { id: "launch", label: t("Launching") },
  { id: "wait", label: t("Host synchronization") },
  { id: "compile", label: t("Compiling, allocating") },
  { id: "unknown", label: t("Not recorded, not explained") },
] as const;

/** In the order of their categories, with what lanes call them and what readers read. */
export const STATES = {
  compute: { name: "Compute", label: t("Compute"), category: "compute" },
  exposed_collective: { name: "Exposed communication", label: t("Exposed communication"), category: "communication" },
  collective_host: { name: "Host-side communication", label: t("Host-side communication"), category: "communication" },
  peer: { name: "Waiting for another device", label: t("Waiting for another device"), category: "communication" },
  exposed_copy: { name: "Exposed copies", label: t("Exposed copies"), category: "copies" },
  transfer: { name: "Staging transfers", label: t("Staging transfers"), category: "copies" },
  input: { name: "Waiting for input", label: t("Waiting for input"), category: "input" },
  python: { name: "Python", label: t("Python"), category: "python" },
  callback: { name: "Host callbacks", label: t("Host callbacks"), category: "python" },
  pause: { name: "Pauses", label: t("Pauses"), category: "python" },
  dispatch: { name: "Framework overhead", label: t("Framework overhead"), category: "framework" },
  launch: { name: "Launching ops", label: t("Launching ops"), category: "launch" },
  latency: { name: "Launch delay", label: t("Launch delay"), category: "launch" },
  between: { name: "Gaps between ops", label: t("Gaps between ops"), category: "launch" },
  sync: { name: "Host synchronization", label: t("Host synchronization"), category: "wait" },
  stream: { name: "Waiting in a stream", label: t("Waiting in a stream"), category: "wait" },
  compile: { name: "Compiling", label: t("Compiling"), category: "compile" },
  allocator: { name: "Memory allocation", label: t("Memory allocation"), category: "compile" },
  unrecorded: { name: "Nothing recorded", label: t("Nothing recorded"), category: "unknown" },
  before_capture: {
    name: "Work from before the capture",
    label: t("Work from before the capture"),
    category: "unknown",
  },
  unexplained: { name: "Unexplained", label: t("Unexplained"), category: "unknown" },
} as const;
