/** The neighbourhood of an instruction as boxes and arrows; fusions open in place. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { clamp } from "../../base/clamp";
import { formatMemory, formatPercent, formatTime } from "../../base/format";
import { joinNames, t } from "../../base/messages";
import type { Row, Table } from "../../base/table";
import { cutEnd } from "../../base/text";
import { PanZoom, SvgButton } from "../../view/panzoom";
import type { GraphLayout, GraphSizes, Point } from "./graphlayout";
import { runLayout } from "./layoutinworker";

const BOX_WIDTH_PX = 190;
const LINE_PX = 15;
/** So many letters have room in a box; wide ones are cut off at its edge. */
const MOST_LETTERS = 27;
const ARROW_HEAD_ID = "op-graph-head";

export interface NodeActions {
  readonly select: (row: number) => void;
  readonly center: (row: number) => void;
  readonly toggleFusion: (row: number) => void;
}

interface OpGraphProps extends NodeActions {
  readonly nodes: Table;
  readonly edges: Table;
  readonly selected: number;
}

function boxLines(nodes: Table, row: Row): string[] {
  const [opcode, category] = [nodes.text(row, "opcode"), nodes.text(row, "category")];
  const kind = opcode === "fusion" ? category : opcode;
  const constants = nodes.text(row, "constants");
  const self = nodes.number(row, "self_us");
  const share = nodes.number(row, "share");
  const timeLine =
    self === null ? [] : [`${formatTime(self, "us")}${share === null ? "" : `, ${formatPercent(share)}`}`];
  return [constants ? `${kind} (${constants})` : kind, nodes.text(row, "shape"), ...timeLine];
}

function graphSizes(nodes: Table, edges: Table): GraphSizes {
  return {
    nodes: nodes.rows.map((row) => ({
      width: BOX_WIDTH_PX,
      height: 26 + boxLines(nodes, row).length * LINE_PX,
      inside: nodes.number(row, "inside") ?? -1,
    })),
    edges: edges.rows.map((row) => [edges.numberOrZero(row, "source"), edges.numberOrZero(row, "target")] as const),
  };
}

/** The layout for these sizes, once it is there; "failed" where none could be made. */
function useLayout(sizes: GraphSizes): GraphLayout | "failed" | null {
  const [result, setResult] = useState<{ readonly of: GraphSizes; readonly layout: GraphLayout | "failed" } | null>(
    null,
  );
  useEffect(() => runLayout(sizes, (layout) => setResult({ of: sizes, layout: layout ?? "failed" })), [sizes]);
  return result?.of === sizes ? result.layout : null;
}

export function OpGraph(props: OpGraphProps) {
  const { nodes, edges } = props;
  const sizes = useMemo(() => graphSizes(nodes, edges), [nodes, edges]);
  const layout = useLayout(sizes);
  if (layout === "failed") {
    return <p class="nothing">{t("The graph could not be arranged here; its instructions are in the table below.")}</p>;
  }
  if (!layout) return <p class="nothing">{t("Arranging {count} instructions…", { count: nodes.rows.length })}</p>;
  return <GraphDrawing {...props} layout={layout} />;
}

/** Where a drawing begins in a frame with a point of it in the middle, but with nothing beside it. */
function frameOffset(middle: number, room: number, size: number): number {
  return Math.min(0, Math.max(room - size, room / 2 - middle));
}

function GraphDrawing({ nodes, edges, selected, layout, ...actions }: OpGraphProps & { layout: GraphLayout }) {
  const { width, height } = layout;
  const start = useMemo(() => {
    const middle = layout.nodes[0] ?? { x: 0, y: 0 };
    return (room: number) => {
      const scale = clamp(Math.min(room / width, 560 / height), 0.75, 1);
      const tall = Math.min(height * scale + 8, 640);
      const x = width * scale <= room ? (room - width * scale) / 2 : frameOffset(middle.x * scale, room, width * scale);
      const y = height * scale <= tall ? 0 : frameOffset(middle.y * scale, tall, height * scale);
      return { view: { x, y, scale }, height: tall };
    };
  }, [layout]);
  return (
    <PanZoom label={t("Instructions and the values between them")} width={width} height={height} start={start}>
      <defs>
        <marker
          id={ARROW_HEAD_ID}
          refX="8"
          refY="4"
          markerWidth="9"
          markerHeight="8"
          orient="auto"
          markerUnits="userSpaceOnUse"
        >
          <path class="head" d="M0 0 L9 4 L0 8 z" />
        </marker>
      </defs>
      {layout.nodes.map((box, index) => {
        const row = nodes.rows[index];
        return row && nodes.cell(row, "opened") === true ? (
          <OpenedFusion
            key={index}
            name={nodes.text(row, "name")}
            box={box}
            close={() => actions.toggleFusion(index)}
          />
        ) : null;
      })}
      {edges.rows.map((row, index) => (
        <EdgeArrow key={index} points={layout.edges[index] ?? []} edges={edges} row={row} />
      ))}
      {layout.nodes.map((box, index) => {
        const row = nodes.rows[index];
        return row && nodes.cell(row, "opened") !== true ? (
          <InstructionBox
            key={index}
            nodes={nodes}
            row={row}
            box={box}
            index={index}
            selected={selected}
            {...actions}
          />
        ) : null;
      })}
    </PanZoom>
  );
}

interface NodeBox extends Point {
  readonly width: number;
  readonly height: number;
}

function moveToCorner({ x, y, width, height }: NodeBox): string {
  return `translate(${x - width / 2} ${y - height / 2})`;
}

function OpenedFusion({ name, box, close }: { name: string; box: NodeBox; close: () => void }) {
  return (
    <g class="opened" transform={moveToCorner(box)}>
      <rect width={box.width} height={box.height} rx="4" />
      <SvgButton label={t("Close: {name}", { name })} act={close}>
        <text x="8" y="14">
          ▾ {name}
        </text>
      </SvgButton>
    </g>
  );
}

/** Wider for larger values: a pixel for each factor of a thousand above a kilobyte. */
function arrowWidthPx(bytes: number): number {
  return clamp(Math.log10(Math.max(bytes, 1)) / 3, 1, 5);
}

/** Through the middles between an edge's points, so that it has no corners. */
function curvePath(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return "";
  const last = rest.at(-1) ?? first;
  const turns = rest.slice(0, -1).map((point, index) => {
    const next = rest[index + 1] ?? last;
    const end = index === rest.length - 2 ? last : { x: (point.x + next.x) / 2, y: (point.y + next.y) / 2 };
    return `Q${point.x} ${point.y} ${end.x} ${end.y}`;
  });
  return `M${first.x} ${first.y} ${turns.join(" ") || `L${last.x} ${last.y}`}`;
}

function EdgeArrow({ points, edges, row }: { points: readonly Point[]; edges: Table; row: Row }) {
  const d = curvePath(points);
  const operand = edges.number(row, "operand");
  const value = joinNames([edges.text(row, "shape"), edges.formatCell(row, "bytes", formatMemory)].filter(Boolean));
  const tip = operand === null ? value : t("operand {number}: {value}", { number: operand, value });
  return (
    <g class="arrow">
      <path
        d={d}
        style={{ strokeWidth: arrowWidthPx(edges.numberOrZero(row, "bytes")) }}
        marker-end={`url(#${ARROW_HEAD_ID})`}
      />
      <path class="touch" d={d} data-tip={tip} />
    </g>
  );
}

function cutToLetters(text: string, letters: number): string {
  return text.length > letters ? `${cutEnd(text, letters - 1)}…` : text;
}

interface InstructionBoxProps extends NodeActions {
  readonly nodes: Table;
  readonly row: Row;
  readonly box: NodeBox;
  readonly index: number;
  readonly selected: number;
}

function InstructionBox({ nodes, row, box, index, selected, select, center, toggleFusion }: InstructionBoxProps) {
  const name = nodes.text(row, "name");
  const opens = nodes.cell(row, "opens") === true;
  const lines = boxLines(nodes, row).map((line) => cutToLetters(line, MOST_LETTERS));
  const title = cutToLetters(name, opens ? MOST_LETTERS - 4 : MOST_LETTERS);
  const main = index === 0 ? " main" : "";
  const chosen = index === selected ? " selected" : "";
  return (
    <g transform={moveToCorner(box)} class="op">
      <MoreNeighbours
        count={nodes.numberOrZero(row, "more_operands")}
        y={-3}
        text={t("{count} more that feed {name}", { count: nodes.numberOrZero(row, "more_operands"), name })}
        go={() => center(index)}
      />
      <SvgButton
        class={`box${main}${chosen}`}
        pressed={index === selected}
        label={`${title}: ${lines.join(", ")}${title === name ? "" : `, ${name}`}`}
        tip={[name, nodes.text(row, "shape"), nodes.text(row, "op_name"), nodes.text(row, "source")].join("\n")}
        act={() => select(index)}
        onDblClick={() => center(index)}
      >
        <rect width={box.width} height={box.height} rx="3" />
        <rect class="taken" y={box.height - 4} height="4" width={box.width * nodes.numberOrZero(row, "share")} />
        <svg aria-hidden="true" width={box.width - (opens ? 24 : 4)} height={box.height}>
          <text class="title" x="8" y="17">
            {`${title} `}
          </text>
        </svg>
        <svg aria-hidden="true" width={box.width - 4} height={box.height}>
          {lines.map((line, place) => (
            <text key={place} x="8" y={33 + place * LINE_PX}>
              {`${line} `}
            </text>
          ))}
        </svg>
      </SvgButton>
      {opens && (
        <SvgButton
          class="twig"
          label={t("Open: {name}", { name })}
          tip={t("Show what is inside")}
          transform={`translate(${box.width - 22} 4)`}
          act={() => toggleFusion(index)}
        >
          <rect width="18" height="18" rx="3" />
          <text x="9" y="13">
            ▸
          </text>
        </SvgButton>
      )}
      <MoreNeighbours
        count={nodes.numberOrZero(row, "more_users")}
        y={box.height + 12}
        text={t("{count} more that use {name}", { count: nodes.numberOrZero(row, "more_users"), name })}
        go={() => center(index)}
      />
    </g>
  );
}

interface MoreProps {
  readonly count: number;
  readonly y: number;
  /** In words. */
  readonly text: string;
  readonly go: () => void;
}

/** How many neighbours are not shown; leads to them. */
function MoreNeighbours({ count, y, text, go }: MoreProps) {
  if (!count) return null;
  return (
    <SvgButton class="more" label={text} tip={t("{neighbours}; click to see them", { neighbours: text })} act={go}>
      <text x={BOX_WIDTH_PX - 6} y={y}>
        {t("+{count} more", { count })}
      </text>
    </SvgButton>
  );
}
