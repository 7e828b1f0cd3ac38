import { describe, expect, it } from "vitest";
import type { Problem } from "../../src/base/schema";
import { doubtsOf } from "../../src/state/doubts";

function problem(code: string, affects: string[], where = "", severity: Problem["severity"] = "warning"): Problem {
  return { code, message: `${code}.`, remedy: "", where, severity, affects };
}

describe("what findings make doubtful", () => {
  it("is known by name, with the worst finding first", () => {
    const found = doubtsOf([problem("one", ["a", "b"], "", "info"), problem("two", ["b"])], "ALL_HOSTS", [], false);
    expect([...found.keys()].sort()).toEqual(["a", "b"]);
    expect(found.get("b")?.map(({ code }) => code)).toEqual(["two", "one"]);
  });

  it("suffer on the hosts that a finding names, and everywhere where it names no host", () => {
    const cut = problem("cut", ["a"], "w0, w1");
    const hosts = ["w0", "w1", "w2"];
    expect(doubtsOf([cut], "w1", hosts, false).size).toBe(1);
    expect(doubtsOf([cut], "w2", hosts, false).size).toBe(0);
    expect(doubtsOf([cut], "ALL_HOSTS", hosts, false).size).toBe(1);
    expect(doubtsOf([problem("cut", ["a"], "w0, w1, w3 and 9 more")], "w2", hosts, false).size).toBe(1);
    expect(doubtsOf([problem("damaged", ["a"], "/logs/x.xplane.pb")], "w2", hosts, false).size).toBe(1);
  });

  it("are those of the steps that were found, not of steps that the reader chose", () => {
    const both = [problem("no_steps", ["a"]), problem("damaged_capture", ["b"])];
    expect([...doubtsOf(both, "h", ["h"], true).keys()]).toEqual(["b"]);
  });
});
