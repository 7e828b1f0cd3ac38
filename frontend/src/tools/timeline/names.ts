/** Names by number: asked for in blocks, once each, with the colour that belongs to them. */

import type { TimelineApi } from "../../api/timeline";
import { readable } from "../../base/parts";
import { type Rgb, sliceColour } from "../../base/slicecolour";
import type { Colouring } from "../../base/timecodec";

const PER_REQUEST = 60;
const UNKNOWN: Rgb = [150, 150, 150];

export class Names {
  private readonly blocks = new Map<string, readonly string[]>();
  private readonly colours = new Map<string, Rgb>();
  /** What the colours are for. */
  private dark = false;
  private by: Colouring = "kind";
  private readonly pending = new Map<string, Promise<void>>();

  constructor(
    private readonly api: TimelineApi,
    private readonly size: number,
  ) {}

  /** The name, or "" while it is not known. */
  get(host: string, number: number): string {
    return this.blocks.get(`${host}.${Math.floor(number / this.size)}`)?.[number % this.size] ?? "";
  }

  /** The name as it reads: states in the reader's language, Python's frames without the sign that marks them. */
  label(host: string, number: number): string {
    return readable(this.get(host, number)).replace(/^\$/, "");
  }

  colour(host: string, number: number, dark: boolean, by: Colouring): Rgb {
    const name = this.get(host, number);
    if (!name) return UNKNOWN;
    if (dark !== this.dark || by !== this.by) this.colours.clear();
    this.dark = dark;
    this.by = by;
    let found = this.colours.get(name);
    if (!found) {
      found = sliceColour(name, dark, by);
      this.colours.set(name, found);
    }
    return found;
  }

  /** Forgets blocks that more names may have been added to. */
  forgetLast(): void {
    for (const [block, names] of this.blocks) if (names.length < this.size) this.blocks.delete(block);
  }

  /** Resolves once all of a host's names with these numbers are known. */
  async ensure(host: string, numbers: Uint32Array): Promise<void> {
    const wanted = new Set<string>();
    for (const number of numbers) wanted.add(`${host}.${Math.floor(number / this.size)}`);
    const missing = [...wanted].filter((block) => !this.blocks.has(block));
    const fresh = missing.filter((block) => !this.pending.has(block));
    for (let at = 0; at < fresh.length; at += PER_REQUEST) this.request(fresh.slice(at, at + PER_REQUEST));
    await Promise.all(missing.map((block) => this.pending.get(block)));
  }

  private request(blocks: readonly string[]): void {
    const answer = this.api
      .names(blocks.join(","))
      .then((found) => {
        for (const [block, names] of Object.entries(found)) this.blocks.set(block, names);
      })
      .finally(() => {
        for (const block of blocks) this.pending.delete(block);
      });
    for (const block of blocks) this.pending.set(block, answer);
  }
}
