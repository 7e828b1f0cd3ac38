import { describe, expect, it } from "vitest";
import type { SessionEntry } from "../../src/api/types";
import { sessionBefore } from "../../src/tools/compare/base";

function session(run: string, modified: number, device = "", hosts = ["host"]): SessionEntry {
  const facts = device ? { device, steps: 1, duration_ms: 1, events: 1 } : null;
  return { run, folder: run, modified, hosts, size: 1, facts, parts: [] };
}

const NEW = session("bert/today", 100, "GPU");

describe("the session that a comparison suggests", () => {
  it("is the last one before, of the same folder first", () => {
    const others = [session("bert/first", 10), session("bert/second", 20), session("bert/later", 200)];
    expect(sessionBefore(NEW, others)?.run).toBe("bert/second");
    expect(sessionBefore(NEW, [...others, session("gpt/first", 90)])?.run).toBe("bert/second");
    expect(sessionBefore(NEW, [session("gpt/first", 90)])?.run).toBe("gpt/first");
  });

  it("has as many hosts and, where both are known, the same device", () => {
    expect(sessionBefore(NEW, [session("bert/two", 50, "GPU", ["a", "b"])])).toBeUndefined();
    expect(sessionBefore(NEW, [session("bert/cpu", 50, "CPU"), session("bert/gpu", 40, "GPU")])?.run).toBe("bert/gpu");
  });

  it("is none where all others are later", () => {
    expect(sessionBefore(NEW, [session("bert/later", 200)])).toBeUndefined();
  });
});
