/** What there is to draw, and where: what painting, pointing and loading share. */

import { computed, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import type { Lanes, TimelineApi } from "../../api/timeline";
import { clamp } from "../../base/clamp";
import type { Renderer } from "../../canvas/renderer";
import { clampView, panView, type Viewport, viewSpan } from "../../canvas/viewport";
import { EventNames } from "./eventnames";
import { arrangeBands, type Band, type Layout, summaryLanes, visibleRange } from "./layout";
import { type LoadedSlices, type NeededLane, SliceLoader } from "./sliceloader";
import type { TimelineState } from "./state";

/** Heights above the lanes, in pixels. */
export const MINIMAP_PX = 28;
export const AXIS_PX = 24;
export const STEPS_PX = 18;
export const HEAD_PX = MINIMAP_PX + AXIS_PX + STEPS_PX;

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface LaneRow {
  readonly band: Band;
  readonly row: number;
  /** Key of the lane; of a folded section, the one that its mini row shows. */
  readonly key: string;
}

interface SceneOptions {
  readonly api: TimelineApi;
  readonly lanes: Lanes;
  readonly state: TimelineState;
  readonly renderer: Renderer;
  /** Called when slices have come, or why they have not. */
  readonly onChange: (error?: unknown) => void;
}

export class Scene {
  api: TimelineApi;
  readonly state: TimelineState;
  readonly renderer: Renderer;
  readonly layout: ReadonlySignal<Layout>;
  readonly names: EventNames;
  readonly loader: SliceLoader;
  readonly capture: Viewport;
  /** Where the link scrolled to. */
  private readonly linkedScroll: number;
  /** How far one may look: beyond the capture where another one lies over it. */
  bounds: Viewport;
  readonly lanes: Signal<Lanes>;
  /** Whether more lanes are still to come. */
  awaitsLanes = false;
  size: Size = { width: 0, height: 0 };
  dark = false;

  constructor({ api, lanes, state, renderer, onChange }: SceneOptions) {
    this.api = api;
    this.state = state;
    this.renderer = renderer;
    this.capture = { begin: 0, end: Math.max(1, lanes.duration) };
    this.bounds = this.capture;
    this.names = new EventNames(() => this.api, lanes.block);
    this.loader = new SliceLoader({
      api: () => this.api,
      capturePs: lanes.duration,
      names: this.names,
      renderer,
      fillColours: (slices) => this.fillColours(slices),
      onChange,
    });
    this.lanes = signal(lanes);
    this.linkedScroll = state.scrollPx.peek();
    this.layout = computed(() =>
      arrangeBands(this.lanes.value, {
        folds: state.folds.value,
        pins: state.pins.value,
        hidden: state.hidden.value,
        filter: state.laneFilter.value,
      }),
    );
    state.view.value ??= this.capture;
  }

  /** Shows more lanes than before, which `api` knows; what is in view stays where it is. */
  setLanes(lanes: Lanes, api: TimelineApi): void {
    this.api = api;
    const before = this.layout.peek().height;
    const isWhereLinked = this.linkedScroll > 0 && this.scroll === Math.min(this.linkedScroll, this.mostScrollPx);
    const at = this.scroll;
    this.names.forgetLast();
    this.lanes.value = lanes;
    if (isWhereLinked) this.scroll = this.linkedScroll;
    else if (at > 0) this.scroll = at + this.layout.peek().height - before;
    const details = this.state.details.peek();
    if (details) this.scrollTo(details.lane, details.row);
  }

  get view(): Viewport {
    return this.state.view.peek() ?? this.capture;
  }

  set view(next: Viewport) {
    this.state.view.value = this.clamped(next);
  }

  /** The window as near as one may look. */
  clamped(view: Viewport): Viewport {
    const from = this.bounds.begin;
    return panView(clampView(panView(view, -from), viewSpan(this.bounds)), from);
  }

  get isCaptureInView(): boolean {
    return this.view.end > this.capture.begin && this.view.begin < this.capture.end;
  }

  get psPerPixel(): number {
    return viewSpan(this.view) / Math.max(1, this.size.width);
  }

  /** Where the scrolled lanes begin, below what is pinned. */
  get tracksTop(): number {
    return HEAD_PX + this.layout.peek().pinnedHeight;
  }

  get tracksHeight(): number {
    return Math.max(0, this.size.height - this.tracksTop);
  }

  get scroll(): number {
    return this.state.scrollPx.peek();
  }

  set scroll(to: number) {
    this.state.scrollPx.value = clamp(Math.round(to), 0, this.mostScrollPx);
  }

  private get mostScrollPx(): number {
    return Math.max(0, this.layout.peek().height - this.tracksHeight + 8);
  }

  /** Bands in view with the heights at which they stand on the canvas. */
  *visibleBands(margin = 0): Generator<readonly [Band, number]> {
    const { pinned, bands } = this.layout.peek();
    for (const band of pinned) yield [band, HEAD_PX + band.top];
    const [first, last] = visibleRange(bands, this.scroll - margin, this.scroll + this.tracksHeight + margin);
    for (let at = first; at < last; at++) {
      const band = bands[at] as Band;
      yield [band, this.tracksTop + band.top - this.scroll];
    }
  }

  /** Asks for what is in view and about a screen around it. */
  loadVisible(): void {
    if (!this.size.width || !this.isCaptureInView) return;
    const needs: NeededLane[] = [];
    for (const margin of [0, this.tracksHeight]) {
      for (const [band] of this.visibleBands(margin)) {
        if (band.lane) needs.push({ lane: band.lane, rowLimit: band.folded ? 1 : 0 });
        else if (band.folded) for (const lane of summaryLanes(band)) needs.push({ lane, rowLimit: 1 });
      }
    }
    this.loader.setNeeded(needs, this.view, this.size.width);
  }

  /** The row under a height of the canvas. */
  rowAt(y: number): LaneRow | null {
    if (y < HEAD_PX) return null;
    for (const [band, top] of this.visibleBands()) {
      if (y < top || y >= top + band.height || (!band.pinned && y < this.tracksTop)) continue;
      if (!band.lane) {
        const at = Math.floor((y - top - 3) / band.rowHeight);
        const lane = band.folded ? summaryLanes(band)[at] : undefined;
        return lane ? { band, row: 0, key: lane.key } : null;
      }
      const row = Math.min(band.rows - 1, Math.floor((y - top) / band.rowHeight));
      return { band, row, key: band.lane.key };
    }
    return null;
  }

  /** Where an event's row stands on the canvas; null where its lane is filtered away. */
  rowPlace(lane: string, row: number): { top: number; height: number; pinned: boolean } | null {
    const band = this.layout.peek().bandByLaneKey.get(lane);
    if (!band) return null;
    const base = band.pinned ? HEAD_PX + band.top : this.tracksTop + band.top - this.scroll;
    if (!band.lane) {
      const at = summaryLanes(band).findIndex(({ key }) => key === lane);
      return { top: base + 3 + Math.max(0, at) * band.rowHeight, height: band.rowHeight, pinned: false };
    }
    return { top: base + Math.min(row, band.rows - 1) * band.rowHeight, height: band.rowHeight, pinned: band.pinned };
  }

  /** From where to where on the canvas rows of lanes reach, given as the routes take them. */
  verticalExtent(lanes: readonly string[]): readonly [number, number] {
    let [top, bottom] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
    for (const text of lanes) {
      const [key = "", rows = ""] = text.split(":");
      const [first = 0, end] = rows.split("-").map(Number);
      const band = this.layout.peek().bandByLaneKey.get(key);
      const from = this.rowPlace(key, first);
      const to = this.rowPlace(key, (end ?? band?.rows ?? 1) - 1);
      if (from && to) [top, bottom] = [Math.min(top, from.top), Math.max(bottom, to.top + to.height)];
    }
    return [top, bottom];
  }

  /** Scrolls so that a row is in view. */
  scrollTo(lane: string, row: number): void {
    const place = this.rowPlace(lane, row);
    if (!place || place.pinned) return;
    const [top, bottom] = [this.tracksTop + 4, this.size.height - 4];
    if (place.top < top) this.scroll += place.top - top - this.tracksHeight / 3;
    else if (place.top + place.height > bottom)
      this.scroll += place.top + place.height - bottom + this.tracksHeight / 3;
  }

  /** Colours by name; merged slices as pale as they are empty, and what was not looked for dimmed. */
  private fillColours(slices: LoadedSlices): void {
    const { hits, leastPs, colouring } = this.state;
    const searched = hits.peek();
    const shortest = leastPs.peek();
    const { colour, name, event, busyShare, host, count, width, psPerUnit } = slices;
    for (let at = 0; at < count; at++) {
      const number = name[at] as number;
      const [red, green, blue] = this.names.colour(host, number, this.dark, colouring.peek());
      const filledShare = busyShare[at] as number;
      let opacity = filledShare === 255 ? 255 : 70 + Math.round(filledShare * 0.65);
      const isMatch =
        !searched || searched.names.has(`${host}.${number}`) || searched.events.has(`${host}.${event[at]}`);
      if (!isMatch || (width[at] as number) * psPerUnit < shortest) opacity = Math.round(opacity * 0.18);
      const to = 4 * at;
      colour[to] = red;
      colour[to + 1] = green;
      colour[to + 2] = blue;
      colour[to + 3] = opacity;
    }
  }
}
