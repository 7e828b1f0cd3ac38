import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { address, api, RequestError, setBase } from "../../src/api/client";

beforeEach(() => setBase("http://host/prefix/data/plugin/profile/"));
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
    "http://host/prefix/data/plugin/profile/answer?idle=in&run=a+b&tag=overview_page",
  );
  expect(address("sessions")).toBe("http://host/prefix/data/plugin/profile/sessions");
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
