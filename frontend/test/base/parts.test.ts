import { describe, expect, it } from "vitest";
import {
  ALL_PARTS,
  INPUT_PARTS,
  PARTS,
  type Part,
  partById,
  partByStateName,
  sortByCategory,
} from "../../src/base/parts";
import { STATES } from "../../src/base/states";
import { contrast, linear, type Rgb, themes } from "../colours";
import { column, table } from "../table";

/** Machado, Oliveira and Fernandes (2009), severity 1, on linear RGB. */
const VISION: Readonly<Record<string, readonly Rgb[]>> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

/** Oklab, in which distances look even. */
function oklab([r, g, b]: Rgb): Rgb {
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

function seen(hex: string, matrix: readonly Rgb[]): Rgb {
  const [r, g, b] = linear(hex);
  const [x = 0, y = 0, z = 0] = matrix.map((row) => Math.max(0, row[0] * r + row[1] * g + row[2] * b));
  return oklab([x, y, z]);
}

function distance(a: Rgb, b: Rgb): number {
  return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}

/** Pairs that could be taken for each other, where neither is hatched. */
function confusable(parts: readonly Part[], theme: "light" | "dark", matrix: readonly Rgb[]): string[] {
  const plain = parts.filter(({ pattern }) => pattern !== "hatched");
  const pairs = plain.flatMap((a, place) => plain.slice(place + 1).map((b) => [a, b] as const));
  return pairs
    .filter(([a, b]) => distance(seen(a[theme], matrix), seen(b[theme], matrix)) < 0.085)
    .map(([a, b]) => `${a.id} ~ ${b.id}`);
}

const [LIGHT_PAGE, DARK_PAGE] = themes("page");

describe.each(["light", "dark"] as const)("colours on a %s page", (theme) => {
  it.each(Object.keys(VISION))("tell the categories of time apart with %s vision", (vision) => {
    expect(confusable(PARTS, theme, VISION[vision] ?? [])).toEqual([]);
  });

  it.each(Object.keys(VISION))("tell the input work apart with %s vision", (vision) => {
    expect(confusable(INPUT_PARTS, theme, VISION[vision] ?? [])).toEqual([]);
  });

  it("stand out from the page", () => {
    const page = theme === "light" ? LIGHT_PAGE : DARK_PAGE;
    expect(PARTS.filter((each) => contrast(each[theme], page) < 3).map(({ id }) => id)).toEqual([]);
  });
});

it("draws each state in its category's colour, with a pattern for waiting, delay and what is not known", () => {
  for (const [id, { category }] of Object.entries(STATES)) {
    const { light, dark } = partById(category);
    expect(partById(id)).toMatchObject({ id, light, dark });
  }
  const drawn = (pattern: string) => ALL_PARTS.filter((each) => each.pattern === pattern).map(({ id }) => id);
  expect(drawn("dotted")).toEqual(["latency", "between"]);
  expect(drawn("hatched")).toEqual(
    expect.arrayContaining(["unknown", "peer", "unrecorded", "before_capture", "unexplained"]),
  );
});

it("sorts states by category, what is none last", () => {
  const states = table([column("id", "string")], [["between_steps"], ["unexplained"], ["exposed_copy"], ["peer"]]);
  expect(sortByCategory(states, "id").map(([id]) => id)).toEqual([
    "peer",
    "exposed_copy",
    "unexplained",
    "between_steps",
  ]);
});

it("knows a state by its name", () => {
  expect(partByStateName("Launching ops")?.id).toBe("launch");
  expect(partByStateName("cudaLaunchKernel")).toBeUndefined();
});

it("draws what it does not know in no category's colour", () => {
  expect(partById("input").id).toBe("input");
  expect(partById("unheard_of").id).toBe("other");
  expect(PARTS.map(({ light }) => light)).not.toContain(partById("unheard_of").light);
});
