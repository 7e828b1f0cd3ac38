import { expect, it } from "vitest";
import { formatMemory, memoryScale } from "../../src/base/format";
import { mergePoints } from "../../src/tools/memory/usagechart";
import { column, table } from "../table";

it("counts memory by 1024", () => {
  expect([formatMemory(0), formatMemory(512), formatMemory(3_213_240_832), memoryScale(1024).unit]).toEqual([
    "0\u202fB",
    "512\u202fB",
    "2.99\u202fGiB",
    "KiB",
  ]);
});

it("merges points by time without repeating any", () => {
  const points = (times: readonly number[]) =>
    table(
      [column("time_ms"), column("in_use_bytes")],
      times.map((at) => [at, at * 2]),
    );
  expect(mergePoints(points([0, 5, 10]), points([4, 5, 6])).map((row) => row[0])).toEqual([0, 4, 5, 6, 10]);
});
