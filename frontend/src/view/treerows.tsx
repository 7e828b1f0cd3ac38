/** Rows that open to show the rows inside them: which are visible, and the button that opens one. */

import { useState } from "preact/hooks";
import type { Row } from "../base/table";

/** What stands for a row; null for the place of the outermost rows. */
type Key = string | number | null;

export interface TreeRows<K extends Key> {
  /** By the row around them. */
  readonly children: ReadonlyMap<K, readonly Row[]>;
  /** Rows that are open at first. */
  readonly open: ReadonlySet<K>;
  readonly keyOf: (row: Row) => K;
}

/** Large rows are open at first: they hold this share of the whole, lie not deeper, and are not more. */
const LARGE_SHARE = 0.2;
const DEEPEST_OPEN = 2;
const MOST_OPEN = 12;

export function isOpenAtFirst(share: number, depth: number, already: number): boolean {
  return share >= LARGE_SHARE && depth < DEEPEST_OPEN && already < MOST_OPEN;
}

/** The rows that are visible, in order, and whether each is open: undefined where nothing is inside. */
export function useTreeRows<K extends Key>({ children, open, keyOf }: TreeRows<K>, root: K) {
  const [turned, setTurned] = useState<ReadonlySet<K>>(new Set());
  const isOpen = (key: K) => (children.has(key) ? open.has(key) !== turned.has(key) : undefined);
  const turn = (key: K) => {
    const next = new Set(turned);
    if (!next.delete(key)) next.add(key);
    setTurned(next);
  };
  const rows: Row[] = [];
  const waiting = [...(children.get(root) ?? [])].reverse();
  for (let row = waiting.pop(); row; row = waiting.pop()) {
    rows.push(row);
    const key = keyOf(row);
    if (!isOpen(key)) continue;
    for (const child of [...(children.get(key) ?? [])].reverse()) waiting.push(child);
  }
  return { rows, isOpen, turn } as const;
}

interface TwigProps {
  readonly name: string;
  /** Undefined where nothing is inside. */
  readonly open: boolean | undefined;
  readonly turn: () => void;
}

export function Twig({ name, open, turn }: TwigProps) {
  if (open === undefined) return <span class="twig" />;
  return (
    <button type="button" class="twig" aria-expanded={open} aria-label={name} onClick={turn}>
      {open ? "▾" : "▸"}
    </button>
  );
}

/** How far the name of a row is moved in, in px. */
export function indentOf(depth: number): string {
  return `${8 + 16 * depth}px`;
}
