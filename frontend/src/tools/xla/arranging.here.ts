/** Arranges graphs on the page itself, which then waits: for a report, which cannot load a worker. */

import { layoutGraph } from "./arrange";
import type { LayoutRunner } from "./arranging";

export const runLayout: LayoutRunner = (sketch, done) => {
  const timer = setTimeout(() => done(layoutGraph(sketch)));
  return () => clearTimeout(timer);
};
