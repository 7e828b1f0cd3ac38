/** Arranges graphs beside the page, which stays quick meanwhile. */

import { arrange, type Sketch } from "./arrange";

self.onmessage = ({ data }: MessageEvent<Sketch>) => self.postMessage(arrange(data));
