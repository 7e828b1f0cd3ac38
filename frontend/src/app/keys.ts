/** The keyboard: which key does what, and nothing while someone types. */

/** One letter per group, the first of its own letters that no earlier one took; "" where none is left. */
export function assignKeys(ids: readonly string[]): string[] {
  const taken = new Set<string>();
  return ids.map((id) => {
    const letters = id.toLowerCase().match(/[a-z]/g) ?? [];
    const key = letters.find((letter) => !taken.has(letter)) ?? "";
    taken.add(key);
    return key;
  });
}

export interface Actions {
  /** The groups of pages, each with as many as it has to show. */
  readonly groups: () => readonly { readonly id: string; readonly pages: number }[];
  readonly openGroup: (place: number) => void;
  /** The page at that place of the group that is shown. */
  readonly openPage: (place: number) => void;
  readonly openPicker: () => void;
  readonly focusFilter: () => void;
  readonly toggleHelp: () => void;
}

const PREFIX_MS = 1500;

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
}

/** Listens on the document; returns how to stop. After `g` a letter opens a group, and a digit after that a page of it. */
export function listen(document: Document, actions: Actions): () => void {
  let awaited: "group" | "page" = "group";
  let until = 0;
  let pages = 0;
  const wait = (what: typeof awaited) => {
    awaited = what;
    until = Date.now() + PREFIX_MS;
  };
  const openGroup = (key: string): boolean => {
    const groups = actions.groups();
    const place = assignKeys(groups.map(({ id }) => id)).indexOf(key);
    if (place < 0) return false;
    actions.openGroup(place);
    pages = groups[place]?.pages ?? 0;
    wait("page");
    return true;
  };
  const openPage = (key: string): boolean => {
    const number = /^[1-9]$/.test(key) ? Number(key) : 0;
    if (!number || number > pages) return false;
    actions.openPage(number - 1);
    return true;
  };
  const single: Readonly<Record<string, () => void>> = {
    "/": actions.focusFilter,
    "?": actions.toggleHelp,
    s: actions.openPicker,
    g: () => wait("group"),
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const waiting = Date.now() < until;
    until = 0;
    if (waiting && (awaited === "group" ? openGroup : openPage)(event.key.toLowerCase())) {
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
