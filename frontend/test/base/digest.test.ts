import { expect, it } from "vitest";
import { digestIn } from "../../src/base/digest";

const ELEMENT = '<script type="application/json" id="digest">{"a":"\\u003c/script>"}</script>';

it("takes a digest as it is, and that of a report", () => {
  expect(digestIn(' {\n"causes": []}')).toBe(' {\n"causes": []}');
  expect(digestIn(`<!doctype html><p>${ELEMENT}<script>const x = 1;</script>`)).toBe('{"a":"\\u003c/script>"}');
});

it("says what is wrong with other files", () => {
  expect(() => digestIn("<html></html>")).toThrow("This file holds no digest.");
  expect(() => digestIn("")).toThrow("This file holds no digest.");
  expect(() => digestIn(ELEMENT + ELEMENT)).toThrow("This page holds several digests.");
});
