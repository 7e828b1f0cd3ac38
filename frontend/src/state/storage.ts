/** The browser's local storage: anything may have been written there, and it may be forbidden or full. */

/** The browser's store; null where it is switched off, which makes the mere question throw. */
export function storageOf(ownWindow: Window): Storage | null {
  try {
    return ownWindow.localStorage;
  } catch {
    return null;
  }
}

/** The object stored under a key, whose fields the caller must check; an empty one where there is none. */
export function readStored(storage: Storage | null, key: string): Readonly<Record<string, unknown>> {
  try {
    const stored: unknown = JSON.parse(storage?.getItem(key) ?? "{}");
    return typeof stored === "object" && stored !== null ? (stored as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Stores a value where the browser allows it; nothing may depend on that. */
export function writeStored(storage: Storage | null, key: string, value: unknown): void {
  try {
    storage?.setItem(key, JSON.stringify(value));
  } catch {
    // Full, or forbidden meanwhile.
  }
}
