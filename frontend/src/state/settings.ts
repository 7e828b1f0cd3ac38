/** Settings of a user, which the browser stores. */

import { effect, type Signal, signal } from "@preact/signals";
import { readStored, writeStored } from "./storage";

const THEMES = ["auto", "light", "dark"] as const;

export interface Settings {
  /** Theme of the standalone page; inside TensorBoard its own choice counts. */
  readonly theme: (typeof THEMES)[number];
  /** Code of the language; "" for the browser's. */
  readonly language: string;
  /** Whether the timeline shows why devices are idle. */
  readonly idle: boolean;
}

const STORAGE_KEY = "tb-profile.settings";

export function createSettings(storage: Storage | null): Signal<Settings> {
  const { theme, language, idle } = readStored(storage, STORAGE_KEY);
  const settings = signal<Settings>({
    theme: THEMES.find((name) => name === theme) ?? "auto",
    language: typeof language === "string" ? language : "",
    idle: idle !== false,
  });
  let first = true;
  effect(() => {
    const current = settings.value;
    if (!first) writeStored(storage, STORAGE_KEY, current);
    first = false;
  });
  return settings;
}
