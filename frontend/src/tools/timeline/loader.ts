/** Loads the slices of lanes in view, with some more on each side, and keeps them until finer ones are needed. */

import type { LaneEntry, TimelineApi } from "../../api/timeline";
import type { Column, Slab } from "../../base/slab";
import type { Renderer, Slices, UploadedLane } from "../../canvas/renderer";
import { type Viewport, viewSpan } from "../../canvas/viewport";
import type { Names } from "./names";

/** How much more is loaded on each side, in widths of the view. */
const MARGIN = 0.5;
/** Slices are loaded anew where the pixels that they were merged for are larger by this factor than those of the view. */
const COARSEST = 1.6;
const LANES_PER_REQUEST = 80;
/** Lanes whose slices stay loaded. */
const MOST_LANES = 400;

/** The slices of a lane that begin in a window of time, in ps. */
export interface LaneSlices extends Slices {
  readonly host: string;
  readonly begins: number;
  readonly ends: number;
  /** ps per pixel that slices were merged for; 0 where none were merged, so that they are good at any scale. */
  readonly scale: number;
  /** How many rows were loaded; 0 for all. */
  readonly limit: number;
  readonly name: Uint32Array;
  readonly event: Uint32Array;
  readonly merged: Uint32Array;
  readonly busy: Uint8Array;
  /** Where each row's slices begin; one entry more than rows. */
  readonly rowStart: Uint32Array;
  readonly handle: UploadedLane;
}

export interface Counter {
  readonly begins: number;
  readonly ends: number;
  readonly scale: number;
  readonly begin: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
  readonly last: Float64Array;
}

export interface Need {
  readonly lane: LaneEntry;
  readonly limit: number;
}

export class Loader {
  readonly slicesByLane = new Map<string, LaneSlices>();
  readonly counters = new Map<string, Counter>();
  private running: AbortController | null = null;
  private wanted: { needs: readonly Need[]; view: Viewport; width: number } | null = null;
  private stopped = false;

  constructor(
    private readonly api: TimelineApi,
    private readonly names: Names,
    private readonly renderer: Renderer,
    private readonly paint: (laneSlices: LaneSlices) => void,
    private readonly changed: (error?: unknown) => void,
  ) {}

  /** Sets what is in view; what was set last is loaded once the request under way is answered. */
  need(needs: readonly Need[], view: Viewport, width: number): void {
    this.wanted = { needs, view, width };
    if (!this.running && !this.stopped) void this.fetch();
  }

  get busy(): boolean {
    return this.running !== null;
  }

  private isLoaded({ lane, limit }: Need, view: Viewport, scale: number, duration: [number, number]): boolean {
    const loaded = lane.kind === "counter" ? this.counters.get(lane.key) : this.slicesByLane.get(lane.key);
    if (!loaded) return false;
    const covers = loaded.begins <= Math.max(view.begin, duration[0]) && loaded.ends >= Math.min(view.end, duration[1]);
    const hasRows = !("limit" in loaded) || loaded.limit === 0 || (limit > 0 && loaded.limit >= limit);
    return covers && hasRows && loaded.scale <= scale * COARSEST;
  }

  duration: [number, number] = [0, 0];

  private async fetch(): Promise<void> {
    const { needs, view, width } = this.wanted as NonNullable<typeof this.wanted>;
    const scale = viewSpan(view) / width;
    const missing = needs
      .filter((need) => !this.isLoaded(need, view, scale, this.duration))
      .slice(0, LANES_PER_REQUEST);
    if (!missing.length) return;
    const controller = new AbortController();
    this.running = controller;
    const pad = viewSpan(view) * MARGIN;
    const keys = missing.map(({ lane, limit }) => (limit ? `${lane.key}:${limit}` : lane.key)).join(",");
    try {
      const columns = Math.ceil(width * (1 + 2 * MARGIN));
      const slab = await this.api.slices(keys, view.begin - pad, view.end + pad, columns, controller.signal);
      await this.install(slab, missing, scale);
      this.changed();
    } catch (error) {
      if (!controller.signal.aborted) this.changed(error);
      this.stopped ||= !controller.signal.aborted;
    }
    this.running = null;
    if (!this.stopped) void this.fetch();
  }

  /** Goes on after a failed request. */
  retry(): void {
    this.stopped = false;
    if (!this.running && this.wanted) void this.fetch();
  }

  private async install(slab: Slab, needs: readonly Need[], scale: number): Promise<void> {
    const { facts, arrays } = slab;
    const [begins, ends] = [facts.begin as number, facts.end as number];
    const [originPs, psPerUnit] = [facts.origin as number, facts.unit as number];
    const counts = facts.counts as readonly (readonly number[])[];
    const column = (name: string) => arrays[name] as Column;
    const loaded: LaneSlices[] = [];
    const keys: string[] = [];
    let from = 0;
    for (const [place, { lane, limit }] of needs.entries()) {
      const rowStart = startsOf(counts[place] ?? [], lane.rows);
      const count = rowStart[lane.rows] as number;
      const to = from + count;
      if (lane.kind === "counter") {
        const of = (name: string) => column(`${place}.${name}`) as Float64Array;
        const values = { begin: of("begin"), low: of("low"), high: of("high"), last: of("last") };
        this.counters.set(lane.key, { begins, ends, scale, ...values });
        continue;
      }
      const cut = <T extends Column>(name: string) => column(name).subarray(from, to) as T;
      const merged = cut<Uint32Array>("count");
      const slices = {
        count,
        originPs,
        psPerUnit,
        begin: cut<Uint32Array>("begin"),
        width: cut<Uint32Array>("width"),
        row: rowsOf(rowStart),
        colour: new Uint8Array(4 * count),
      };
      const exact = merged.every((many) => many === 1);
      const rest = {
        name: cut<Uint32Array>("name"),
        event: cut<Uint32Array>("event"),
        merged,
        busy: cut<Uint8Array>("busy"),
      };
      const host = lane.key.split(".")[0] ?? "0";
      const facts = { host, begins, ends, scale: exact ? 0 : scale, limit, rowStart };
      loaded.push({ ...slices, ...rest, ...facts, handle: null as unknown as UploadedLane });
      keys.push(lane.key);
      from = to;
    }
    await Promise.all(loaded.map(({ host, name }) => this.names.ensure(host, name)));
    for (const [index, laneSlices] of loaded.entries()) {
      this.paint(laneSlices);
      const key = keys[index] as string;
      this.slicesByLane.get(key)?.handle.drop();
      this.slicesByLane.delete(key); // So that the newest comes last.
      this.slicesByLane.set(key, { ...laneSlices, handle: this.renderer.upload(laneSlices) });
    }
    this.forget(new Set(needs.map(({ lane }) => lane.key)));
  }

  private forget(fresh: ReadonlySet<string>): void {
    for (const [key, { handle }] of this.slicesByLane) {
      if (this.slicesByLane.size <= MOST_LANES) return;
      if (fresh.has(key)) continue;
      handle.drop();
      this.slicesByLane.delete(key);
    }
  }

  repaint(): void {
    for (const laneSlices of this.slicesByLane.values()) {
      this.paint(laneSlices);
      laneSlices.handle.recolour();
    }
  }

  dispose(): void {
    this.stopped = true;
    this.running?.abort();
    for (const { handle } of this.slicesByLane.values()) handle.drop();
    this.slicesByLane.clear();
  }
}

function startsOf(counts: readonly number[], rows: number): Uint32Array {
  const starts = new Uint32Array(rows + 1);
  for (let row = 0; row < rows; row++) starts[row + 1] = (starts[row] as number) + (counts[row] ?? 0);
  return starts;
}

function rowsOf(starts: Uint32Array): Uint16Array {
  const rows = new Uint16Array(starts.at(-1) as number);
  for (let row = 0; row + 1 < starts.length; row++) rows.fill(row, starts[row], starts[row + 1]);
  return rows;
}

/** The slice at a time on a row, or the nearest within `reach` ps; -1 for none. */
export function hit(laneSlices: LaneSlices, row: number, time: number, reach: number): number {
  const low = laneSlices.rowStart[row] ?? laneSlices.count;
  const high = laneSlices.rowStart[row + 1] ?? laneSlices.count;
  let [left, right] = [low, high];
  while (left < right) {
    const middle = (left + right) >> 1;
    if (laneSlices.originPs + (laneSlices.begin[middle] as number) * laneSlices.psPerUnit <= time) left = middle + 1;
    else right = middle;
  }
  let best = -1;
  let distance = reach;
  for (const at of [left - 1, left]) {
    if (at < low || at >= high) continue;
    const begin = laneSlices.originPs + (laneSlices.begin[at] as number) * laneSlices.psPerUnit;
    const end = begin + (laneSlices.width[at] as number) * laneSlices.psPerUnit;
    const away = Math.max(begin - time, time - end, 0);
    if (away <= distance) [best, distance] = [at, away];
  }
  return best;
}
