import { signal } from "@preact/signals";
import { expect, it } from "vitest";
import { RequestError } from "../../src/api/client";
import { resource } from "../../src/state/resource";

const tick = () => new Promise((resolve) => setTimeout(resolve, 0));

function delayed() {
  const waiting: { resolve: (value: string) => void; reject: (error: unknown) => void; signal: AbortSignal }[] = [];
  const load = (signal: AbortSignal) =>
    new Promise<string>((resolve, reject) => {
      waiting.push({ resolve, reject, signal });
    });
  return { waiting, load };
}

it("loads, and again for another key; a late answer to the old one is dropped", async () => {
  const key = signal<string | null>(null);
  const { waiting, load } = delayed();
  const { state, dispose } = resource(() => key.value, load);
  expect(state.value).toEqual({ value: null, problem: null, loading: false });
  key.value = "a";
  expect(state.value.loading).toBe(true);
  key.value = "b";
  expect(waiting[0]?.signal.aborted).toBe(true);
  waiting[1]?.resolve("B");
  waiting[0]?.resolve("A");
  await tick();
  expect(state.value).toEqual({ value: "B", problem: null, loading: false });
  dispose();
});

it("keeps the old value while it is fetched again, and when that fails", async () => {
  const { waiting, load } = delayed();
  const { state, refresh, dispose } = resource(() => "a", load);
  waiting[0]?.resolve("A");
  await tick();
  refresh();
  expect(state.value).toMatchObject({ value: "A", loading: true });
  const problem = { code: "c", message: "m", remedy: "", where: "", severity: "error" as const };
  waiting[1]?.reject(new RequestError(problem, 500));
  await tick();
  expect(state.value).toEqual({ value: "A", problem, loading: false });
  dispose();
});

it("tells its own faults with the details", async () => {
  const { state, dispose } = resource(
    () => "a",
    () => Promise.reject(new Error("boom")),
  );
  await tick();
  expect(state.value.problem).toMatchObject({ code: "page" });
  expect(state.value.problem?.where).toContain("boom");
  dispose();
});
