/** The current view as a signal, kept equal to the address bar. */

import { type ReadonlySignal, signal } from "@preact/signals";
import {
  activePlugin,
  EMPTY_VIEW,
  keyPrefix,
  parseView,
  sameView,
  standaloneHash,
  tensorBoardHash,
  type View,
} from "../base/urlcodec";
import type { Frame } from "./frame";

export interface ViewState {
  readonly view: ReadonlySignal<View>;
  /** Changes the view, with an entry in the browser's history. Another session or tool drops the tool's options. */
  go(change: Partial<View>): void;
  /** Changes the view without an entry: for a default that is filled in, or a control being dragged. */
  replace(change: Partial<View>): void;
  /** A link to a view, for anchors that open in a new tab as well. */
  href(change: Partial<View>): string;
  /** Writes the view again, after TensorBoard has shown another plugin meanwhile. */
  restore(): void;
  dispose(): void;
}

function merge(view: View, change: Partial<View>): View {
  const moved = (change.run ?? view.run) !== view.run || (change.tool ?? view.tool) !== view.tool;
  return { ...view, options: moved ? {} : view.options, ...change };
}

/** The view that the address names; xprof wrote `?run=…&tag=…` into TensorBoard's own, and such links still work. */
export function addressedView({ plugin, window }: Frame): View {
  const { hash, search } = window.location;
  if (!plugin) return parseView(hash);
  const view = parseView(hash, keyPrefix(plugin));
  if (!sameView(view, EMPTY_VIEW)) return view;
  const { options: _, ...legacy } = parseView(search.replaceAll("+", "%20"));
  return { ...EMPTY_VIEW, ...legacy };
}

export function createView(frame: Frame): ViewState {
  const { plugin, window } = frame;
  const view = signal(addressedView(frame));

  const isActive = () => !plugin || ["", plugin].includes(activePlugin(window.location.hash));
  const hashOf = (next: View) => (plugin ? tensorBoardHash(window.location.hash, plugin, next) : standaloneHash(next));
  const write = (next: View, push: boolean) => {
    view.value = next;
    if (!isActive()) return;
    const hash = hashOf(next);
    if (hash === window.location.hash) return;
    // An address relative to the entry page's <base> would leave TensorBoard's own page.
    const { origin, pathname, search } = window.location;
    const address = origin + pathname + search + hash;
    if (push) window.history.pushState(window.history.state, "", address);
    else window.history.replaceState(window.history.state, "", address);
  };
  const followAddress = () => {
    if (!isActive()) return;
    const next = addressedView(frame);
    if (plugin && sameView(next, EMPTY_VIEW)) write(view.peek(), false);
    else if (!sameView(next, view.peek())) view.value = next;
  };
  window.addEventListener("popstate", followAddress);
  window.addEventListener("hashchange", followAddress);

  return {
    view,
    go: (change) => write(merge(view.peek(), change), true),
    replace: (change) => write(merge(view.peek(), change), false),
    href: (change) => window.location.pathname + window.location.search + hashOf(merge(view.value, change)),
    restore: () => write(view.peek(), false),
    dispose: () => {
      window.removeEventListener("popstate", followAddress);
      window.removeEventListener("hashchange", followAddress);
    },
  };
}
