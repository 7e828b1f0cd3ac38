import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { assignKeys, listen } from "../../src/app/keys";

const actions = {
  titles: () => ["Overview", "Ops", "Input"],
  openTool: vi.fn(),
  openPicker: vi.fn(),
  focusFilter: vi.fn(),
  toggleHelp: vi.fn(),
};
let stop = () => {};

beforeEach(() => {
  vi.clearAllMocks();
  stop = listen(document, actions);
});
afterEach(() => stop());

function press(key: string, target: EventTarget = document.body, more: KeyboardEventInit = {}) {
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true, ...more }));
}

it("gives each tool a letter of its own", () => {
  expect(assignKeys(["Overview", "Ops", "Input", "Pod", "O"])).toEqual(["o", "p", "i", "d", ""]);
});

it("opens tools by g and a letter or a digit", () => {
  press("g");
  press("p");
  press("g");
  press("3");
  expect(actions.openTool.mock.calls).toEqual([[1], [2]]);
});

it("does not open tools without g, nor ones that do not exist", () => {
  press("p");
  press("g");
  press("9");
  expect(actions.openTool).not.toHaveBeenCalled();
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
