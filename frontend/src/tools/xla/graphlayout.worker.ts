/** Arranges graphs beside the page, which stays quick meanwhile. */

import { type GraphSizes, layoutGraph } from "./graphlayout";

self.onmessage = ({ data }: MessageEvent<GraphSizes>) => self.postMessage(layoutGraph(data));
