import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { describe, expect, it } from "vitest";

const SRC = join(import.meta.dirname, "../src");
const LAYERS = ["base", "api", "state", "canvas", "view", "tools", "app"];

const files = readdirSync(SRC, { recursive: true, encoding: "utf8" }).filter((name) => /\.tsx?$/.test(name));
const layerOf = (file: string) => LAYERS.indexOf(file.split(/[\\/]/)[0] ?? "");
const text = (file: string) => readFileSync(join(SRC, file), "utf8");

function imports(file: string): string[] {
  const found = [...text(file).matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)];
  return found.map((match) => relative(SRC, join(SRC, dirname(file), match[1] ?? "")));
}

/** A call takes some 100,000 arguments: lists that a capture may make long are no arguments. */
const SPREAD =
  /\b(Math\.\w+|push|unshift|splice|concat|from\w*Codes?|from\w*Points?)\((?:[^()[\]{}]|\([^()]*\)|\[[^[\]]*\])*\.\.\.|\.apply\(/;

it.each([
  "Math.max(...rows.map((row) => row.x))",
  "Math.min(0, ...list)",
  "Math.max(f(0), at[1], ...list)",
  "all.push(...more)",
  "String.fromCharCode(...bytes)",
  "String.fromCharCode.apply(null, bytes)",
])("knows a list that is spread into arguments: %s", (code) => {
  expect(code).toMatch(SPREAD);
});

/**
 * What adds up, averages or divides figures: Python does, once, so that files and the command line say the same. To sort,
 * to find the largest and to scale to a unit is the page's.
 */
const FIGURE =
  /\.reduce\([^;]*?[^+]\+[^+]|\+=[^;]*\.(?:number|numberOrZero|cell)\(|\.(?:number|numberOrZero)\([^()]*\)\s*[+/]\s*[\w(]|\b(?:median|mean|average|sum|deviation|quantile|percentile)\(|\bpercent\([^()]*\/|Math\.(?:sqrt|pow|hypot)/;
/** Where sizes on the screen are added up, and where a picture says what part of its whole each piece is. */
const DRAWS = ["calltable.tsx", "flamegraph.tsx", "grid.tsx", "sharebars.tsx", "stackbar.tsx", "stackedchart.ts"]
  .map((name) => join("view", name))
  .concat(join("tools", "timeline", "minimap.ts"));

it.each([
  "rows.reduce((sum, row) => sum + table.numberOrZero(row, 'total_us'), 0)",
  "total += table.number(row, 'total_us') ?? 0",
  "percent(value / whole)",
  "median(times)",
  "answer.number('step_ms') / 2",
  "Math.sqrt(squares / count)",
])("knows a figure that is worked out: %s", (code) => {
  expect(code).toMatch(FIGURE);
});

describe.each(files)("%s", (file) => {
  it("works out no figure", () => {
    const shows = ["tools", "view"].includes(LAYERS[layerOf(file)] ?? "");
    if (shows && !DRAWS.includes(file)) expect(text(file)).not.toMatch(FIGURE);
  });

  it("lies in a layer", () => {
    expect(layerOf(file)).toBeGreaterThanOrEqual(0);
  });

  it("imports only from its own layer and those before it", () => {
    expect(imports(file).filter((name) => layerOf(name) > layerOf(file))).toEqual([]);
  });

  it("is short", () => {
    expect(text(file).split("\n").length).toBeLessThan(400);
  });

  it("turns no text into code or markup", () => {
    expect(text(file)).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|\beval\(|new Function|document\.write/);
  });

  it("spreads no list into the arguments of a call", () => {
    expect(text(file)).not.toMatch(SPREAD);
  });

  it("makes parts of addresses, and texts of them, in one place that never throws", () => {
    if (file !== join("base", "text.ts")) expect(text(file)).not.toMatch(/(en|de)codeURI/);
  });

  it("fetches only in api/, and touches no DOM in base/", () => {
    const layer = LAYERS[layerOf(file)];
    if (layer !== "api")
      expect(text(file)).not.toMatch(
        /(?<![.\w])fetch\((?!\))|(window|self|globalThis)\.fetch\(|XMLHttpRequest|EventSource/,
      );
    if (layer === "base") expect(text(file)).not.toMatch(/(?<![.\w])(document|window|location|localStorage)\./);
  });
});
