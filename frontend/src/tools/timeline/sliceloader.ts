/** Loads the slices of lanes in view, with some more on each side, and keeps them until finer ones are needed. */

import type { EventPlace, LaneEntry, TimelineApi } from "../../api/timeline";
import { firstIndex } from "../../base/bisect";
import type { Slab, TypedArray } from "../../base/slab";
import type { Renderer, Slices, UploadedLane } from "../../canvas/renderer";
import { type Viewport, viewSpan } from "../../canvas/viewport";
import type { EventNames } from "./eventnames";

/** How much more is loaded on each side, in widths of the view. */
const MARGIN_SHARE = 0.5;
/** Slices are loaded anew where the pixels that they were merged for are larger by this factor than those of the view. */
const COARSEST_FACTOR = 1.6;
/** Keeps addresses short. */
const LANES_PER_REQUEST = 80;
/** Lanes whose slices stay loaded; counters all stay, since they have only a few values for each pixel. */
const MOST_LANES = 400;

/** What was loaded of a lane, and for which view. Times are ps. */
interface LoadedRange {
  readonly loadedFromPs: number;
  readonly loadedToPs: number;
  /** ps per pixel that slices were merged for; 0 where none were merged, so that they are good at any scale. */
  readonly psPerPixel: number;
}

/** The slices of a lane that begin in a window of time, row by row; numbers and shares are per slice. */
export interface LoadedSlices extends Slices, LoadedRange {
  /** Index of the host among the session's, as text. */
  readonly host: string;
  /** How many rows were loaded; 0 for all. */
  readonly rowLimit: number;
  /** Numbers of names and events among the host's. */
  readonly name: Uint32Array;
  readonly event: Uint32Array;
  /** How many events each slice stands for. */
  readonly mergedCount: Uint32Array;
  /** How much of a merged slice events fill, in 255ths. */
  readonly busyShare: Uint8Array;
  /** Where each row's slices begin; one entry more than rows. */
  readonly rowStart: Uint32Array;
}

/** Slices that are ready to be drawn. */
export interface LaneSlices extends LoadedSlices {
  readonly handle: UploadedLane;
}

/** A counter's least, largest and last value from each begin (ps) on. */
export interface Counter extends LoadedRange {
  readonly begin: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
  readonly last: Float64Array;
}

export interface NeededLane {
  readonly lane: LaneEntry;
  /** How many of its rows; 0 for all. */
  readonly rowLimit: number;
}

interface SliceLoaderOptions {
  /** The routes to ask at each moment. */
  readonly api: () => TimelineApi;
  readonly capturePs: number;
  readonly names: EventNames;
  readonly renderer: Renderer;
  readonly fillColours: (slices: LoadedSlices) => void;
  /** Called when slices have come, or why they have not. */
  readonly onChange: (error?: unknown) => void;
}

export class SliceLoader {
  readonly slicesByLane = new Map<string, LaneSlices>();
  readonly counters = new Map<string, Counter>();
  private request: AbortController | null = null;
  private wanted: { needs: readonly NeededLane[]; view: Viewport; width: number } | null = null;
  private stopped = false;

  constructor(private readonly options: SliceLoaderOptions) {}

  /** Sets what is in view; what was set last is loaded once the request under way is answered. */
  setNeeded(needs: readonly NeededLane[], view: Viewport, width: number): void {
    this.wanted = { needs, view, width };
    if (!this.request && !this.stopped) void this.loadMissing();
  }

  get isLoading(): boolean {
    return this.request !== null;
  }

  private isLoaded({ lane, rowLimit }: NeededLane, view: Viewport, psPerPixel: number): boolean {
    const loaded = lane.kind === "counter" ? this.counters.get(lane.key) : this.slicesByLane.get(lane.key);
    if (!loaded) return false;
    const [from, to] = [Math.max(view.begin, 0), Math.min(view.end, this.options.capturePs)];
    const hasTimes = loaded.loadedFromPs <= from && loaded.loadedToPs >= to;
    const hasRows = !("rowLimit" in loaded) || loaded.rowLimit === 0 || (rowLimit > 0 && loaded.rowLimit >= rowLimit);
    return hasTimes && hasRows && loaded.psPerPixel <= psPerPixel * COARSEST_FACTOR;
  }

  private async loadMissing(): Promise<void> {
    const { needs, view, width } = this.wanted as NonNullable<typeof this.wanted>;
    const psPerPixel = viewSpan(view) / width;
    const missing = needs.filter((need) => !this.isLoaded(need, view, psPerPixel)).slice(0, LANES_PER_REQUEST);
    if (!missing.length) return;
    const controller = new AbortController();
    this.request = controller;
    const pad = viewSpan(view) * MARGIN_SHARE;
    const lanes = missing.map(({ lane, rowLimit }) => (rowLimit ? `${lane.key}:${rowLimit}` : lane.key));
    try {
      const columns = Math.ceil(width * (1 + 2 * MARGIN_SHARE));
      const range = { lanes, begin: view.begin - pad, end: view.end + pad };
      const slab = await this.options.api().slices(range, columns, controller.signal);
      await this.addLoaded(slab, missing, psPerPixel);
      if (!this.stopped) this.options.onChange();
    } catch (error) {
      if (!controller.signal.aborted) this.options.onChange(error);
      this.stopped ||= !controller.signal.aborted;
    }
    this.request = null;
    if (!this.stopped) void this.loadMissing();
  }

  /** Goes on after a failed request. */
  retry(): void {
    this.stopped = false;
    if (!this.request && this.wanted) void this.loadMissing();
  }

  /** Takes over what the server answered for these lanes; slices are drawn once their names are known. */
  private async addLoaded(slab: Slab, lanes: readonly NeededLane[], psPerPixel: number): Promise<void> {
    const { counts } = factsOf(slab);
    const decoded = new Map<string, LoadedSlices>();
    let first = 0;
    for (const [index, needed] of lanes.entries()) {
      const { key, kind, rows } = needed.lane;
      if (kind === "counter") {
        this.counters.set(key, counterOf(slab, index, psPerPixel));
        continue;
      }
      const rowStart = rowStarts(counts[index] ?? [], rows);
      decoded.set(key, decodeSlices(slab, needed, { first, rowStart, psPerPixel }));
      first += rowStart[rows] as number;
    }
    await Promise.all([...decoded.values()].map(({ host, name }) => this.options.names.load(host, name)));
    if (this.stopped) return; // Nobody would drop what is uploaded now.
    for (const [key, slices] of decoded) {
      this.options.fillColours(slices);
      this.slicesByLane.get(key)?.handle.dispose();
      this.slicesByLane.delete(key); // So that the newest comes last.
      this.slicesByLane.set(key, { ...slices, handle: this.options.renderer.upload(slices) });
    }
    this.dropOldest(new Set(lanes.map(({ lane }) => lane.key)));
  }

  private dropOldest(newest: ReadonlySet<string>): void {
    for (const [key, { handle }] of this.slicesByLane) {
      if (this.slicesByLane.size <= MOST_LANES) return;
      if (newest.has(key)) continue;
      handle.dispose();
      this.slicesByLane.delete(key);
    }
  }

  /** Gives all slices the colours that they have now. */
  recolour(): void {
    for (const laneSlices of this.slicesByLane.values()) {
      this.options.fillColours(laneSlices);
      laneSlices.handle.recolour();
    }
  }

  dispose(): void {
    this.stopped = true;
    this.request?.abort();
    for (const { handle } of this.slicesByLane.values()) handle.dispose();
    this.slicesByLane.clear();
  }
}

/** What the route says beside the arrays. */
interface SlabFacts {
  /** The window that was loaded, ps. */
  readonly begin: number;
  readonly end: number;
  /** Slices begin so many `unit` ps after it. */
  readonly origin: number;
  readonly unit: number;
  /** How many slices each row of each lane has, up to the last row that has some. */
  readonly counts: readonly (readonly number[])[];
}

function factsOf({ facts }: Slab): SlabFacts {
  return facts as object as SlabFacts;
}

function rangeOf(slab: Slab, psPerPixel: number): LoadedRange {
  const { begin, end } = factsOf(slab);
  return { loadedFromPs: begin, loadedToPs: end, psPerPixel };
}

/** The counter at an index of the lanes that were asked for. */
function counterOf(slab: Slab, index: number, psPerPixel: number): Counter {
  const column = (name: string) => slab.arrays[`${index}.${name}`] as Float64Array;
  const values = { begin: column("begin"), low: column("low"), high: column("high"), last: column("last") };
  return { ...rangeOf(slab, psPerPixel), ...values };
}

/** A lane's slices, which begin at the index `first` of the slab's columns; their colours are still to be filled in. */
function decodeSlices(
  slab: Slab,
  { lane, rowLimit }: NeededLane,
  { first, rowStart, psPerPixel }: { first: number; rowStart: Uint32Array; psPerPixel: number },
): LoadedSlices {
  const { origin, unit } = factsOf(slab);
  const count = rowStart[lane.rows] as number;
  const cut = <T extends TypedArray>(name: string) =>
    (slab.arrays[name] as TypedArray).subarray(first, first + count) as T;
  const mergedCount = cut<Uint32Array>("count");
  const isExact = mergedCount.every((many) => many === 1);
  return {
    ...rangeOf(slab, isExact ? 0 : psPerPixel),
    host: lane.key.split(".")[0] ?? "0",
    rowLimit,
    count,
    originPs: origin,
    psPerUnit: unit,
    begin: cut<Uint32Array>("begin"),
    width: cut<Uint32Array>("width"),
    row: rowOfEachSlice(rowStart),
    colour: new Uint8Array(4 * count),
    name: cut<Uint32Array>("name"),
    event: cut<Uint32Array>("event"),
    mergedCount,
    busyShare: cut<Uint8Array>("busy"),
    rowStart,
  };
}

function rowStarts(counts: readonly number[], rows: number): Uint32Array {
  const starts = new Uint32Array(rows + 1);
  for (let row = 0; row < rows; row++) starts[row + 1] = (starts[row] as number) + (counts[row] ?? 0);
  return starts;
}

function rowOfEachSlice(starts: Uint32Array): Uint16Array {
  const rows = new Uint16Array(starts.at(-1) as number);
  for (let row = 0; row + 1 < starts.length; row++) rows.fill(row, starts[row], starts[row + 1]);
  return rows;
}

/** Begin and end of a slice, ps. */
export function sliceTimes({ originPs, psPerUnit, begin, width }: LaneSlices, index: number) {
  const beginPs = originPs + (begin[index] as number) * psPerUnit;
  return { begin: beginPs, end: beginPs + (width[index] as number) * psPerUnit };
}

/** The event of a slice and where it is drawn; slices know no names. */
export function eventPlaceOf(laneSlices: LaneSlices, index: number, lane: string, row: number): EventPlace {
  const event = `${laneSlices.host}.${laneSlices.event[index]}`;
  return { event, lane, row, name: "", ...sliceTimes(laneSlices, index) };
}

/** The slice at a time (ps) on a row, or the nearest within `reachPs`; -1 for none. */
export function sliceAt(laneSlices: LaneSlices, row: number, time: number, reachPs: number): number {
  const low = laneSlices.rowStart[row] ?? laneSlices.count;
  const high = laneSlices.rowStart[row + 1] ?? laneSlices.count;
  const next = firstIndex(low, high, (index) => sliceTimes(laneSlices, index).begin > time);
  let nearest = -1;
  let nearestPs = reachPs;
  for (const index of [next - 1, next]) {
    if (index < low || index >= high) continue;
    const { begin, end } = sliceTimes(laneSlices, index);
    const distancePs = Math.max(begin - time, time - end, 0);
    if (distancePs <= nearestPs) [nearest, nearestPs] = [index, distancePs];
  }
  return nearest;
}
