/** What a user chose for good; kept in the browser, merged over the defaults when read. */

import { effect, type Signal, signal } from "@preact/signals";

export interface Settings {
  /** Of the standalone page; TensorBoard's own choice counts inside it. */
  readonly theme: "auto" | "light" | "dark";
}

const KEY = "tb-profile.settings";
const DEFAULTS: Settings = { theme: "auto" };

function read(storage: Storage): Settings {
  try {
    return { ...DEFAULTS, ...(JSON.parse(storage.getItem(KEY) ?? "{}") as Partial<Settings>) };
  } catch {
    return DEFAULTS;
  }
}

export function createSettings(storage: Storage): Signal<Settings> {
  const settings = signal(read(storage));
  let first = true;
  effect(() => {
    const text = JSON.stringify(settings.value);
    if (!first) storage.setItem(KEY, text);
    first = false;
  });
  return settings;
}
