import { describe, expect, it } from "vitest";
import type { Slab } from "../../src/base/slab";
import { editorAddress, longestPerLane } from "../../src/tools/card/eventorigin";

describe("the card of an op", () => {
  it("opens lines in an editor where their file has a whole path", () => {
    expect(editorAddress("/home/me/my model.py:12 forward")).toBe("vscode://file/home/me/my%20model.py:12");
    expect(editorAddress("C:\\code\\train.py:7 step")).toBe("vscode://file/C%3A/code/train.py:7");
    expect(editorAddress("transformers/models/bert.py:364 forward")).toBe("");
  });

  it("looks at the longest event of each lane, the first lanes first", () => {
    const slab = {
      facts: {},
      arrays: { host: [0, 0, 0, 1, 1], lane: [4, 4, 2, 4, 5], event: [9, 8, 7, 6, 5] },
    } as unknown as Slab;
    expect(longestPerLane(slab)).toEqual(["0.9", "0.7", "1.6"]);
  });
});
