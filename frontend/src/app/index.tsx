/** The entry: TensorBoard imports this module and calls `render()`; the standalone page does the same. */

import { setBase } from "../api/client";
import { mount } from "./mount";

export function render(): void {
  const here = import.meta.url; // Apart from the line below, or the bundler takes the folder for an asset.
  setBase(new URL("./", here).href);
  mount();
}
