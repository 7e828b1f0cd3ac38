/** What a user chose for good; kept in the browser. */

import { effect, type Signal, signal } from "@preact/signals";
import { keep, recall } from "./storage";

const THEMES = ["auto", "light", "dark"] as const;

export interface Settings {
  /** Of the standalone page; TensorBoard's own choice counts inside it. */
  readonly theme: (typeof THEMES)[number];
  /** Whether the timeline shows why devices are idle. */
  readonly idle: boolean;
}

const KEY = "tb-profile.settings";

export function createSettings(storage: Storage | null): Signal<Settings> {
  const { theme, idle } = recall(storage, KEY);
  const settings = signal<Settings>({ theme: THEMES.find((known) => known === theme) ?? "auto", idle: idle !== false });
  let first = true;
  effect(() => {
    const chosen = settings.value;
    if (!first) keep(storage, KEY, chosen);
    first = false;
  });
  return settings;
}
