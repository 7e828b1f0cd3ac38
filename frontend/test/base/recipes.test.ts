import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { recipes } from "../../src/base/recipes";

it("offers the loops that README has", () => {
  const readme = readFileSync(join(import.meta.dirname, "../../../README.md"), "utf-8");
  for (const [title, code] of recipes("logs")) expect(readme, title).toContain(code);
});
