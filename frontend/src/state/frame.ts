/** Where the page runs: inside TensorBoard's iframe, or on its own. */

export interface Frame {
  /** The plugin's name in TensorBoard's hash; "" on the standalone page. */
  readonly plugin: string;
  /** The window whose address bar the user sees. */
  readonly window: Window;
  /** Our own iframe element; null on the standalone page. */
  readonly element: (HTMLElement & { reload?: () => void }) | null;
}

/** The name in `…/data/plugin/<name>/`, which is what the entry page's base URL ends with. */
export function pluginName(baseUri: string): string {
  return /\/data\/plugin\/([^/]+)\/[^/]*$/.exec(new URL(baseUri).pathname)?.[1] ?? "";
}

/** Whether a page of another server lies around ours, however far out: it could lay itself over ours and lead clicks. */
export function isInForeignPage(ownWindow: Window): boolean {
  try {
    for (let page = ownWindow; page !== page.parent; page = page.parent)
      if (page.parent.origin !== ownWindow.origin) return true;
    return false;
  } catch {
    return true; // Not even its origin may be asked for.
  }
}

export function detectFrame(ownWindow: Window & typeof globalThis): Frame {
  const plugin = pluginName(ownWindow.document.baseURI);
  try {
    if (plugin && ownWindow.parent !== ownWindow && ownWindow.parent.document.body) {
      return { plugin, window: ownWindow.parent, element: ownWindow.frameElement as HTMLElement | null };
    }
  } catch {
    // A foreign parent (a notebook that embeds us) hides its document: we are on our own there.
  }
  return { plugin: "", window: ownWindow, element: null };
}
