/** What the keys of the frame and those of the shown page have in common. */

import { signal } from "@preact/signals";

export type KeyHelp = readonly (readonly [key: string, what: string])[];

/** Keys that the shown page has besides the frame's: what `?` lists on top. */
export const shownPageKeys = signal<KeyHelp>([]);

/** How long after `g` a letter opens a group of pages. */
export const GROUP_KEY_MS = 1500;

/** Whether an event's keys go into a field. */
export function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}
