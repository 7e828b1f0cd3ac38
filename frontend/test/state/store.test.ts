import { Window as Browser } from "happy-dom";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { setBaseAddress } from "../../src/api/client";
import { createStore, type Store } from "../../src/state/store";

const tick = () => new Promise((resolve) => setTimeout(resolve, 5));

function session(run: string, hosts: string[], modified = 1) {
  return { run, folder: `/logs/${run}`, modified, hosts, size: 10, facts: null, parts: [] as string[] };
}

function tool(name: string, all_hosts: boolean, params: string[] = [], shown_on = "") {
  const listed = params.map((param) => ({ name: param, default: "", doc: "", choices: [] }));
  return { name, title: name, doc: "", order: 0, all_hosts, params: listed, shown_on, unavailable: null };
}

let sessions = [session("new", ["h1", "h2"]), session("old", ["h1"])];
let asked: URL[] = [];
/** A browser window of its own per test: stores of other tests must not hear of it. */
let own: Window & typeof globalThis;

beforeEach(() => {
  own = new Browser({ url: "http://localhost:3000/" }) as unknown as typeof own;
  sessions = [session("new", ["h1", "h2"]), session("old", ["h1"])];
  asked = [];
  setBaseAddress("http://localhost:3000/");
  vi.stubGlobal("fetch", async (address: string) => {
    const url = new URL(address);
    asked.push(url);
    const run = url.searchParams.get("run");
    const answers: Record<string, unknown> = {
      "/sessions": {
        logdir: "/logs",
        searched: [],
        found: { event_files: 0, captures: 2, near_misses: [], dumps: [] },
        sessions,
      },
      "/session": { ...sessions.find((entry) => entry.run === run), problems: [] },
      "/tools": [
        tool("overview_page", true, ["rule"]),
        tool("one_host", false),
        tool("other", true, ["rule"]),
        tool("causes", true, [], "overview_page"),
      ],
      "/answer": { tool: run, headline: null, facts: {}, tables: {}, notes: [] },
      "/progress": { busy: false, hosts: [], computing: [] },
    };
    return new Response(JSON.stringify(answers[url.pathname]));
  });
});
afterEach(() => vi.unstubAllGlobals());

const dataRequests = () => asked.filter((url) => url.pathname === "/answer").map((url) => url.search);

async function started(): Promise<Store> {
  const store = createStore(own);
  await tick();
  return store;
}

it("opens the newest session's Summary over all hosts", async () => {
  const store = await started();
  expect(store.view.value).toMatchObject({ run: "new", tool: "overview_page" });
  expect(store.answer.state.value.value?.tableIds).toEqual([]);
  expect(dataRequests()).toEqual(["?run=new&tag=overview_page&host=ALL_HOSTS&part=1"]);
});

it("chooses a host for a tool that shows one at a time", async () => {
  const store = await started();
  store.go({ tool: "one_host" });
  await tick();
  expect(store.host.value).toBe("h1");
  store.go({ host: "h2" });
  await tick();
  expect(dataRequests().slice(1)).toEqual([
    "?run=new&tag=one_host&host=h1&part=1",
    "?run=new&tag=one_host&host=h2&part=1",
  ]);
});

it("asks anew for the server's options only, not for the page's own", async () => {
  const store = await started();
  store.replace({ options: { slider: "3" } });
  await tick();
  expect(dataRequests().length).toBe(1);
  store.go({ options: { slider: "3", rule: "x" } });
  await tick();
  expect(dataRequests()[1]).toBe("?rule=x&run=new&tag=overview_page&host=ALL_HOSTS&part=1");
});

it("takes options that several tools know along to every page, and back again", async () => {
  const store = await started();
  store.go({ options: { slider: "3", rule: "x" } });
  store.go({ tool: "one_host", options: { own: "1" } });
  expect(store.view.value.options).toEqual({ rule: "x", own: "1" });
  store.go({ tool: "other" });
  expect(store.view.value.options).toEqual({ rule: "x" });
  store.go({ options: {} });
  expect(store.view.value.options).toEqual({});
});

it("shows a tool without a page of its own on the page that it names, and asks it beside that", async () => {
  own.location.hash = "#run=new&tool=causes";
  const store = await started();
  expect(store.tool.value?.name).toBe("overview_page");
  expect(dataRequests()).toEqual(["?run=new&tag=overview_page&host=ALL_HOSTS&part=1"]);
  const beside = store.loadAnswerOf("causes");
  await tick();
  expect(dataRequests()[1]).toBe("?run=new&tag=causes&host=ALL_HOSTS&part=1");
  expect(beside.state.value.value).not.toBeNull();
  beside.dispose();
});

it("never shows another session than the wanted one", async () => {
  own.location.hash = "#run=nosuch";
  const store = await started();
  expect(store.view.value.run).toBe("nosuch");
  expect(store.session.value).toBeUndefined();
  expect(dataRequests()).toEqual([]);
});

it("finds the session into which the wanted one was joined", async () => {
  sessions = [{ ...session("first", ["h1", "h2"]), parts: ["first", "second"] }];
  const store = await started();
  store.go({ run: "second" });
  await tick();
  expect(store.session.value?.run).toBe("first");
});

it("shows new sessions after a reload and stays where it is", async () => {
  const store = await started();
  sessions = [session("newer", ["h1"], 2), ...sessions];
  store.reload();
  await tick();
  expect(store.sessions.state.value.value?.sessions[0]?.run).toBe("newer");
  expect(store.view.value.run).toBe("new");
  expect(dataRequests().length).toBe(1);
});

it("asks again when the files of the shown session have changed", async () => {
  const store = await started();
  sessions = [session("new", ["h1", "h2"], 5)];
  store.reload();
  await tick();
  expect(dataRequests().length).toBe(2);
});
