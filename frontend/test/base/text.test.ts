import { describe, expect, it } from "vitest";
import { csv, field, fileName, json } from "../../src/base/csv";
import { colourOf } from "../../src/base/hue";
import { nearest } from "../../src/base/near";

describe("csv", () => {
  it("quotes what needs quotes", () => {
    expect(
      csv(
        ["a", 'b "x"'],
        [
          ["1,2", null],
          ["line\nbreak", 3.5],
          [true, "plain"],
        ],
      ),
    ).toBe('a,"b ""x"""\r\n"1,2",\r\n"line\nbreak",3.5\r\ntrue,plain\r\n');
  });

  it.each(["=1+1", "+1", "-cmd", "@SUM(A1)", "\tx", "\rx"])("disarms the formula %j", (text) => {
    expect(field(text).replace(/^"/, "").startsWith("'")).toBe(true);
  });

  it("leaves negative numbers alone", () => {
    expect(field(-1.5)).toBe("-1.5");
  });

  it("names files safely", () => {
    expect(fileName("train/run 1", "ops.csv")).toBe("train_run_1_ops.csv");
  });
});

it("writes rows as objects in json", () => {
  expect(JSON.parse(json(["a", "b"], [[1, null]]))).toEqual([{ a: 1, b: null }]);
});

describe("near matches", () => {
  it("finds parts and misspellings, nearest first", () => {
    const names = ["train/2026_11_20", "eval/2026_11_20", "train/2026_11_21", "other"];
    expect(nearest("train/2026_11_2", names).slice(0, 2)).toEqual(["train/2026_11_20", "train/2026_11_21"]);
    expect(nearest("zzz", names)).toEqual([]);
  });
});

it("gives a name the same colour everywhere and different names different ones", () => {
  expect(colourOf("MatMul", false)).toBe(colourOf("MatMul", false));
  const names = ["MatMul", "Conv2D", "Cast", "Mul", "Add", "Relu"];
  expect(new Set(names.map((name) => colourOf(name, false))).size).toBe(names.length);
});
