import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { groupLetters, listenToKeys } from "../../src/app/keys";

const actions = {
  groups: () => [
    { id: "Summary", pages: 1 },
    { id: "Ops", pages: 3 },
    { id: "Input", pages: 1 },
  ],
  openGroup: vi.fn(),
  openPage: vi.fn(),
  openPicker: vi.fn(),
  focusFilter: vi.fn(),
  toggleHelp: vi.fn(),
};
let stop = () => {};

beforeEach(() => {
  vi.clearAllMocks();
  stop = listenToKeys(document, actions);
});
afterEach(() => stop());

function press(key: string, target: EventTarget = document.body, more: KeyboardEventInit = {}) {
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
}

it("gives each group a letter of its own", () => {
  expect(groupLetters(["Summary", "Ops", "Steps", "Memory", "S"])).toEqual(["s", "o", "t", "m", ""]);
});

it("opens groups by g and a letter, and their pages by a digit after that", () => {
  press("g");
  press("o");
  press("3");
  press("g");
  press("i");
  expect(actions.openGroup.mock.calls).toEqual([[1], [2]]);
  expect(actions.openPage.mock.calls).toEqual([[2]]);
});

it("does not open groups without g, nor pages that do not exist, nor pages of no group", () => {
  press("o");
  press("g");
  press("9");
  press("g");
  press("o");
  press("4");
  press("2");
  expect(actions.openGroup.mock.calls).toEqual([[1]]);
  expect(actions.openPage).not.toHaveBeenCalled();
});

it("leaves typing and the browser's own keys alone", () => {
  const input = document.createElement("input");
  document.body.append(input);
  press("?", input);
  press("/", document.body, { ctrlKey: true });
  input.remove();
  expect(actions.toggleHelp).not.toHaveBeenCalled();
  expect(actions.focusFilter).not.toHaveBeenCalled();
  press("?");
  press("/");
  press("s");
  expect([actions.toggleHelp, actions.focusFilter, actions.openPicker].map((act) => act.mock.calls.length)).toEqual([
    1, 1, 1,
  ]);
});
