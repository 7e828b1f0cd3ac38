/** Puts the application into the page. */

import { effect } from "@preact/signals";
import { render } from "preact";
import { ALL_PARTS } from "../base/parts";
import { createStore } from "../state/store";
import base from "../view/style/base.css?inline";
import chart from "../view/style/chart.css?inline";
import frame from "../view/style/frame.css?inline";
import menu from "../view/style/menu.css?inline";
import page from "../view/style/page.css?inline";
import state from "../view/style/state.css?inline";
import summary from "../view/style/summary.css?inline";
import table from "../view/style/table.css?inline";
import xla from "../view/style/xla.css?inline";
import { addStyles } from "../view/styles";
import { AppFrame } from "./appframe";

export function mount(): void {
  addStyles([base, frame, menu, page, state, chart, table, xla, summary].join("\n"));
  const store = createStore(window);
  const root = document.documentElement;
  effect(() => {
    root.dataset.theme = store.theme.value;
    for (const part of ALL_PARTS) {
      root.style.setProperty(`--part-${part.id}`, store.theme.value === "dark" ? part.dark : part.light);
    }
  });
  const container = document.createElement("div");
  container.className = "app";
  document.body.append(container);
  render(<AppFrame store={store} />, container);
}
