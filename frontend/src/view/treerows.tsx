/** Tables of rows that open to show the rows nested in them: which rows are visible, and their common cells. */

import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Row, Table } from "../base/table";
import { MATCH_LABELS } from "./matchlabels";

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

/** The keys of the rows that are open at first, by the column of their shares; those before others count first. */
export function keysOpenAtFirst<K extends Key>(table: Table, shareColumn: string, keyOf: (row: Row) => K): Set<K> {
  const large = table.rows.filter(
    (row) => table.numberOrZero(row, shareColumn) >= LARGE_SHARE && table.numberOrZero(row, "depth") < DEEPEST_OPEN,
  );
  return new Set(large.slice(0, MOST_OPEN).map(keyOf));
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
  return { rows, isOpen, toggle } as const;
}

interface TreeTableProps {
  readonly label?: string;
  /** Head of the column of names. */
  readonly name: string;
  /** Heads of the other columns. */
  readonly heads: readonly string[];
  /** Those of the heads that stand over texts and bars; the others stand over numbers. */
  readonly textHeads: ReadonlySet<string>;
  /** The rows, which begin with a `NameCell`. */
  readonly children: ComponentChildren;
}

export function TreeTable({ label, name, heads, textHeads, children }: TreeTableProps) {
  return (
    <table aria-label={label}>
      <thead>
        <tr>
          <th scope="col">{name}</th>
          {heads.map((head) => (
            <th key={head} scope="col" class={textHeads.has(head) ? undefined : "number"}>
              {head}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  );
}

interface NameCellProps {
  readonly name: string;
  /** How many rows enclose it. */
  readonly depth: number;
  readonly tip: string;
  /** Undefined where nothing is inside. */
  readonly isOpen: boolean | undefined;
  readonly toggle: () => void;
  /** What a click on the name does, if anything. */
  readonly choose?: (() => void) | undefined;
  /** How the row was matched with the baseline's; empty for as usual. */
  readonly match?: string;
}

export function NameCell({ name, depth, tip, isOpen, toggle, choose, match }: NameCellProps) {
  return (
    <td style={{ paddingLeft: `${8 + 16 * depth}px` }} data-tip={tip}>
      {isOpen === undefined ? (
        <span class="twig" />
      ) : (
        <button type="button" class="twig" aria-expanded={isOpen} aria-label={name} onClick={toggle}>
          {isOpen ? "▾" : "▸"}
        </button>
      )}
      {choose ? (
        <button type="button" class="bare row-act" onClick={choose}>
          {name}
        </button>
      ) : (
        name
      )}
      {match && <small class="quiet"> {MATCH_LABELS[match] ?? match}</small>}
    </td>
  );
}

interface ShareCellProps {
  /** The share in words. */
  readonly text: string;
  /** Length of its bar, 0 to 1. */
  readonly length: number;
  /** The parts of the bar. */
  readonly children: ComponentChildren;
}

export function ShareCell({ text, length, children }: ShareCellProps) {
  return (
    <td class="share">
      {length > 0 && (
        <span class="lane" aria-hidden="true">
          <span class="bar" style={{ width: `${100 * length}%` }}>
            {children}
          </span>
        </span>
      )}
      <span>{text}</span>
    </td>
  );
}
