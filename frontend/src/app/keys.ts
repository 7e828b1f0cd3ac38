/** The keyboard: which key does what, and nothing while someone types. */

/** One letter per title, the first of its own letters that no earlier title took; "" where none is left. */
export function assignKeys(titles: readonly string[]): string[] {
  const taken = new Set<string>();
  return titles.map((title) => {
    const letters = title.toLowerCase().match(/[a-z]/g) ?? [];
    const key = letters.find((letter) => !taken.has(letter)) ?? "";
    taken.add(key);
    return key;
  });
}

export interface Actions {
  readonly titles: () => readonly string[];
  readonly openTool: (place: number) => void;
  readonly openPicker: () => void;
  readonly focusFilter: () => void;
  readonly toggleHelp: () => void;
}

const PREFIX_MS = 1500;

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** Listens on the document; returns how to stop. */
export function listen(document: Document, actions: Actions): () => void {
  let prefixUntil = 0;
  const goTo = (key: string): boolean => {
    const titles = actions.titles();
    const place = /^[1-9]$/.test(key) ? Number(key) - 1 : assignKeys(titles).indexOf(key);
    if (place < 0 || place >= titles.length) return false;
    actions.openTool(place);
    return true;
  };
  const single: Readonly<Record<string, () => void>> = {
    "/": actions.focusFilter,
    "?": actions.toggleHelp,
    s: actions.openPicker,
    g: () => {
      prefixUntil = Date.now() + PREFIX_MS;
    },
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const prefixed = Date.now() < prefixUntil;
    prefixUntil = 0;
    if (prefixed && goTo(event.key.toLowerCase())) {
      event.preventDefault();
      return;
    }
    const act = single[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}
