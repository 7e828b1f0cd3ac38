import { render } from "preact";
import { afterEach, beforeEach } from "vitest";

/** Where a test renders to: another one for each test of the file. */
export let root: HTMLElement;

/** Call it once in a file that renders. */
export function withRoot(): void {
  beforeEach(() => {
    root = document.createElement("div");
    document.body.append(root);
  });
  afterEach(() => {
    render(null, root);
    root.remove();
  });
}
