import { render } from "preact";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type GraphLayout, type GraphSizes, layoutGraph } from "../../src/tools/xla/graphlayout";
import { OpGraph } from "../../src/tools/xla/opgraph";
import { column, table } from "../table";

const box = (inside = -1) => ({ width: 190, height: 56, inside });

describe("arranging", () => {
  it("puts what feeds above what it feeds, and what is opened around what is in it", () => {
    const { nodes, edges, width, height } = layoutGraph({
      nodes: [box(), box(), box(1), box(1), box()],
      edges: [
        [0, 2],
        [2, 3],
        [3, 4],
        [3, 4],
      ],
    });
    const [first, outer, upper, lower, last] = nodes;
    if (!first || !outer || !upper || !lower || !last) throw new Error("nodes are missing");
    expect([first.y < upper.y, upper.y < lower.y, lower.y < last.y]).toEqual([true, true, true]);
    expect(outer.height).toBeGreaterThan(2 * 56);
    expect(Math.abs(upper.y - outer.y)).toBeLessThan(outer.height / 2);
    expect(edges.map((points) => points.length >= 2)).toEqual([true, true, true, true]);
    expect(Math.min(width, height)).toBeGreaterThan(190);
  });

  it("takes graphs of nothing, of one, and with edges to oneself", () => {
    expect(layoutGraph({ nodes: [], edges: [] }).nodes).toEqual([]);
    expect(layoutGraph({ nodes: [box()], edges: [[0, 0]] }).nodes).toHaveLength(1);
  });
});

describe("the graph of ops", () => {
  const nodes = table(
    ["name", "opcode", "shape", "inside", "opens", "opened", "self_us", "share", "more_users"].map((id) => column(id)),
    [
      ["<b>dot</b>", "dot", "f32[8]", null, false, false, 12, 0.5, 3],
      ["scale", "fusion", "f32[8]", null, true, false, null, null, 0],
    ],
  );
  const edges = table(
    ["source", "target", "operand", "shape", "bytes"].map((id) => column(id)),
    [[0, 1, 0, "f32[8]", 32]],
  );
  afterEach(() => vi.unstubAllGlobals());

  function drawn(answer: (sketch: GraphSizes) => GraphLayout | null) {
    class Fake {
      onmessage: ((event: { data: GraphLayout }) => void) | null = null;
      onerror: (() => void) | null = null;
      postMessage(sketch: GraphSizes) {
        const made = answer(sketch);
        queueMicrotask(() => (made ? this.onmessage?.({ data: made }) : this.onerror?.()));
      }
      terminate() {}
    }
    vi.stubGlobal("Worker", Fake);
    const acts = { select: vi.fn(), center: vi.fn(), toggleFusion: vi.fn() };
    const root = document.createElement("div");
    render(<OpGraph nodes={nodes} edges={edges} selected={0} {...acts} />, root);
    return { root, acts };
  }

  it("draws boxes, ways and what is left out; names are text", async () => {
    const { root, acts } = drawn(layoutGraph);
    await vi.waitFor(() => expect(root.querySelectorAll(".box")).toHaveLength(2));
    expect(root.querySelector("b")).toBeNull();
    expect(root.querySelector(".box")?.textContent).toContain("<b>dot</b>");
    expect(root.querySelector(".touch")?.getAttribute("data-tip")).toBe("operand 0: f32[8], 32\u202fB");
    root.querySelector(".more")?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    expect(acts.center).toHaveBeenCalledWith(0);
    root.querySelector(".twig")?.dispatchEvent(new MouseEvent("click", { bubbles: true }));
    expect(acts.toggleFusion).toHaveBeenCalledWith(1);
  });

  it("says so where nothing can be arranged", async () => {
    const { root } = drawn(() => null);
    await vi.waitFor(() => expect(root.textContent).toContain("could not be arranged"));
  });
});
