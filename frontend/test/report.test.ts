import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { afterAll, beforeAll, expect, it } from "vitest";
import { answerKey, embeddedTransport, unpackAnswers } from "../src/api/embedded";

let folder = "";
const bundle = () => readFileSync(join(folder, "report.js"), "utf8");

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "tb-profile-report-"));
  const root = join(import.meta.dirname, "..");
  const configFile = join(root, "vite.report.config.ts");
  await build({ root, configFile, logLevel: "silent", build: { outDir: folder } });
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

it("is one file that loads nothing and ends no element", () => {
  expect(readdirSync(folder).sort()).toEqual(["report.js", "report.notices.txt"]);
  expect(bundle()).not.toMatch(/<\/script|<!--/i);
  expect(bundle()).not.toMatch(/\bimport\s*["'(]\s*["']/);
  const foreign = bundle().match(/(?:https?|wss?):\/\/[^"'`\s)]+/g) ?? [];
  expect(foreign.filter((address) => !address.startsWith("http://www.w3.org/"))).toEqual([]);
});

it("has its notices beside it, the graphs' layout among them", () => {
  const notices = readFileSync(join(folder, "report.notices.txt"), "utf8");
  for (const name of ["echarts", "zrender", "preact", "@dagrejs/dagre"]) expect(notices).toContain(`\n${name} `);
});

it("keeps its budget: 400 KB, gzipped", () => {
  expect(gzipSync(bundle(), { level: 9 }).length).toBeLessThan(400 * 1024);
});

it("finds an answer whatever the order of the parameters", async () => {
  expect(answerKey("./answer?tag=why&run=a%26b+c&part=1")).toBe(
    '["answer",[["part","1"],["run","a&b c"],["tag","why"]]]',
  );
  expect(answerKey("./sessions?lang=ko")).toBe('["sessions",[]]');
  const packed = gzipSync(JSON.stringify({ '["sessions",[]]': { a: "é" } })).toString("base64");
  expect(await unpackAnswers(`\n${packed}\n`)).toEqual({ '["sessions",[]]': { a: "é" } });
  const ask = embeddedTransport(packed);
  expect(await (await ask("./sessions")).json()).toEqual({ a: "é" });
  const missing = await ask("./sessions?run=x");
  expect(missing.status).toBe(404);
  expect(await missing.json()).toMatchObject({ code: "not_in_report" });
});
