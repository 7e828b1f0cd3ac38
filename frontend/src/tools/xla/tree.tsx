/** The op profile as a tree of rows that open, with time at best and wasted time as one bar. */

import { useMemo, useState } from "preact/hooks";
import { largest } from "../../base/extent";
import { percent, time } from "../../base/format";
import type { Row, Table } from "../../base/table";
import type { Store } from "../../state/store";
import { deltaOf, signOf } from "../../view/delta";
import { useOpDialog } from "./opcard";

/** Rows open at first: those that hold so much of the time, and not more than this many. */
const LARGE = 0.2;
const FIRST = 12;
/** Heads of columns of texts. */
const TEXTS: ReadonlySet<string> = new Set(["Bottleneck", "Source"]);

interface Shape {
  readonly children: ReadonlyMap<number | null, readonly Row[]>;
  readonly open: ReadonlySet<number>;
}

function shapeOf(nodes: Table): Shape {
  const children = new Map<number | null, Row[]>();
  const open = new Set<number>();
  for (const row of nodes.rows) {
    const parent = nodes.number(row, "parent");
    const siblings = children.get(parent);
    if (siblings) siblings.push(row);
    else children.set(parent, [row]);
    const large = nodes.length(row, "of_busy") >= LARGE && open.size < FIRST;
    if (large && nodes.length(row, "depth") < 2) open.add(nodes.length(row, "id"));
  }
  return { children, open };
}

interface TreeProps {
  readonly nodes: Table;
  readonly idle: boolean;
  readonly store: Store;
}

export function Tree({ nodes, idle, store }: TreeProps) {
  const shape = useMemo(() => shapeOf(nodes), [nodes]);
  const [turned, setTurned] = useState<ReadonlySet<number>>(new Set());
  const isOpen = (id: number) => shape.open.has(id) !== turned.has(id);
  const turn = (id: number) => {
    const next = new Set(turned);
    if (!next.delete(id)) next.add(id);
    setTurned(next);
  };
  const shown: Row[] = [];
  const waiting = [...(shape.children.get(null) ?? [])].reverse();
  for (let row = waiting.pop(); row; row = waiting.pop()) {
    if (!idle && nodes.text(row, "kind") === "idle") continue;
    shown.push(row);
    const id = nodes.length(row, "id");
    if (!isOpen(id)) continue;
    for (const child of [...(shape.children.get(id) ?? [])].reverse()) waiting.push(child);
  }
  const [open, dialog] = useOpDialog(store);
  const show = (row: Row) => {
    const name = nodes.text(row, "op");
    open({ table: nodes, row, name, program: nodes.text(row, "program_id"), events: name });
  };
  const whole = idle ? "share" : "of_busy";
  const longest = largest(shown.map((row) => nodes.length(row, whole)));
  const held = nodes.has("delta_self_us");
  const heads = [
    "Self time",
    ...(held ? ["Δ per step"] : []),
    "Share",
    "Wasted",
    "Roofline efficiency",
    "Bottleneck",
    "Executions",
    "GFLOP/s",
    "GiB/s",
    "Source",
  ];
  return (
    <div class="optree">
      <table>
        <thead>
          <tr>
            <th>Name</th>
            {heads.map((head, place) => (
              <th key={place} class={TEXTS.has(head) ? undefined : "number"}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => {
            const id = nodes.length(row, "id");
            const parts = shape.children.has(id);
            return (
              <TreeRow
                key={id}
                {...{ nodes, row, whole, longest }}
                show={() => show(row)}
                open={parts ? isOpen(id) : undefined}
                turn={() => turn(id)}
              />
            );
          })}
        </tbody>
      </table>
      {dialog}
    </div>
  );
}

interface TreeRowProps {
  readonly nodes: Table;
  readonly row: Row;
  /** The column that says how much of all time the row holds. */
  readonly whole: string;
  /** The largest of these shares, which has the longest bar. */
  readonly longest: number;
  /** Undefined where it has no parts. */
  readonly open: boolean | undefined;
  readonly turn: () => void;
  readonly show: () => void;
}

function TreeRow({ nodes, row, whole, longest, open, turn, show }: TreeRowProps) {
  const [name, kind, match] = ["name", "kind", "match"].map((id) => nodes.text(row, id)) as [string, string, string];
  const known = (id: string, show: (value: number) => string) => {
    const value = nodes.number(row, id);
    return value === null ? "" : show(value);
  };
  const share = nodes.length(row, whole);
  const figure = (value: number) => value.toLocaleString("en-US", { maximumSignificantDigits: 4 });
  return (
    <tr class={match === "gone" ? "gone" : kind}>
      <td style={{ paddingLeft: `${8 + 16 * nodes.length(row, "depth")}px` }} data-tip={nodes.text(row, "expression")}>
        {open === undefined ? (
          <span class="twig" />
        ) : (
          <button type="button" class="twig" aria-expanded={open} aria-label={name} onClick={turn}>
            {open ? "▾" : "▸"}
          </button>
        )}
        {kind === "op" && match !== "gone" ? (
          <button type="button" class="row-act" onClick={show}>
            {name}
          </button>
        ) : (
          name
        )}
        {match && <small class="quiet"> {match}</small>}
      </td>
      <td class="number">{known("self_us", (value) => time(value, "us"))}</td>
      {nodes.has("delta_self_us") && <Change nodes={nodes} row={row} />}
      <td class="share">
        <Bar nodes={nodes} row={row} length={share / longest} />
        <span>{known(whole, (value) => percent(value))}</span>
      </td>
      <td class="number">{known("wasted_us", (value) => time(value, "us"))}</td>
      <td class="number">{known("efficiency", (value) => percent(value, 0))}</td>
      <td>{nodes.text(row, "bound_by")}</td>
      <td class="number">{known("executions", figure)}</td>
      <td class="number">{known("gflop_per_s", figure)}</td>
      <td class="number">{known("gib_per_s", figure)}</td>
      <td class="source" data-tip={nodes.text(row, "source")}>
        {nodes.text(row, "source").split("/").at(-1)}
      </td>
    </tr>
  );
}

/** From the baseline's, per step. */
function Change({ nodes, row }: { nodes: Table; row: Row }) {
  const ms = deltaOf(nodes, row, "self_us");
  return <td class={`number ${signOf(ms)}`}>{typeof ms === "number" && `${ms > 0 ? "+" : ""}${time(ms)}`}</td>;
}

/** Time at best, wasted time and time of which nothing is known, together as long as the row's share asks for. */
function Bar({ nodes, row, length }: { nodes: Table; row: Row; length: number }) {
  const parts = ["unknown", "wasted"].map((id) => [id, nodes.length(row, `${id}_us`)] as const);
  const self = nodes.length(row, "self_us");
  if (!self || !length) return null;
  return (
    <span class="lane" aria-hidden="true">
      <span class="bar" style={{ width: `${100 * length}%` }}>
        {parts.map(([id, us]) => us > 0 && <i key={id} class={id} style={{ width: `${(100 * us) / self}%` }} />)}
      </span>
    </span>
  );
}
