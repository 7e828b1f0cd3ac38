/** Names of events by number, which are loaded in blocks, once each, and their colours. */

import type { TimelineApi } from "../../api/timeline";
import { displayName } from "../../base/parts";
import { type Rgb, sliceColour } from "../../base/slicecolour";
import type { Colouring } from "../../base/timelinecodec";

const BLOCKS_PER_REQUEST = 60;
/** The colour of a name that is not loaded yet. */
const UNKNOWN: Rgb = [150, 150, 150];

export class EventNames {
  /** Names by `host.block`. */
  private readonly blocks = new Map<string, readonly string[]>();
  private readonly colours = new Map<string, Rgb>();
  /** The theme and the rule that the colours are for. */
  private dark = false;
  private colouring: Colouring = "kind";
  /** Requests under way by `host.block`. */
  private readonly requests = new Map<string, Promise<void>>();

  /** `api` tells the routes to ask at each moment, `blockSize` how many names a block has. */
  constructor(
    private readonly api: () => TimelineApi,
    private readonly blockSize: number,
  ) {}

  /** The name, or "" while it is not known. */
  get(host: string, number: number): string {
    return this.blocks.get(`${host}.${Math.floor(number / this.blockSize)}`)?.[number % this.blockSize] ?? "";
  }

  /** The name as it reads. */
  label(host: string, number: number): string {
    return displayName(this.get(host, number));
  }

  colour(host: string, number: number, dark: boolean, by: Colouring): Rgb {
    const name = this.get(host, number);
    if (!name) return UNKNOWN;
    if (dark !== this.dark || by !== this.colouring) this.colours.clear();
    this.dark = dark;
    this.colouring = by;
    let colour = this.colours.get(name);
    if (!colour) {
      colour = sliceColour(name, dark, by);
      this.colours.set(name, colour);
    }
    return colour;
  }

  /** Forgets blocks that more names may have been added to. */
  forgetLast(): void {
    for (const [block, names] of this.blocks) if (names.length < this.blockSize) this.blocks.delete(block);
  }

  /** Loads a host's names with these numbers, and resolves once all are known. */
  async load(host: string, numbers: Uint32Array): Promise<void> {
    const blocks = new Set<string>();
    for (const number of numbers) blocks.add(`${host}.${Math.floor(number / this.blockSize)}`);
    const missing = [...blocks].filter((block) => !this.blocks.has(block));
    const toRequest = missing.filter((block) => !this.requests.has(block));
    for (let first = 0; first < toRequest.length; first += BLOCKS_PER_REQUEST) {
      this.request(toRequest.slice(first, first + BLOCKS_PER_REQUEST));
    }
    await Promise.all(missing.map((block) => this.requests.get(block)));
  }

  private request(blocks: readonly string[]): void {
    const request = this.api()
      .names(blocks)
      .then((answer) => {
        for (const [block, names] of Object.entries(answer)) this.blocks.set(block, names);
      })
      .finally(() => {
        for (const block of blocks) this.requests.delete(block);
      });
    for (const block of blocks) this.requests.set(block, request);
  }
}
