/** Places of a graph's nodes and the ways of its edges, from top to bottom; what is opened surrounds what is in it. */

import { Graph, layout } from "@dagrejs/dagre";

export interface GraphSizes {
  readonly nodes: readonly {
    readonly width: number;
    readonly height: number;
    /** Index of the node that surrounds it, or -1. */
    readonly inside: number;
  }[];
  /** Indices of the nodes that each leads from and to, none of which surrounds others. */
  readonly edges: readonly (readonly [number, number])[];
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  /** Middle and size of each node. */
  readonly nodes: readonly (Point & { readonly width: number; readonly height: number })[];
  readonly edges: readonly (readonly Point[])[];
}

export function layoutGraph(sizes: GraphSizes): GraphLayout {
  const graph = new Graph({ compound: true, multigraph: true });
  graph.setGraph({ rankdir: "TB", nodesep: 24, ranksep: 42, edgesep: 12, marginx: 16, marginy: 16 });
  sizes.nodes.forEach(({ width, height }, index) => {
    graph.setNode(`${index}`, { width, height });
  });
  sizes.nodes.forEach(({ inside }, index) => {
    if (inside >= 0) graph.setParent(`${index}`, `${inside}`);
  });
  sizes.edges.forEach(([from, to], index) => {
    graph.setEdge(`${from}`, `${to}`, {}, `${index}`);
  });
  layout(graph);
  const nodes = sizes.nodes.map((_, index) => {
    const { x = 0, y = 0, width, height } = graph.node(`${index}`);
    return { x, y, width, height };
  });
  const edges = sizes.edges.map(([from, to], index) => graph.edge(`${from}`, `${to}`, `${index}`).points ?? []);
  const { width = 1, height = 1 } = graph.graph();
  return { width, height, nodes, edges };
}
