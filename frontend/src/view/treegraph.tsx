/** A tree of boxes with arrows, to pan, zoom and pick from; the keyboard reaches every box. */

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { clamp } from "../base/clamp";
import { largest } from "../base/extent";
import { type DrawingView, PanZoom, SvgButton } from "./panzoom";
import { treeLayout } from "./treelayout";

export type Emphasis = "main" | "path" | "aside";

export interface GraphNode {
  readonly title: string;
  readonly lines: readonly string[];
  /** Index of the node that this one feeds, or -1. */
  readonly parent: number;
  readonly emphasis: Emphasis;
  /** The arrow to the node it feeds crosses threads. */
  readonly asynchronous: boolean;
  readonly tip: string;
}

interface TreeGraphProps {
  readonly label: string;
  readonly nodes: readonly GraphNode[];
  readonly selected: number;
  readonly onSelect: (node: number) => void;
  readonly legend?: ComponentChildren;
}

const BOX_WIDTH_PX = 164;
const LINE_PX = 15;
const COLUMN_PX = BOX_WIDTH_PX + 28;
/** At the smallest, letters are still 8 px high; ten boxes in a row fit into a frame of 1250 px. */
const SMALLEST_SCALE = 0.65;

/** The upper left corner of a node's box, px. */
interface BoxCorner {
  readonly x: number;
  readonly y: number;
}

/**
 * Fits the whole graph as long as it stays legible; else the main node and what lies around it, and without one the
 * right end, where the data goes. `main` is the middle of the main node, px from the left.
 */
export function initialView(
  width: number,
  height: number,
  room: number,
  main: number,
): { view: DrawingView; height: number } {
  const scale = clamp(room / width, SMALLEST_SCALE, 1);
  const x = clamp(room / 2 - main * scale, room - width * scale, 0);
  return { view: { x: Math.min(0, x), y: 0, scale }, height: Math.min(height * scale, 520) };
}

export function TreeGraph({ label, nodes, selected, onSelect, legend }: TreeGraphProps) {
  const lines = largest(nodes.map((node) => node.lines.length));
  const boxHeight = 26 + lines * LINE_PX;
  const { boxes, width, height, start } = useMemo(() => {
    const places = treeLayout(nodes.map((node) => node.parent));
    const boxes = places.map(
      ({ column, row }): BoxCorner => ({ x: 8 + column * COLUMN_PX, y: 8 + row * (boxHeight + 18) }),
    );
    const width = largest(boxes.map(({ x }) => x)) + BOX_WIDTH_PX + 8;
    const height = largest(boxes.map(({ y }) => y)) + boxHeight + 10;
    const mainBox = boxes[nodes.findIndex(({ emphasis }) => emphasis === "main")];
    const main = mainBox ? mainBox.x + BOX_WIDTH_PX / 2 : width;
    return { boxes, width, height, start: (room: number) => initialView(width, height, room, main) };
  }, [nodes, boxHeight]);
  return (
    <PanZoom label={label} width={width} height={height} start={start} legend={legend}>
      {nodes.map((node, index) => (
        <Arrow key={index} node={node} from={boxes[index]} to={boxes[node.parent]} tall={boxHeight} />
      ))}
      {nodes.map((node, index) => (
        <NodeBox
          key={index}
          node={node}
          box={boxes[index] ?? { x: 0, y: 0 }}
          tall={boxHeight}
          selected={index === selected}
          select={() => onSelect(index)}
        />
      ))}
    </PanZoom>
  );
}

interface ArrowProps {
  readonly node: GraphNode;
  readonly from: BoxCorner | undefined;
  readonly to: BoxCorner | undefined;
  readonly tall: number;
}

function Arrow({ node, from, to, tall }: ArrowProps) {
  if (!from || !to) return null;
  const start = { x: from.x + BOX_WIDTH_PX, y: from.y + tall / 2 };
  const end = { x: to.x, y: to.y + tall / 2 };
  const middle = (start.x + end.x) / 2;
  return (
    <g class={`arrow ${node.emphasis}${node.asynchronous ? " asynchronous" : ""}`}>
      <path d={`M${start.x} ${start.y} C${middle} ${start.y} ${middle} ${end.y} ${end.x - 7} ${end.y}`} />
      <path class="head" d={`M${end.x - 8} ${end.y - 4} l8 4 l-8 4 z`} />
    </g>
  );
}

interface NodeBoxProps {
  readonly node: GraphNode;
  readonly box: BoxCorner;
  readonly tall: number;
  readonly selected: boolean;
  readonly select: () => void;
}

function NodeBox({ node, box, tall, selected, select }: NodeBoxProps) {
  return (
    <SvgButton
      class={`box ${node.emphasis}${selected ? " selected" : ""}`}
      transform={`translate(${box.x} ${box.y})`}
      pressed={selected}
      label={`${node.title}: ${node.lines.join(", ")}`}
      tip={node.tip}
      act={select}
    >
      <rect width={BOX_WIDTH_PX} height={tall} rx="3" />
      <text class="title" x="10" y="18">
        {`${node.title} `}
      </text>
      {node.lines.map((line, index) => (
        <text key={line} x="10" y={34 + index * LINE_PX}>
          {`${line} `}
        </text>
      ))}
    </SvgButton>
  );
}
