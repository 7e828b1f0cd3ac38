/** Light or dark: TensorBoard's `dark-mode` class, live; on our own the user's choice or the system's. */

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Frame } from "./frame";
import type { Settings } from "./settings";

export type Theme = "light" | "dark";

export function createTheme(frame: Frame, settings: Signal<Settings>): ReadonlySignal<Theme> {
  if (frame.plugin) {
    const { body } = frame.window.document;
    const read = (): Theme => (body.classList.contains("dark-mode") ? "dark" : "light");
    const theme = signal(read());
    new MutationObserver(() => {
      theme.value = read();
    }).observe(body, { attributes: true, attributeFilter: ["class"] });
    return theme;
  }
  const query = frame.window.matchMedia("(prefers-color-scheme: dark)");
  const system = signal(query.matches);
  query.addEventListener("change", (event) => {
    system.value = event.matches;
  });
  return computed(() => {
    const chosen = settings.value.theme;
    if (chosen !== "auto") return chosen;
    return system.value ? "dark" : "light";
  });
}
