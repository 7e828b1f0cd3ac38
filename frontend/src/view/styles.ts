/** Styles of the page: those of the frame at once, those of single pages and dialogs with their modules. */

const added = new Set<string>();

/** Adds a sheet, unless it is there. */
export function addStyles(text: string): void {
  if (added.has(text)) return;
  added.add(text);
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}
