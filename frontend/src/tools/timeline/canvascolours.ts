/** Colours of what is drawn besides slices, read from the page's CSS variables. */

import { hashText } from "../../base/namecolour";

export interface CanvasColours {
  readonly page: string;
  readonly text: string;
  readonly quiet: string;
  readonly faint: string;
  readonly line: string;
  readonly section: string;
  readonly accent: string;
  readonly selection: string;
  readonly mark: string;
  readonly step: string;
  readonly otherStep: string;
  readonly busy: string;
  counter(unit: string): string;
  arrow(kind: string): string;
  drawRule(context: CanvasRenderingContext2D, x: number, y: number, width: number, strong?: boolean): void;
}

/** Tell kinds of arrows apart, and from most slices. */
const ARROWS_LIGHT = ["#b3202c", "#0b57b5", "#6a3fb5", "#0f7b6c", "#9a5b00"];
const ARROWS_DARK = ["#ff7a80", "#8ab8ff", "#c4a2ff", "#5fd6c4", "#f0b14a"];

export function readCanvasColours(element: Element, dark: boolean): CanvasColours {
  const style = getComputedStyle(element);
  const read = (name: string) => style.getPropertyValue(name).trim();
  const [text, line, accent] = [read("--text"), read("--line"), read("--accent")];
  const kinds = dark ? ARROWS_DARK : ARROWS_LIGHT;
  const translucent = (colour: string, share: number) => `color-mix(in srgb, ${colour} ${share}%, transparent)`;
  return {
    page: read("--page"),
    text,
    quiet: read("--quiet"),
    faint: translucent(line, 45),
    line,
    section: read("--shade"),
    accent,
    selection: translucent(accent, 14),
    mark: translucent(accent, 10),
    step: dark ? "#3d5a80" : "#c9dcf5",
    otherStep: dark ? "#34506f" : "#dbe8f9",
    counter: (unit) => (unit === "share" ? read("--part-compute") : dark ? "#9a86d8" : "#9681d0"),
    busy: dark ? "#7f93ad" : "#7a8ca5",
    arrow: (kind) => (kind === "launch" ? kinds[0] : kinds[1 + (hashText(kind) % (kinds.length - 1))]) as string,
    drawRule: (context, x, y, width, strong = false) => {
      context.fillStyle = strong ? accent : line;
      context.fillRect(x, Math.floor(y), width, 1);
    },
  };
}
