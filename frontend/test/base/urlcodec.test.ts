import { describe, expect, it } from "vitest";
import {
  activePlugin,
  EMPTY_VIEW,
  keyPrefix,
  parseView,
  sameView,
  standaloneHash,
  tensorBoardHash,
} from "../../src/base/urlcodec";

const VIEW = {
  run: "train/2026 run+1&a=b",
  tool: "overview_page",
  host: "10.0.0.1:6003",
  base: "",
  lang: "",
  options: { step: "7" },
};

describe("the standalone hash", () => {
  it("comes back as it was written", () => {
    expect(parseView(standaloneHash(VIEW))).toEqual(VIEW);
  });

  it("stays readable and carries its version", () => {
    expect(standaloneHash({ ...EMPTY_VIEW, run: "train/a:b" })).toBe("#v=1&run=train/a:b");
  });

  it("takes a broken escape literally", () => {
    expect(parseView("#run=50%").run).toBe("50%");
  });

  it("takes a plus for a plus", () => {
    expect(parseView("#run=a+b").run).toBe("a+b");
  });
});

describe("inside TensorBoard", () => {
  it("reads only its own keys", () => {
    const view = parseView("#profile&p.profile.run=a&p.other.run=b&run=c", keyPrefix("profile"));
    expect(view).toEqual({ ...EMPTY_VIEW, run: "a" });
  });

  it("keeps the plugin first and the keys of others", () => {
    const hash = "#profile&p.profile.run=old&p.scalars.x=1&tagFilter=loss&flag";
    expect(tensorBoardHash(hash, "profile", { ...EMPTY_VIEW, run: "new" })).toBe(
      "#profile&p.profile.v=1&p.profile.run=new&p.scalars.x=1&tagFilter=loss&flag",
    );
  });

  it("survives the round through its hash", () => {
    expect(parseView(tensorBoardHash("#profile", "profile", VIEW), keyPrefix("profile"))).toEqual(VIEW);
  });

  it("knows which plugin is shown", () => {
    expect(activePlugin("#scalars&p.profile.run=a")).toBe("scalars");
    expect(activePlugin("#tagFilter=loss")).toBe("");
    expect(activePlugin("")).toBe("");
  });
});

describe("older links", () => {
  it("understands xprof's names", () => {
    expect(parseView("?run=a&tag=trace_viewer@&host=h")).toEqual({
      run: "a",
      tool: "trace_viewer",
      host: "h",
      base: "",
      lang: "",
      options: {},
    });
  });

  it("leaves tag to the tool once the link is of this version", () => {
    expect(parseView("#v=1&run=a&tool=t&tag=x").options).toEqual({ tag: "x" });
  });
});

it("compares views by what they mean", () => {
  expect(sameView(VIEW, { ...VIEW, options: { step: "7", empty: "" } })).toBe(true);
  expect(sameView(VIEW, { ...VIEW, host: "" })).toBe(false);
});
