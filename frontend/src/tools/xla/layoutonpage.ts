/** Arranges graphs on the page itself, which then waits: for a report, which cannot load a worker. */

import { layoutGraph } from "./graphlayout";
import type { LayoutRunner } from "./layoutinworker";

export const runLayout: LayoutRunner = (sizes, done) => {
  const timer = setTimeout(() => done(layoutGraph(sizes)));
  return () => clearTimeout(timer);
};
