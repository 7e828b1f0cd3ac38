import { expect, it } from "vitest";
import { contentRows } from "../../src/app/sharedialog";
import type { Contents } from "../../src/base/schema";

const NOTHING: Contents = {
  host: "vm",
  alias: "host-1",
  size: 10,
  recorded_ns: 0,
  hosts: [],
  users: [],
  addresses: [],
  source_stats: 0,
  programs: [],
  events: 3,
  file: "vm.xplane.pb",
  kept: "",
};

it("tells what is there, and nothing of what is not", () => {
  expect(contentRows(NOTHING).map(({ kind }) => kind)).toEqual(["Hosts", "Names of ops, kernels and threads"]);
  const users = Array.from({ length: 10 }, (_, place) => `u${place}`);
  const rows = contentRows({ ...NOTHING, users, programs: ["jit_step"], recorded_ns: 1.7e18, source_stats: 1 });
  expect(rows.find(({ kind }) => kind.startsWith("User names"))?.values).toBe(
    "u0, u1, u2, u3, u4, u5, u6, u7 and 2 more",
  );
  expect(rows.filter(({ staysWhenRedacted }) => staysWhenRedacted).map(({ kind }) => kind)).toEqual([
    "Recorded",
    "Names of ops, kernels and threads",
  ]);
});
