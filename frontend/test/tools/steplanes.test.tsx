import { signal } from "@preact/signals";
import { render } from "preact";
import { act } from "preact/test-utils";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { PageProps } from "../../src/tools/page";
import { StepLanes } from "../../src/tools/summary/steplanes";
import { answer } from "../table";
import { root, withRoot } from "../view/root";

withRoot();

const LANE = { title: "GPU:0", kind: "device", rows: 1, begin: [0], end: [5e8], row: [0], name: [0] };

/** The page of a typical step that takes so long. */
function page(lengthMs: number, hosts: readonly string[]): PageProps {
  const facts = { example_begin_ms: 0, example_host: "h", example_step: "7", parts_ms: lengthMs };
  const store = {
    theme: signal("light"),
    tools: { state: signal({ value: [] }) },
    view: signal({ tool: "overview_page", options: {} }),
  };
  return { answer: answer(facts), session: { run: "r", hosts }, store } as unknown as PageProps;
}

async function show(lengthMs: number, hosts = ["h"]): Promise<HTMLElement> {
  await act(() => render(<StepLanes page={page(lengthMs, hosts)}>bar</StepLanes>, root));
  // What is loaded arrives some promises later.
  await act(() => new Promise((resolve) => setTimeout(resolve, 10)));
  return root.querySelector("figure") as HTMLElement;
}

beforeEach(() => {
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      disconnect() {}
    },
  );
});
afterEach(() => vi.unstubAllGlobals());

it("names the lanes of a typical step below the bar", async () => {
  vi.stubGlobal("fetch", async () => Response.json({ begin: 0, end: 1e9, lanes: [LANE], names: ["gemm"] }));
  const figure = await show(1);
  expect(figure.className).toBe("axis");
  expect(figure.textContent).toContain("GPU:0");
  expect(figure.textContent).toContain("Lanes: typical step 7");
});

it("names the host of the step where there are several", async () => {
  vi.stubGlobal("fetch", async () => Response.json({ begin: 0, end: 1e9, lanes: [LANE], names: ["gemm"] }));
  expect((await show(1, ["g", "h"])).textContent).toContain("Lanes: typical step 7 of h");
});

it("speaks of no lanes where they cannot be loaded", async () => {
  vi.stubGlobal("fetch", async () => new Response("no", { status: 500 }));
  const figure = await show(1);
  expect(figure.className).toBe("axis");
  expect(figure.textContent).not.toContain("Lanes");
});

it("waits for nothing where the step takes no time", async () => {
  const fetched = vi.fn();
  vi.stubGlobal("fetch", fetched);
  const figure = await show(0);
  expect(figure.className).toBe("axis");
  expect(figure.textContent).not.toContain("Lanes");
  expect(fetched).not.toHaveBeenCalled();
});
