import { describe, expect, it } from "vitest";
import { type CellValue, Table } from "../../src/base/datatable";
import { memory, memoryScale } from "../../src/base/format";
import { arranged, groupBy, tensorCoreUse } from "../../src/tools/kernels/model";
import { merged } from "../../src/tools/memory/course";

function table(ids: readonly string[], rows: readonly (readonly CellValue[])[]): Table {
  return new Table({
    cols: ids.map((id, place) => ({ id, label: id, type: typeof rows[0]?.[place] === "number" ? "number" : "string" })),
    rows: rows.map((cells) => ({ c: cells.map((v) => ({ v })) })),
  });
}

const KERNELS = table(
  [
    "rank",
    "kernel_name",
    "is_op_tensor_core_eligible",
    "is_kernel_using_tensor_core",
    "op_name",
    "occurrences",
    "total_duration_us",
    "min_duration_us",
    "max_duration_us",
    "share",
    "library",
    "dtype",
  ],
  [
    [1, "gemm", true, true, "a/MatMul", 2, 60, 20, 40, 0.6, "cuBLAS", "bf16"],
    [2, "gemm", true, true, "b/MatMul", 1, 30, 30, 30, 0.3, "cuBLAS", "bf16"],
    [3, "add", false, false, "a/MatMul", 5, 10, 1, 4, 0.1, "XLA", ""],
  ],
);

describe("groupBy", () => {
  const rows = (by: "kernel_name" | "op_name") => {
    const grouped = groupBy(KERNELS, by);
    return grouped.rows.map((row) =>
      [
        by,
        "total_duration_us",
        "occurrences",
        "avg_duration_us",
        "min_duration_us",
        "max_duration_us",
        "used",
        "others",
        "library",
      ].map((id) => grouped.cell(row, id)),
    );
  };

  it("sums by kernel", () => {
    expect(rows("kernel_name")).toEqual([
      ["gemm", 90, 3, 30, 20, 40, 1, 2, "cuBLAS"],
      ["add", 10, 5, 2, 1, 4, 0, 1, "XLA"],
    ]);
  });

  it("sums more kernels than a call takes arguments", () => {
    const ids = ["kernel_name", "op_name", "min_duration_us", "max_duration_us"];
    const rows = Array.from({ length: 200_000 }, (_, place) => [`k${place}`, "a/MatMul", 1 + place, 2 + place]);
    const grouped = groupBy(table(ids, rows), "op_name");
    const [row] = grouped.rows;
    expect(row && [grouped.cell(row, "min_duration_us"), grouped.cell(row, "max_duration_us")]).toEqual([1, 200_001]);
  });

  it("sums by op, with the share of time on tensor cores", () => {
    expect(rows("op_name")[0]).toEqual(["a/MatMul", 70, 7, 10, 1, 40, 60 / 70, 2, "cuBLAS, XLA"]);
  });
});

it("puts what people look at first, and loses no column", () => {
  const shown = arranged(KERNELS).columns.map(({ id }) => id);
  expect(shown.slice(0, 4)).toEqual(["rank", "kernel_name", "total_duration_us", "share"]);
  expect([...shown].sort()).toEqual(KERNELS.columns.map(({ id }) => id).sort());
});

it("tells unused tensor cores from useless ones", () => {
  const said = [...KERNELS.rows, ["", "", true, false], ["", "", false, null]].map((row) =>
    tensorCoreUse(KERNELS, row),
  );
  expect(said.slice(2)).toEqual(["No use for them", "Not used by a matrix product or convolution", "Not known"]);
});

it("counts memory by 1024", () => {
  expect([memory(0), memory(512), memory(3_213_240_832), memoryScale(1024).unit]).toEqual([
    "0\u202fB",
    "512\u202fB",
    "2.99\u202fGiB",
    "KiB",
  ]);
});

it("merges points by time without repeating any", () => {
  const points = (times: readonly number[]) =>
    table(
      ["time_ms", "in_use_bytes"],
      times.map((at) => [at, at * 2]),
    );
  expect(merged(points([0, 5, 10]), points([4, 5, 6])).map((row) => row[0])).toEqual([0, 4, 5, 6, 10]);
});
