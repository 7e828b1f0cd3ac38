/** A link with `go` leads to its event, or to the first hit of its search, and not to the whole capture. */

import { effect, untracked } from "@preact/signals";
import type { Options } from "../../state/keeper";
import type { Engine } from "./engine";
import { walkHits } from "./session";

/** Goes there once it is known where it lies; the address then says so by itself. */
export function arrive(engine: Engine, options: Options): () => void {
  if (!options.go) return () => {};
  const { details, hits, event } = engine.scene.state;
  const byEvent = event.peek() !== "";
  let there = false;
  return effect(() => {
    const [chosen, found] = byEvent ? [details.value, null] : [null, hits.value];
    if (there || !(chosen || found)) return;
    there = true;
    untracked(() => (chosen ? engine.show(chosen) : walkHits(engine, 1)));
  });
}
