/** Arranges graphs on the page itself, which then waits: for a report, which cannot load a worker. */

import { arrange } from "./arrange";
import type { Arranging } from "./arranging";

export const arranging: Arranging = (sketch, done) => {
  const timer = setTimeout(() => done(arrange(sketch)));
  return () => clearTimeout(timer);
};
