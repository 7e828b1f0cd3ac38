import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { api, RequestError, routeAddress, setBaseAddress } from "../../src/api/client";

beforeEach(() => setBaseAddress("http://host/prefix/data/plugin/profile/"));
afterEach(() => vi.unstubAllGlobals());

function answer(body: string, status = 200) {
  const fetched = vi.fn(async (_address: string) => new Response(body, { status }));
  vi.stubGlobal("fetch", fetched);
  return fetched;
}

async function problemOf(promise: Promise<unknown>) {
  const error = await promise.then(
    () => null,
    (caught: unknown) => caught,
  );
  expect(error).toBeInstanceOf(RequestError);
  return (error as RequestError).problem;
}

it("asks beside the module and leaves empty parameters out", async () => {
  const fetched = answer("{}");
  await api.answer("a b", "overview_page", "", { step: "", idle: "in" });
  expect(fetched.mock.calls[0]?.[0]).toBe(
    "http://host/prefix/data/plugin/profile/answer?idle=in&run=a+b&tag=overview_page&part=1",
  );
  expect(routeAddress("sessions")).toBe("http://host/prefix/data/plugin/profile/sessions");
});

it("asks for more rows of a table that is here in part, as they are chosen", async () => {
  const column = { id: "op", label: "Op", kind: "string", unit: "", doc: "", depends: [] };
  const part = { label: "", doc: "", rows: 9000, columns: [{ ...column, values: ["a"] }] };
  answer(JSON.stringify({ tool: "t", headline: null, facts: {}, tables: { ops: part }, notes: [] }));
  const ops = (await api.answer("r", "t", "h", { step: "2" })).table("ops");
  expect([ops.total, ops.rows]).toEqual([9000, [["a"]]]);
  const fetched = answer(JSON.stringify({ ...part, rows: 7 }));
  const choice = { sort: [{ id: "op", desc: true }], find: "mat mul", only: { op: "b", place: "x:y" }, columns: {} };
  const kept = ops.withoutText("op", "IDLE");
  const more = await kept.loadRows(choice, 500, 250, new AbortController().signal);
  expect(more).toEqual({ rows: [["a"]], total: 7 });
  const chosen = "sort=-op&find=mat+mul&only=op%3Ab&only=place%3Ax%3Ay&without=op%3AIDLE";
  const where = "http://host/prefix/data/plugin/profile/";
  expect(fetched.mock.calls[0]?.[0]).toBe(
    `${where}rows?step=2&run=r&tag=t&host=h&table=ops&${chosen}&first=500&count=250`,
  );
  expect(kept.rest?.source.file({ ...choice, without: {} }, "json")).toContain("/rows_file?step=2&run=r");
});

it("hands on the server's own problem", async () => {
  const told = { code: "unknown_run", message: "No such run.", remedy: "Choose.", where: "x", severity: "warning" };
  answer(JSON.stringify(told), 404);
  expect(await problemOf(api.tools("x"))).toEqual(told);
});

it("makes a problem of a foreign error page, with its words as details", async () => {
  answer("<html><title>502</title><body>Bad <b>gateway</b></body></html>", 502);
  const problem = await problemOf(api.sessions());
  expect(problem.message).toContain("502");
  expect(problem.where).toContain("Bad gateway");
  expect(problem.where).not.toContain("<");
});

it("makes a problem of a server that is gone", async () => {
  vi.stubGlobal("fetch", async () => Promise.reject(new TypeError("Failed to fetch")));
  expect(await problemOf(api.sessions())).toMatchObject({ code: "unreachable", severity: "error" });
});

it("makes a problem of an answer that is no JSON", async () => {
  answer("{cut");
  expect(await problemOf(api.sessions())).toMatchObject({ code: "bad_answer" });
});

it("says of an answer that is too large how large it is, and what to do", async () => {
  const blob = new Blob(['{"rows":[{"c":[{"v":1}]},{"c', '":[{"v":2}]},{"c":[{"v":"{"}]}]}']);
  Object.defineProperty(blob, "size", { value: 600_000_000 });
  vi.stubGlobal("fetch", async () => ({ ok: true, blob: async () => blob }));
  const { code, message, remedy } = await problemOf(api.answer("r", "kernel_stats", "", {}));
  expect(code).toBe("too_large");
  expect(message).toBe("The answer is too large for a page: 600\u202fMB.");
  expect(remedy).toContain("--format csv");
});
