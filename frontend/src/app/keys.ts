/** The keyboard: which key does what, and nothing while someone types. */

import { GROUP_KEY_MS, isTyping } from "../state/pagekeys";

/** One letter per group, the first of its own letters that no earlier one took; "" where none is left. */
export function groupLetters(ids: readonly string[]): string[] {
  const usedLetters = new Set<string>();
  return ids.map((id) => {
    const letters = id.toLowerCase().match(/[a-z]/g) ?? [];
    const key = letters.find((letter) => !usedLetters.has(letter)) ?? "";
    usedLetters.add(key);
    return key;
  });
}

export interface PageKeyActions {
  /** The groups of pages, each with as many as it has to show. */
  readonly groups: () => readonly { readonly id: string; readonly pages: number }[];
  readonly openGroup: (place: number) => void;
  /** The page at that place of the group that is shown. */
  readonly openPage: (place: number) => void;
  readonly openPicker: () => void;
  readonly focusFilter: () => void;
  readonly toggleHelp: () => void;
}

/** Listens on the document; returns how to stop. After `g` a letter opens a group, and a digit after that a page of it. */
export function listenToKeys(document: Document, actions: PageKeyActions): () => void {
  let expectedKey: "group" | "page" = "group";
  let expectedUntil = 0;
  let pageCount = 0;
  const expectKey = (what: typeof expectedKey) => {
    expectedKey = what;
    expectedUntil = Date.now() + GROUP_KEY_MS;
  };
  const openGroup = (key: string): boolean => {
    const groups = actions.groups();
    const place = groupLetters(groups.map(({ id }) => id)).indexOf(key);
    if (place < 0) return false;
    actions.openGroup(place);
    pageCount = groups[place]?.pages ?? 0;
    expectKey("page");
    return true;
  };
  const openPage = (key: string): boolean => {
    const number = /^[1-9]$/.test(key) ? Number(key) : 0;
    if (!number || number > pageCount) return false;
    actions.openPage(number - 1);
    return true;
  };
  const actionByKey: Readonly<Record<string, () => void>> = {
    "/": actions.focusFilter,
    "?": actions.toggleHelp,
    s: actions.openPicker,
    g: () => expectKey("group"),
  };
  const onKey = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    const isExpecting = Date.now() < expectedUntil;
    expectedUntil = 0;
    if (isExpecting && (expectedKey === "group" ? openGroup : openPage)(event.key.toLowerCase())) {
      event.preventDefault();
      return;
    }
    const act = actionByKey[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  };
  document.addEventListener("keydown", onKey);
  return () => document.removeEventListener("keydown", onKey);
}
