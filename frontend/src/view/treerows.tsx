/** Tables of rows that open to show the rows nested in them: which rows are visible, and the button that opens one. */

import { useState } from "preact/hooks";
import type { Row } from "../base/table";

/** Identifies a row; null for the parent of the outermost rows. */
type Key = string | number | null;

export interface TreeRows<K extends Key> {
  /** Rows by the key of their parent. */
  readonly children: ReadonlyMap<K, readonly Row[]>;
  /** Rows that are open at first. */
  readonly open: ReadonlySet<K>;
  readonly keyOf: (row: Row) => K;
}

/** Rows are open at first that have at least this share of the whole and lie above this depth, up to so many. */
const LARGE_SHARE = 0.2;
const DEEPEST_OPEN = 2;
const MOST_OPEN = 12;

export function isOpenAtFirst(share: number, depth: number, openCount: number): boolean {
  return share >= LARGE_SHARE && depth < DEEPEST_OPEN && openCount < MOST_OPEN;
}

/** The rows that are visible, in order, and whether each is open: undefined where nothing is nested in it. */
export function useTreeRows<K extends Key>({ children, open, keyOf }: TreeRows<K>, root: K) {
  const [toggled, setToggled] = useState<ReadonlySet<K>>(new Set());
  const isOpen = (key: K) => (children.has(key) ? open.has(key) !== toggled.has(key) : undefined);
  const toggle = (key: K) => {
    const next = new Set(toggled);
    if (!next.delete(key)) next.add(key);
    setToggled(next);
  };
  const rows: Row[] = [];
  const stack = [...(children.get(root) ?? [])].reverse();
  for (let row = stack.pop(); row; row = stack.pop()) {
    rows.push(row);
    const key = keyOf(row);
    if (!isOpen(key)) continue;
    for (const child of [...(children.get(key) ?? [])].reverse()) stack.push(child);
  }
  return { rows, isOpen, turn: toggle } as const;
}

interface TwigProps {
  readonly name: string;
  /** Undefined where nothing is inside. */
  readonly isOpen: boolean | undefined;
  readonly toggle: () => void;
}

export function OpenButton({ name, isOpen, toggle }: TwigProps) {
  if (isOpen === undefined) return <span class="twig" />;
  return (
    <button type="button" class="twig" aria-expanded={isOpen} aria-label={name} onClick={toggle}>
      {isOpen ? "▾" : "▸"}
    </button>
  );
}

/** The indentation of a row's name, as CSS has it. */
export function rowIndent(depth: number): string {
  return `${8 + 16 * depth}px`;
}
