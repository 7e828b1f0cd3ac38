/** The entry: TensorBoard imports this module and calls `render()`; the standalone page does the same. */

import { setBaseAddress } from "../api/client";
import { loadLanguage } from "../state/language";

export async function render(): Promise<void> {
  const here = import.meta.url; // Apart from the line below, or the bundler takes the folder for an asset.
  setBaseAddress(new URL("./", here).href);
  await loadLanguage(window);
  // Texts of the page are made as its modules are loaded.
  const { mount } = await import("./mount");
  mount();
}
