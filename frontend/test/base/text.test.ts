import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { csv, csvField, fileName, json } from "../../src/base/csv";
import { nameColour } from "../../src/base/namecolour";
import { similarNames } from "../../src/base/similarnames";
import {
  breakableParts,
  cutBegin,
  cutEnd,
  decodeAddressPart,
  encodeAddressPart,
  widthInLetters,
  widthOfTwoLines,
  withUnitsBesideFigures,
} from "../../src/base/text";

describe("csv", () => {
  it("quotes texts and no figures", () => {
    expect(
      csv(
        ["a", 'b "x"'],
        [
          ["1,2", null],
          ["line\nbreak", 3.5],
          [true, "plain"],
        ],
      ),
    ).toBe('"a","b ""x"""\r\n"1,2",\r\n"line\nbreak",3.5\r\ntrue,"plain"\r\n');
  });

  const cells = readFileSync(join(import.meta.dirname, "../../../tests/csv_cells.json"), "utf-8");
  it.each(JSON.parse(cells) as [string, string][])("writes %j as the server does", (text, written) => {
    expect(csvField(text)).toBe(written);
  });

  it("leaves negative numbers alone", () => {
    expect(csvField(-1.5)).toBe("-1.5");
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
    expect(similarNames("train/2026_11_2", names).slice(0, 2)).toEqual(["train/2026_11_20", "train/2026_11_21"]);
    expect(similarNames("zzz", names)).toEqual([]);
    expect(similarNames("other".repeat(200), names)).toEqual([]);
  });
});

it("gives a name the same colour everywhere and different names different ones", () => {
  expect(nameColour("MatMul", false)).toBe(nameColour("MatMul", false));
  const names = ["MatMul", "Conv2D", "Cast", "Mul", "Add", "Relu"];
  expect(new Set(names.map((name) => nameColour(name, false))).size).toBe(names.length);
});

describe("texts that are cut", () => {
  const long = `${"a".repeat(39)}\u{1f600}b`;

  it("keep their characters whole", () => {
    expect(cutEnd(long, 40)).toBe("a".repeat(39));
    expect(cutEnd(long, 41)).toBe(`${"a".repeat(39)}\u{1f600}`);
    expect(cutEnd("\u{1f600}", 1)).toBe("");
    expect(cutEnd("ab", 5)).toBe("ab");
    expect(cutBegin("b\u{1f600}cd", 3)).toBe("cd");
    expect(cutBegin("b\u{1f600}cd", 4)).toBe("\u{1f600}cd");
    expect(cutBegin("ab", 5)).toBe("ab");
  });

  it("make addresses, also where only half a character is left", () => {
    expect(decodeAddressPart(encodeAddressPart(long.slice(0, 40)))).toBe(`${"a".repeat(39)}\ufffd`);
    expect(decodeAddressPart(encodeAddressPart(long))).toBe(long);
    expect(["%", "%E0%A4", "50 %25"].map(decodeAddressPart)).toEqual(["%", "%E0%A4", "50 %"]);
  });
});

it("counts letters of Chinese, Japanese and Korean as two", () => {
  expect(["ops", "运算 op", "ステップ", "스텝"].map(widthInLetters)).toEqual([3, 7, 8, 4]);
});

it.each([
  ["Time without a bound", ["Time ", "without ", "a ", "bound"]],
  ["FLOP/byte", ["FLOP/byte"]],
  ["느린 호출 수", ["느린 ", "호출 ", "수"]],
  ["1 ステップあたり", ["1 ", "ステップあたり"]],
  ["解放されない量", ["解放されない量"]],
  ["入力パイプライン", ["入力", "パイプライン"]],
  ["リッジポイント（FLOP/byte）", ["リッジポイント", "（FLOP/byte）"]],
  ["输入流水线", ["输入", "流水线"]],
  ["总占比", ["总占比"]],
])("ends lines of %j only behind its words", (text, parts) => {
  expect(breakableParts(text)).toEqual(parts);
});

it("knows how wide two lines of words are", () => {
  expect(widthOfTwoLines(["合計", "時間", "ms"])).toBe(6);
  expect(widthOfTwoLines(["Time ", "without ", "a ", "bound", "%"])).toBe(13);
  expect(widthOfTwoLines(["count"])).toBe(5);
});

describe("figures in sentences", () => {
  it("stay beside their units", () => {
    expect(withUnitsBesideFigures("9 % of 12.5 ms in 3 steps, 2 MiB, 8 bytes, 4 s")).toBe(
      "9\u00a0% of 12.5\u00a0ms in 3 steps, 2\u00a0MiB, 8 bytes, 4\u00a0s",
    );
  });
});
