import { signal } from "@preact/signals";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { setBaseAddress } from "../../src/api/client";
import { DEFAULT_FORM } from "../../src/base/captureform";
import { Capture } from "../../src/state/capture";
import type { Store } from "../../src/state/store";

const SILENT = {
  code: "nothing_listens",
  message: "Nothing listens there.",
  remedy: "",
  where: "b:2",
  severity: "error",
};

let answers: Record<string, unknown>;
let sent: [string, string][];
let gone: unknown[];
let listed: string[];
let store: Store;

function job(phase: string, states: Record<string, string>, session = "") {
  const workers = Object.entries(states).map(([address, state]) => ({ address, state, problem: null }));
  return { id: 1, job: { phase, run: "r1", folder: "/logs/r1", session, options: {}, problem: null, workers } };
}

beforeEach(() => {
  sent = [];
  gone = [];
  listed = ["r1"];
  answers = {
    "/config": { hideCaptureProfileButton: false },
    "/capture/ping": { workers: [{ address: "a:1", problem: null }] },
    "/capture/start": job("running", { "a:1": "connecting" }),
    "/capture/state": job("done", { "a:1": "done" }, "r1"),
    "/capture/stop": job("running", { "a:1": "collecting" }),
  };
  localStorage.clear();
  setBaseAddress("http://localhost:3000/");
  vi.stubGlobal("fetch", async (address: string, init?: RequestInit) => {
    const path = new URL(address).pathname;
    if (init?.method === "POST") sent.push([path, String(init.body)]);
    const answer = answers[path] as { status?: number };
    return new Response(JSON.stringify(answer), { status: answer.status ?? 200 });
  });
  const sessions = signal({ value: { sessions: [] as { run: string }[] } });
  const refresh = () => {
    sessions.value = { value: { sessions: listed.map((run) => ({ run })) } };
  };
  store = { sessions: { state: sessions, refresh }, go: (view: unknown) => gone.push(view) } as unknown as Store;
});
afterEach(() => vi.unstubAllGlobals());

async function started(places = "a:1"): Promise<Capture> {
  const capture = new Capture(store, localStorage);
  capture.openDialog();
  capture.form.value = { ...capture.form.value, places };
  await capture.start(false);
  return capture;
}

it("asks who answers, starts, and opens the session", async () => {
  const capture = await started();
  await vi.waitFor(() => expect(gone).toEqual([{ run: "r1", tool: "overview_page", host: "" }]));
  expect(sent.map(([path]) => path)).toEqual(["/capture/ping", "/capture/start"]);
  expect(capture.isAllowed.value).toBe(true);
  expect(capture.isOpen.value).toBe(false);
  expect(new Capture(store, localStorage).form.value.places).toBe("a:1");
});

it("starts with those who answer only when told to, and stays with the outcome", async () => {
  answers["/capture/ping"] = {
    workers: [
      { address: "a:1", problem: null },
      { address: "b:2", problem: SILENT },
    ],
  };
  answers["/capture/state"] = job("done", { "a:1": "done", "b:2": "failed" }, "r1");
  const capture = await started("a:1,b:2");
  expect(sent.map(([path]) => path)).toEqual(["/capture/ping"]);
  expect(capture.pingedWorkers.value?.map((worker) => worker.problem?.code)).toEqual([undefined, "nothing_listens"]);
  await capture.start(true);
  await vi.waitFor(() => expect(capture.job.value?.phase).toBe("done"));
  expect(gone).toEqual([]);
  expect(capture.isOpen.value).toBe(true);
  capture.openSession();
  await vi.waitFor(() => expect(gone).toHaveLength(1));
});

it("asks nobody while a field is wrong, and forgets answers to other addresses", async () => {
  const capture = await started("nowhere");
  expect(sent).toEqual([]);
  answers["/capture/ping"] = { workers: [{ address: "b:2", problem: SILENT }] };
  capture.form.value = { ...capture.form.value, places: "b:2" };
  await capture.start(true);
  expect(capture.pingedWorkers.value).toHaveLength(1);
  capture.form.value = { ...capture.form.value, places: "c:3" };
  expect(capture.pingedWorkers.value).toBeNull();
});

it("shows what the server refuses at its field, and the rest for the whole", async () => {
  const refusal = { code: "run_exists", message: "There is one.", remedy: "Another.", severity: "error", status: 409 };
  answers["/capture/start"] = { ...refusal, where: "run" };
  const capture = await started();
  expect(capture.faults.value).toEqual({ run: "There is one. Another." });
  answers["/capture/start"] = { ...refusal, where: "/logs" };
  await capture.start(false);
  expect(capture.problem.value?.message).toBe("There is one.");
  expect(capture.job.value).toBeNull();
});

it("is not offered where the server forbids it", async () => {
  answers["/config"] = { hideCaptureProfileButton: true };
  const capture = new Capture(store, localStorage);
  await vi.waitFor(() => expect(capture.isAllowed.value).toBe(false));
});

it.each([
  "{broken",
  "null",
  "5",
  '{"form": "abc"}',
  '{"form": {"places": 5}}',
  '{"form": {"duration": null}}',
  '{"form": {"delay": "1e9"}}',
  '{"form": {"host_tracer_level": "99"}}',
  '{"form": {"tpu": "yes"}, "recent": {}}',
  '{"recent": "a:1"}',
  '{"recent": [5, {}, null]}',
])("opens with the usual form where %s was kept", (kept) => {
  localStorage.setItem("tb-profile.capture", kept);
  const { form, faults, recentPlaces } = new Capture(store, localStorage);
  expect([form.value, faults.value, recentPlaces.value]).toEqual([DEFAULT_FORM, {}, []]);
});

it("keeps what is sound, and a session's name for one time only", () => {
  const kept = { form: { ...DEFAULT_FORM, places: "a:1", run: "r9", more: 1 }, recent: ["a:1", 7, "a:1", "b:2"] };
  localStorage.setItem("tb-profile.capture", JSON.stringify(kept));
  const { form, recentPlaces } = new Capture(store, localStorage);
  expect([form.value, recentPlaces.value]).toEqual([{ ...DEFAULT_FORM, places: "a:1" }, ["a:1", "b:2"]]);
});

it("captures where the browser keeps nothing", async () => {
  const full = {
    getItem: () => null,
    setItem: () => {
      throw new DOMException("full", "QuotaExceededError");
    },
  };
  const capture = new Capture(store, full as unknown as Storage);
  capture.form.value = { ...DEFAULT_FORM, places: "a:1" };
  await capture.start(false);
  expect(sent.map(([path]) => path)).toEqual(["/capture/ping", "/capture/start"]);
  expect(new Capture(store, null).form.value).toEqual(DEFAULT_FORM);
});

it("neither starts nor stops inside another server's page", async () => {
  const capture = new Capture(store, localStorage, true);
  capture.openDialog();
  await capture.start(true);
  capture.stop();
  expect(sent).toEqual([]);
});
