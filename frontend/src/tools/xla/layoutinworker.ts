/** Arranges graphs beside the page, in a worker; the report, which is one file, takes layoutonpage.ts instead. */

import type { GraphLayout, GraphSizes } from "./graphlayout";

/** Says what came of it, undefined where nothing did; answers what stops it. */
export type LayoutRunner = (sketch: GraphSizes, done: (drawing: GraphLayout | undefined) => void) => () => void;

export const runLayout: LayoutRunner = (sketch, done) => {
  const worker = new Worker(new URL("./graphlayout.worker.ts", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }: MessageEvent<GraphLayout>) => done(data);
  worker.onerror = () => done(undefined);
  worker.postMessage(sketch);
  return () => worker.terminate();
};
