import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { afterAll, beforeAll, expect, it } from "vitest";

let folder = "";
const read = (name: string) => readFileSync(join(folder, name), "utf8");
const names = () => readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => /\.\w+$/.test(name));
const gzipped = (some: Iterable<string>) =>
  [...some].reduce((sum, name) => sum + gzipSync(read(name), { level: 9 }).length, 0);

/** The module and everything that it imports statically. */
function closure(name: string, seen = new Set<string>()): Set<string> {
  if (seen.has(name)) return seen;
  seen.add(name);
  for (const [, address = ""] of read(name).matchAll(/(?:from|import)\s*["'](\.[^"']+)["']/g)) {
    closure(new URL(address, `file:///${name}`).pathname.slice(1), seen);
  }
  return seen;
}

const chunk = (start: string) => names().find((name) => name.startsWith(`static/${start}-`)) ?? "";

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tb-profile-bundle-"));
  await build({
    root: join(import.meta.dirname, ".."),
    logLevel: "silent",
    build: { outDir: folder, emptyOutDir: true },
  });
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("has the files that the server knows, and render() among them", () => {
  expect(names()).toEqual(expect.arrayContaining(["index.html", "index.js", join("static", "standalone.js")]));
  expect(read("index.js")).toMatch(/export\s*\{[^}]*\brender\b[^}]*\}/);
  expect(read("index.html")).not.toMatch(/<script(?![^>]*\bsrc=)|\bon\w+=/);
});

it("names no other host; the addresses in it are names of XML vocabularies", () => {
  const loaded = names().filter((name) => name !== "notices.txt");
  const foreign = loaded.flatMap(
    (name) => read(name).match(/(?:https?|wss?):\/\/[^"'`\s)]+|["'`]\/\/\w[^"'`\s]*/g) ?? [],
  );
  expect(foreign.filter((address) => !address.startsWith("http://www.w3.org/"))).toEqual([]);
});

it("hands on the notices of all packages that it holds, also those in workers and inside of others", () => {
  const declared = Object.keys(
    JSON.parse(readFileSync(join(import.meta.dirname, "../package.json"), "utf8")).dependencies,
  );
  const notices = read("notices.txt");
  expect([...notices.matchAll(/^=+\n(\S+) [\d.]+ \(.+\)$/gm)].map(([, name]) => name)).toEqual(
    expect.arrayContaining([...declared, "zrender", "@preact/signals-core"]),
  );
  expect(notices).not.toMatch(/\) vit|vitest|typescript/i);
  for (const told of ["The Apache Software Foundation (https://www.apache.org/).", "Jason Miller", "Mike Bostock"])
    expect(notices).toContain(told);
});

it("makes no code of text and no worker of a blob", () => {
  for (const name of names())
    expect(read(name)).not.toMatch(/\beval\(|new Function\(|new (?:Shared)?Worker\((?!new URL\()/);
});

it("arranges graphs in a worker of its own, which no page loads before it draws one", () => {
  const worker = chunk("graphlayout.worker");
  expect(worker).not.toBe("");
  expect([...closure(chunk("graph_viewer"))]).not.toContain(worker);
  expect(gzipped([worker])).toBeLessThan(20 * 1024);
});

it("loads dialogs and the styles of single pages when they are opened", () => {
  const shell = closure(chunk("mount"));
  expect(chunk("dialogs")).not.toBe("");
  expect([...shell]).not.toContain(chunk("dialogs"));
  const text = [...shell].map(read).join("");
  expect(text).toContain(".stackbar");
  for (const rule of [".graph-frame", ".waterfall", ".told", ".tl-labels"]) expect(text).not.toContain(rule);
});

it("keeps its budget: the shell with a table page 80 KB, the charts 250 KB, any page 40 KB, gzipped", () => {
  const shell = closure("index.js");
  const page = new Set([...shell, ...closure(chunk("generic"))]);
  expect(gzipped(page)).toBeLessThan(80 * 1024);
  expect(gzipped([chunk("echarts")])).toBeLessThan(250 * 1024);
  for (const start of [
    "overview_page",
    "input_pipeline_analyzer",
    "framework_op_stats",
    "pod_viewer",
    "trace_viewer",
    "op_profile",
    "hlo_stats",
    "roofline_model",
    "memory_viewer",
    "graph_viewer",
  ]) {
    const own = [...closure(chunk(start))].filter((name) => !page.has(name));
    expect(own).not.toContain(chunk("echarts"));
    expect(gzipped(own)).toBeLessThan(40 * 1024);
  }
});
