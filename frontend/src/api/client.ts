/** The only place that talks to the server. */

import type { CallSource, WeightedCalls } from "../base/calltree";
import { formatBytes } from "../base/format";
import { writeSort } from "../base/gridcodec";
import { currentLanguage, t } from "../base/messages";
import { errorProblem } from "../base/problem";
import type * as schema from "../base/schema";
import type { Contents, Problem, Progress, Scaled, SessionDetails, SessionList, ToolEntry } from "../base/schema";
import { readSlab, type Slab } from "../base/slab";
import { Answer, type RowChoice, type RowSource } from "../base/table";
import { cutEnd } from "../base/text";

/** A failed request, with what to tell the user. */
export class RequestError extends Error {
  constructor(
    readonly problem: Problem,
    readonly status: number,
  ) {
    super(problem.message);
  }
}

let baseAddress = "./";

/** The folder that index.js came from; the routes lie beside it. */
export function setBaseAddress(address: string): void {
  baseAddress = address;
}

/** Values of parameters; of a list one for each. */
export type Query = Readonly<Record<string, string | readonly string[]>>;

export function routeAddress(route: string, query: Query = {}): string {
  const lang = currentLanguage() === "en" ? "" : currentLanguage();
  const pairs = Object.entries({ lang, ...query }).flatMap(([name, value]) =>
    [value].flat().map((item) => [name, item]),
  );
  const text = new URLSearchParams(pairs.filter(([, value]) => value !== "")).toString();
  return baseAddress + route + (text && `?${text}`);
}

/** Where a module that a tool brings is imported from. */
export function moduleAddress(page: string): string {
  return new URL(baseAddress + page, document.baseURI).href;
}

/** Where answers come from: the server, unless a report holds them. */
type Transport = (where: string, init: RequestInit) => Promise<Response>;

let transport: Transport | null = null;

/** Takes all answers from there, and asks no server. */
export function setTransport(other: Transport): void {
  transport = other;
}

/** Whether this page is a report, which has no server. */
export function isReport(): boolean {
  return transport !== null;
}

function isProblem(value: unknown): value is Problem {
  return typeof value === "object" && value !== null && "code" in value && "message" in value;
}

async function errorOf(response: Response, where: string): Promise<RequestError> {
  const text = await response.text();
  try {
    const value: unknown = JSON.parse(text);
    if (isProblem(value)) {
      return new RequestError({ ...errorProblem("", "", ""), ...value }, response.status);
    }
  } catch {
    // Not ours: a proxy or TensorBoard itself answered; the text goes into the details.
  }
  const words = text.replace(/<[^>]*>/g, " ").replace(/\s+/g, " ");
  const details = cutEnd(words.trim(), 500);
  const message = t("The server answered with status {status}.", { status: response.status });
  return new RequestError(
    errorProblem("bad_answer", message, t("Check the server's log."), `${where} ${details}`.trim()),
    response.status,
  );
}

async function request(where: string, accept: string, signal?: AbortSignal, more: RequestInit = {}): Promise<Response> {
  let response: Response;
  try {
    const init = { headers: { Accept: accept }, ...more, ...(signal && { signal }) };
    response = await (transport ? transport(where, init) : fetch(where, init));
  } catch (error) {
    if (signal?.aborted) throw error;
    const remedy = t("Check that the server still runs and that this page can reach it, then try again.");
    throw new RequestError(errorProblem("unreachable", t("The server does not answer."), remedy, where), 0);
  }
  if (!response.ok) throw await errorOf(response, where);
  return response;
}

async function readBody<T>(take: () => Promise<T>, where: string, signal?: AbortSignal): Promise<T> {
  try {
    return await take();
  } catch (error) {
    if (signal?.aborted || error instanceof RequestError) throw error;
    const remedy = t("Check the server's log and any proxy in between.");
    throw new RequestError(errorProblem("bad_answer", t("The answer could not be read."), remedy, where), 200);
  }
}

/** Browsers hold texts of some 530 MB at most; of longer ones some make an empty one, without a word. */
const MOST_BYTES = 500_000_000;

async function parseJson<T>(response: Response, where: string): Promise<T> {
  const body = await response.blob();
  if (body.size <= MOST_BYTES) return JSON.parse(await body.text()) as T;
  const message = t("The answer is too large for a page: {size}.", { size: formatBytes(body.size) });
  const remedy = t(
    "Choose one host, or save a table as a file: tb-profile tool NAME SESSION --format csv --table TABLE.",
  );
  throw new RequestError(errorProblem("too_large", message, remedy, where), 200);
}

/** JSON from a route; throws a `RequestError`. */
export async function getJson<T>(route: string, query: Query, signal?: AbortSignal): Promise<T> {
  const where = routeAddress(route, query);
  const response = await request(where, "application/json", signal);
  return readBody(() => parseJson<T>(response, where), where, signal);
}

/** Arrays, see docs/http.md. */
export async function getSlab(route: string, query: Query, signal?: AbortSignal): Promise<Slab> {
  const where = routeAddress(route, query);
  const response = await request(where, "application/octet-stream", signal);
  return readBody(async () => readSlab(await response.arrayBuffer()), where, signal);
}

export async function getText(route: string, query: Query): Promise<string> {
  const where = routeAddress(route, query);
  const response = await request(where, "");
  return readBody(() => response.text(), where);
}

/** Sends what changes something; the header shows the server that it comes from a page of its own. */
export function post<T>(route: string, form: Readonly<Record<string, string>>): Promise<T> {
  return send(routeAddress(route), new URLSearchParams(form));
}

/** Joins a session with another, or splits it into its parts; the name of what there is then. */
export function joinOrSplit(run: string, other?: string): Promise<{ run: string }> {
  const query = { run, with: other ?? "" };
  return send(routeAddress(other === undefined ? "split" : "join", query), "");
}

async function send<T>(where: string, body: string | URLSearchParams, signal?: AbortSignal): Promise<T> {
  const headers = { Accept: "application/json", "X-TB-Profile": "1" };
  const response = await request(where, "", signal, { method: "POST", headers, body });
  return readBody(() => parseJson<T>(response, where), where, signal);
}

/** Where the rest of a table is that came in part, and its trees of calls. */
function tableSource(table: Query): RowSource & CallSource {
  const query = ({ sort, find, only, without }: RowChoice) => ({
    ...table,
    sort: writeSort(sort),
    find,
    only: columnFilters(only),
    without: columnFilters(without),
  });
  return {
    rows: (choice, first, count, signal) =>
      getJson<schema.Table>("rows", { ...query(choice), first: `${first}`, count: `${count}` }, signal),
    file: (choice, format) => routeAddress("rows_file", { ...query(choice), format }),
    csv: (choice) => getText("rows_file", { ...query(choice), format: "csv" }),
    calls: ({ weight, inverted }, signal) =>
      getJson<WeightedCalls>("calls", { ...table, weight, inverted: inverted ? "1" : "" }, signal),
    callsFile: (weight, format) => routeAddress("calls", { ...table, weight, format }),
  };
}

function columnFilters(texts: Readonly<Record<string, string>>): string[] {
  return Object.entries(texts).map(([column, text]) => `${column}:${text}`);
}

export const api = {
  sessions: (signal?: AbortSignal) => getJson<SessionList>("sessions", {}, signal),
  session: (run: string, signal?: AbortSignal) => getJson<SessionDetails>("session", { run }, signal),
  tools: (run: string, signal?: AbortSignal) => getJson<ToolEntry[]>("tools", { run }, signal),
  share: (run: string, host: string, signal?: AbortSignal) => getJson<Contents>("share", { run, host }, signal),
  /** Markdown; `steps` are options of the tools: which steps, and what they are. */
  summary: (run: string, steps: Readonly<Record<string, string>>) => getText("share/summary", { run, ...steps }),
  /** The session against a digest that the server does not keep. */
  compare: async (query: Query, digest: string, signal?: AbortSignal) =>
    new Answer(await send<schema.Answer>(routeAddress("compare", query), digest, signal)),
  scaledOp: (query: Query, signal?: AbortSignal) => getJson<Scaled>("scaled_op", query, signal),
  progress: (run: string, signal?: AbortSignal) => getJson<Progress>("progress", { run }, signal),
  answer: async (run: string, tool: string, host: string, options: Query, signal?: AbortSignal) => {
    const query = { ...options, run, tag: tool, host };
    const answer = await getJson<schema.Answer>("answer", { ...query, part: "1" }, signal);
    return new Answer(answer, (table) => tableSource({ ...query, table }));
  },
};
