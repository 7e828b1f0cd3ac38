/** Tables as CSV and JSON text. */

import type { Value } from "./table";

/**
 * Where a spreadsheet may begin a cell: at the begin, behind a line break, and behind what parts cells elsewhere. What
 * stands there begins a text only if it is known for harmless. The server has the same rule, and the same test.
 */
const FORMULA_START = /(?<=^|\r(?!\n)|[\n\t;])(?= *[^ \p{L}\p{N}_([{<./:#$%])/gu;

/** One field; text that a spreadsheet would run as a formula is made plain text with a leading apostrophe. */
export function csvField(value: Value): string {
  if (value === null) return "";
  if (typeof value !== "string") return String(value);
  return `"${value.replace(FORMULA_START, "'").replaceAll('"', '""')}"`;
}

export function csv(header: readonly string[], rows: readonly (readonly Value[])[]): string {
  return [header, ...rows].map((row) => `${row.map(csvField).join(",")}\r\n`).join("");
}

/** An array of objects, one per row, keyed by column id. */
export function json(ids: readonly string[], rows: readonly (readonly Value[])[]): string {
  const objects = rows.map((row) => Object.fromEntries(ids.map((id, index) => [id, row[index] ?? null])));
  return `${JSON.stringify(objects, null, 1)}\n`;
}

/** A name that every file system takes. */
export function fileName(...parts: readonly string[]): string {
  return parts
    .filter(Boolean)
    .join("_")
    .replace(/[^\w.-]+/g, "_");
}
