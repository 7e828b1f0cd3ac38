/** Colours of charts, read from the page's CSS variables so that charts and tables never disagree. */

export interface Palette {
  readonly text: string;
  readonly quiet: string;
  readonly line: string;
  readonly panel: string;
  readonly accent: string;
  readonly dark: boolean;
}

export function readPalette(element: Element): Palette {
  const style = getComputedStyle(element);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return {
    text: read("--text"),
    quiet: read("--quiet"),
    line: read("--line"),
    panel: read("--panel"),
    accent: read("--accent"),
    dark: read("color-scheme") === "dark",
  };
}
