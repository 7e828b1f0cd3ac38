/** Arranges graphs beside the page, in a worker; the report, which is one file, takes layoutonpage.ts instead. */

import type { GraphLayout, GraphSizes } from "./graphlayout";

/** Calls `done` with the layout, undefined after an error; returns what cancels it. */
export type LayoutRunner = (sizes: GraphSizes, done: (layout: GraphLayout | undefined) => void) => () => void;

export const runLayout: LayoutRunner = (sizes, done) => {
  const worker = new Worker(new URL("./graphlayout.worker.ts", import.meta.url), { type: "module" });
  const end = (layout: GraphLayout | undefined) => {
    worker.terminate();
    done(layout);
  };
  worker.onmessage = ({ data }: MessageEvent<GraphLayout>) => end(data);
  worker.onerror = () => end(undefined);
  worker.postMessage(sizes);
  return () => worker.terminate();
};
