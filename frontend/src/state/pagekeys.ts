/** Keys that the shown page has besides the frame's: what `?` lists on top. */

import { signal } from "@preact/signals";

export type KeyHelp = readonly (readonly [key: string, what: string])[];

export const shownPageKeys = signal<KeyHelp>([]);
