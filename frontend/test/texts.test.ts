import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { type Node, type SourceFile, SyntaxKind } from "typescript/unstable/ast";
import * as is from "typescript/unstable/ast/is";
import { API } from "typescript/unstable/sync";
import { afterAll, describe, expect, it } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const SRC = join(ROOT, "src");

const compiler = new API({ cwd: ROOT });
const program = compiler.updateSnapshot({ openProjects: [join(ROOT, "tsconfig.json")] }).getProjects()[0]?.program;
const sources = (program?.getSourceFileNames() ?? [])
  .filter((name) => name.startsWith(SRC) && !name.endsWith(".d.ts"))
  .flatMap((name) => program?.getSourceFile(name) ?? []);
afterAll(() => compiler.close());

/** Attributes, properties and arguments of components that people see. */
const SEEN = new Set(
  "alt aria-label aria-valuetext data-tip placeholder title label tip doc note text what message remedy".split(" "),
);
/** What is the same in every language: names, units, keys, and what stands for a text in code. */
const SAME =
  /^(?:Python|Keras|TPUs?|JAX|PyTorch\/XLA|ms|GFLOP\/s|GiB\/s|FLOP\/byte|speedscope|pprof|Esc|Δ|σ|my-tpu|host1:6009, host2:6009|\(?\.[a-z.]+\)?)$/;
const hasWords = (text: string) => /\p{L}{2}/u.test(text) && !SAME.test(text.trim());

function* all(node: Node): Generator<Node> {
  yield node;
  const children: Node[] = [];
  node.forEachChild((child) => {
    children.push(child);
  });
  for (const child of children) yield* all(child);
}

const isMessage = (node: Node): node is Node & { arguments: readonly Node[] } =>
  is.isCallExpression(node) && is.isIdentifier(node.expression) && node.expression.text === "t";

/** Literals that an expression may have as its value. */
function* literals(node: Node | undefined): Generator<string> {
  if (!node) return;
  if (is.isStringLiteral(node) || is.isNoSubstitutionTemplateLiteral(node)) yield node.text;
  else if (is.isTemplateExpression(node)) {
    yield node.head.text;
    for (const span of node.templateSpans) yield span.literal.text;
  } else if (is.isConditionalExpression(node)) {
    yield* literals(node.whenTrue);
    yield* literals(node.whenFalse);
  } else if (is.isBinaryExpression(node)) {
    if (node.operatorToken.kind !== SyntaxKind.EqualsEqualsEqualsToken) yield* literals(node.right);
    if (node.operatorToken.kind === SyntaxKind.PlusToken) yield* literals(node.left);
  } else if (is.isJsxExpression(node) || is.isParenthesizedExpression(node)) yield* literals(node.expression);
}

const called = (name: Node) => ("text" in name ? String(name.text) : "");

/** What people see of a file that is no message. */
function loose(file: SourceFile): string[] {
  const found: string[] = [];
  for (const node of all(file)) {
    if (is.isJsxText(node)) found.push(node.text);
    else if (is.isJsxAttribute(node) && SEEN.has(called(node.name))) found.push(...literals(node.initializer));
    else if (is.isPropertyAssignment(node) && SEEN.has(called(node.name))) found.push(...literals(node.initializer));
    else if (is.isJsxElement(node) || is.isJsxFragment(node)) {
      for (const child of node.children) if (is.isJsxExpression(child)) found.push(...literals(child));
    } else if (is.isStringLiteral(node) && isSentence(node)) found.push(node.text);
    else if (is.isTemplateExpression(node) && isSentence(node)) found.push(...literals(node));
  }
  return found.filter(hasWords);
}

/** Capital first, words with blanks between: what is said, and no message, type, class or code. */
function isSentence(node: Node): boolean {
  const text = [...literals(node)].join("x");
  if (!/^[A-Z“][\p{L}\p{N},;:.“”’' -]* [\p{L}“][\p{L}\p{N},;:.“”’' -]*$/u.test(text)) return false;
  const around = node.parent;
  const isThrown = is.isNewExpression(around);
  // Names are data; what readers read of them is a label.
  const isName = is.isPropertyAssignment(around) && called(around.name) === "name";
  const isFont = /Sans|Arial|Gothic/.test(text);
  return !isMessage(around) && !is.isLiteralTypeNode(around) && !isThrown && !isName && !isFont && hasWords(text);
}

/** Names in braces of a message. */
const slots = (text: string) => [...text.matchAll(/\{(\w+)(?=[,}])/g)].map(([, name = ""]) => name);

/** Names of what a call gives: undefined where that is no list of names in the code. */
function given(node: Node | undefined): string[] | undefined {
  if (!node) return [];
  if (!is.isObjectLiteralExpression(node) || node.properties.some((property) => is.isSpreadAssignment(property)))
    return;
  return node.properties.map((property) => ("name" in property && property.name ? called(property.name) : ""));
}

/** Messages whose arguments are not those that are given. */
function misgiven(file: SourceFile): string[] {
  const found: string[] = [];
  for (const node of all(file)) {
    if (!isMessage(node)) continue;
    const [literal, values] = node.arguments;
    if (!literal || !is.isStringLiteral(literal)) {
      found.push(`${file.text.slice(node.pos, node.end).trim()} is no literal`);
      continue;
    }
    const around = is.isConditionalExpression(node.parent) ? node.parent.parent : node.parent;
    const isSlotted =
      is.isCallExpression(around) && is.isIdentifier(around.expression) && around.expression.text === "withElements";
    const names = [given(values), isSlotted ? given(around.arguments[1]) : []];
    if (names.some((some) => some === undefined)) continue;
    const [wanted, got] = [new Set(slots(literal.text)), new Set(names.flatMap((some) => some ?? []))];
    if ([...wanted].sort().join() !== [...got].sort().join()) found.push(`${literal.text}: ${[...got].join(", ")}`);
  }
  return found;
}

it("sees sources", () => {
  expect(sources.length).toBeGreaterThan(150);
});

describe.each(sources.map((file) => [relative(SRC, file.fileName), file] as const))("%s", (_, file) => {
  it("says nothing that is no message", () => {
    expect(loose(file)).toEqual([]);
  });

  it("gives messages their arguments", () => {
    expect(misgiven(file)).toEqual([]);
  });
});

/** A module and what it imports before anything of it runs. */
function closure(name: string, seen = new Map<string, SourceFile>()): ReadonlyMap<string, SourceFile> {
  const file = [".ts", ".tsx", ""].flatMap((end) => sources.find(({ fileName }) => fileName === name + end) ?? [])[0];
  if (!file || seen.has(file.fileName)) return seen;
  seen.set(file.fileName, file);
  for (const [, path = ""] of readFileSync(file.fileName, "utf8").matchAll(
    /^(?:import|export) (?!type)[^;]*from "(\.[^"]+)"/gm,
  ))
    closure(resolve(dirname(file.fileName), path), seen);
  return seen;
}

/** Messages that are made as the module is loaded. */
function early(node: Node): string[] {
  if (is.isFunctionLikeDeclaration(node)) return [];
  const found = isMessage(node) && node.arguments[0] ? [...literals(node.arguments[0])] : [];
  node.forEachChild((child) => {
    found.push(...early(child));
  });
  return found;
}

it.each(["app/index.tsx", "app/report.tsx"])("%s makes no text before the language is known", (entry) => {
  const loaded = closure(join(SRC, entry));
  expect(loaded.size).toBeGreaterThan(5);
  expect([...loaded.values()].flatMap(early)).toEqual([]);
});
