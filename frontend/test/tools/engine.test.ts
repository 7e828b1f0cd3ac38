import { expect, it, vi } from "vitest";
import { RequestError } from "../../src/api/client";
import { Engine } from "../../src/tools/timeline/engine";

const { signal } = new AbortController();
const fault = (code: string) => new RequestError({ code, message: "", remedy: "", where: "", severity: "error" }, 404);

/** An engine as far as it asks for details: `event` answers before the idle lanes are shown. */
function engine(event: () => Promise<unknown>, idleLanes: Promise<void> | null) {
  const scene = { api: { event: vi.fn(event), hasIdleLanes: false } };
  const loaded = vi.fn(async () => "details");
  const withLanes = idleLanes?.then(() => {
    scene.api = { event: loaded, hasIdleLanes: true } as never;
  });
  const made = { scene, idleLanes: withLanes ?? null };
  return { loaded, details: () => Engine.prototype.loadDetails.call(made as never, "0.9", signal) };
}

it("asks again for an event of lanes that are still to come", async () => {
  const { details } = engine(() => Promise.reject(fault("no_such_event")), Promise.resolve());
  expect(await details()).toBe("details");
});

it("asks only once where the request failed otherwise, or no lanes are to come", async () => {
  const other = engine(() => Promise.reject(fault("internal")), Promise.resolve());
  await expect(other.details()).rejects.toMatchObject({ problem: { code: "internal" } });
  expect(other.loaded).not.toHaveBeenCalled();
  const none = engine(() => Promise.reject(fault("no_such_event")), null);
  await expect(none.details()).rejects.toMatchObject({ problem: { code: "no_such_event" } });
});

it("tells why the lanes did not come", async () => {
  const { details } = engine(() => Promise.reject(fault("no_such_event")), Promise.reject(fault("unreachable")));
  await expect(details()).rejects.toMatchObject({ problem: { code: "unreachable" } });
});
