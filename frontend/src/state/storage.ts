/** What the browser keeps for a user: anybody may have written there, and it may be forbidden or full. */

/** The browser's store; null where it is switched off, which makes the mere question throw. */
export function storageOf(own: Window): Storage | null {
  try {
    return own.localStorage;
  } catch {
    return null;
  }
}

/** What was kept under a name, to be checked by who asks; an empty object for nothing, and for what is none. */
export function recall(storage: Storage | null, key: string): Readonly<Record<string, unknown>> {
  try {
    const kept: unknown = JSON.parse(storage?.getItem(key) ?? "{}");
    return typeof kept === "object" && kept !== null ? (kept as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** Keeps it where the browser lets us; nothing depends on it. */
export function keep(storage: Storage | null, key: string, value: unknown): void {
  try {
    storage?.setItem(key, JSON.stringify(value));
  } catch {
    // Full, or forbidden meanwhile.
  }
}
