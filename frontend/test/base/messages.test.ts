import { afterEach, expect, it } from "vitest";
import {
  catalogueKey,
  groupDigits,
  joinNames,
  joinSentences,
  matchLanguage,
  setLanguage,
  t,
} from "../../src/base/messages";

const SHOWN = "{count, plural, one {# row} other {# rows}} of {table}";

afterEach(() => setLanguage("en", {}));

it("puts arguments into English texts, by their number", () => {
  expect(t(SHOWN, { count: 1, table: "Ops" })).toBe("1 row of Ops");
  expect(t(SHOWN, { count: "1 234", table: "Ops" })).toBe("1 234 rows of Ops");
});

it("translates what the catalogue has, and leaves the rest English", () => {
  setLanguage("ko", { [catalogueKey(SHOWN)]: "{table}: {count}개 행" });
  expect(t(SHOWN, { count: 1, table: "Ops" })).toBe("Ops: 1개 행");
  expect(t("{count, plural, one {# op} other {# ops}}", { count: 1 })).toBe("1 op");
});

it("leaves braces alone that name no argument", () => {
  expect(t("{a} {b}", { a: "x" })).toBe("x {b}");
});

it("takes the first wanted language that there is", () => {
  expect(matchLanguage(["de", "zh-Hant-TW", "ko"])).toBe("zh");
  expect(matchLanguage(["de"])).toBe("en");
});

it("marks texts as the server does", () => {
  expect([catalogueKey(""), catalogueKey("Show all"), catalogueKey("“{name}” · 日本語")]).toEqual([
    "811c9d",
    "4c83d",
    "34ac32",
  ]);
});

it("writes numbers, lists and sentences as the language does", () => {
  const written = () => [
    groupDigits("1234567"),
    joinNames(["a", "b"]),
    joinSentences("A.", "", "B."),
    t("{count} rows", { count: 12345 }),
  ];
  expect(written()).toEqual(["1,234,567", "a, b", "A. B.", "12,345 rows"]);
  setLanguage("ja", {});
  expect(written()).toEqual(["1,234,567", "a、b", "A.B.", "12,345 rows"]);
});
