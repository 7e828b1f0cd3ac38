import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Plugin } from "vite";

const NOTICE = /^(licen[cs]e|notice|copying|copyright)/i;
const HEAD = "The pages hold code of the packages below, whose notices follow.\n";

interface About {
  name: string;
  version: string;
  license: string;
}

/** What a package's licence asks to be handed on: its notices, and those of code that it holds itself. */
function notices(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as About;
  const inner = join(folder, "licenses");
  const files = [
    ...readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && NOTICE.test(entry.name))
      .map((entry) => join(folder, entry.name)),
    ...(existsSync(inner) ? readdirSync(inner).map((each) => join(inner, each)) : []),
  ].sort();
  if (!files.length) throw new Error(`${name} is bundled and has no licence file: its notices cannot be handed on.`);
  const texts = files.map((file) => readFileSync(file, "utf8").trim());
  return [`${"=".repeat(72)}\n${name} ${version} (${license})`, ...texts].join("\n\n");
}

/** Writes the notices of all packages that have code in a bundle, or in its workers' bundles, into a file beside it. */
export function writeNotices(fileName: string): { page: Plugin; worker: Plugin } {
  const folders = new Set<string>();
  const note = (bundle: Parameters<Extract<Plugin["generateBundle"], (...all: never) => unknown>>[1]) => {
    for (const output of Object.values(bundle)) {
      for (const id of output.type === "chunk" ? output.moduleIds : []) {
        const [folder] = id.match(/^.*\/node_modules\/(?:@[^/]+\/)?[^/]+/) ?? [];
        if (folder) folders.add(folder);
      }
    }
  };
  return {
    page: {
      name: "notices",
      generateBundle(_, bundle) {
        note(bundle);
        const source = `${[HEAD, ...[...folders].sort().map(notices)].join("\n\n")}\n`;
        this.emitFile({ type: "asset", fileName, source });
      },
    },
    worker: { name: "notices of workers", generateBundle: (_, bundle) => note(bundle) },
  };
}
