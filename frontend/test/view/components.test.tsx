import { type ComponentChild, render } from "preact";
import { act } from "preact/test-utils";
import { describe, expect, it } from "vitest";
import { partById } from "../../src/base/parts";
import type { Table } from "../../src/base/table";
import { Grid } from "../../src/view/grid";
import { Loading } from "../../src/view/loading";
import { ProblemPage } from "../../src/view/problems";
import { StackBar } from "../../src/view/stackbar";
import { Verdict } from "../../src/view/verdict";
import { column, table as made } from "../table";
import { root, withRoot } from "./root";

withRoot();

async function show(content: ComponentChild): Promise<void> {
  await act(() => render(content, root));
}

function table(rows: number): Table {
  return made(
    [column("op", "string", { doc: "The op's name." }), column("time", "number", { unit: "us" })],
    Array.from({ length: rows }, (_, place) => [`op${place}`, place]),
  );
}

describe("the grid", () => {
  it("explains its columns and sorts at a click", async () => {
    await show(<Grid table={table(3)} name="t" />);
    const [op, time] = root.querySelectorAll<HTMLButtonElement>("thead button");
    expect(op?.getAttribute("data-tip")).toBe("The op's name.");
    await act(() => time?.click());
    expect(root.querySelectorAll("th")[1]?.getAttribute("aria-sort")).toBe("descending");
    expect(root.querySelector("tbody td")?.textContent).toBe("op2");
  });

  it("filters as one types and says how many are left", async () => {
    await show(<Grid table={table(20)} name="t" />);
    const input = root.querySelector<HTMLInputElement>("[data-filter]");
    await act(() => {
      if (!input) return;
      input.value = "op1";
      input.dispatchEvent(new Event("input"));
    });
    expect(root.querySelectorAll("tbody tr").length).toBe(11);
    expect(root.textContent).toContain("11 of 20 rows");
  });

  it("draws only a part of many rows, and tells how many there are", async () => {
    await show(<Grid table={table(5000)} name="t" />);
    expect(root.querySelectorAll("tbody tr").length).toBeLessThan(100);
    expect(root.querySelector("table")?.getAttribute("aria-rowcount")).toBe("5001");
  });
});

describe("a name with slashes", () => {
  it("is cut at its front, and is the same text", async () => {
    await show(
      <Grid table={made([column("op", "string")], [["model/layer_0/attention/softmax"], ["gemm<a, b>"]])} name="t" />,
    );
    const [path, plain] = root.querySelectorAll("tbody td");
    expect(path?.querySelector(".path-name bdi[dir=ltr]")?.textContent).toBe("model/layer_0/attention/softmax");
    expect(plain?.querySelector(".path-name")).toBe(null);
    expect(plain?.textContent).toBe("gemm<a, b>");
  });
});

describe("a name that is one long word", () => {
  it("keeps its end where its middle is cut, and is the same text", async () => {
    const name = "_matmul_ogs_NNT_bf16xbf16xmxfp4_128x128x128x1_swiglu";
    await show(<Grid table={made([column("kernel", "string")], [[name], ["ampere_sgemm_128x64_nn"]])} name="t" />);
    const [long, short] = root.querySelectorAll("tbody td");
    expect(long?.querySelector(".long-name > span")?.textContent).toBe(name.slice(0, -9));
    expect(long?.textContent).toBe(name);
    expect(short?.querySelector(".long-name")).toBe(null);
  });
});

describe("states", () => {
  it("shows markup from a capture as text", async () => {
    const html = '<img src=x onerror="alert(1)"><a href="javascript:alert(1)">x</a>';
    await show(<Verdict level="bad" text={html} doubt={html} />);
    expect(root.querySelectorAll("img, script, a").length).toBe(0);
    expect(root.textContent).toContain(html);
  });

  it("tells a problem with its remedy, details folded", async () => {
    const problem = {
      code: "c",
      message: "It broke.",
      remedy: "Mend it.",
      where: "byte 7",
      severity: "error" as const,
    };
    await show(<ProblemPage problem={problem} />);
    expect(root.querySelector("[role=alert] h2")?.textContent).toContain("It broke.");
    expect(root.textContent).toContain("Mend it.");
    expect(root.querySelector("details")?.open).toBe(false);
    expect(root.querySelector("details")?.textContent).toContain("byte 7");
  });

  it("shows how far each host is", async () => {
    const hosts = [
      { host: "a", phase: "decoding", fraction: 0.25 },
      { host: "b", phase: "done", fraction: 1 },
    ];
    await show(<Loading what="Reading" progress={{ busy: true, hosts, computing: [] }} />);
    expect(root.querySelectorAll("progress").length).toBe(1);
    expect(root.textContent).toContain("decoding");
  });

  it("goes on in place, but leaves new tabs to the browser", async () => {
    let gone = 0;
    const go = () => {
      gone += 1;
    };
    await show(<Verdict level="bad" text="Slow." next={{ label: "Input", href: "#x", go }} />);
    const link = root.querySelector("a");
    link?.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true }));
    link?.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey: true }));
    expect(gone).toBe(1);
    expect(root.querySelector(".mark")?.getAttribute("aria-label")).toBe("Bottleneck");
  });

  it("says the bar in words", async () => {
    await show(
      <StackBar
        totalMs={4}
        pieces={[
          { part: partById("input"), label: "Input", ms: 3 },
          { part: partById("other"), label: "All others", ms: 1 },
        ]}
      />,
    );
    const words = root.querySelector("[role=img]")?.getAttribute("aria-label")?.replaceAll("\u202f", " ");
    expect(words).toBe("Input: 3.00 ms (75.0 %); All others: 1.00 ms (25.0 %)");
  });
});
