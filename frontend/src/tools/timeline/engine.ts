/** Keeps the canvases equal to the state: one frame per change, however many changes there are. */

import { effect } from "@preact/signals";
import { RequestError } from "../../api/client";
import type { EventDetails, EventPlace } from "../../api/timeline";
import { clamp } from "../../base/clamp";
import type { Renderer } from "../../canvas/renderer";
import { type Viewport, viewAround, viewBetween } from "../../canvas/viewport";
import { type CanvasColours, readCanvasColours } from "./canvascolours";
import { counterValueAt, counterValueText } from "./counters";
import type { FrameInput, Overview } from "./frameinput";
import { busyOverview, OVERVIEW_COLUMNS } from "./minimap";
import { paintFrame } from "./paint";
import type { Scene } from "./scene";
import { eventPlaceOf, sliceAt } from "./sliceloader";

const GLIDE_MS = 220;
/** What is gone to is shown with at least this much around it, ps. */
const LEAST_AROUND_PS = 1e6;
/** A slice this near to the pointer is pointed at. */
const POINTER_REACH_PX = 3;
/** Narrower events are zoomed in on when they are shown. */
const LEAST_VISIBLE_PX = 4;
/** How many times as long as the event the window is: to look at it, and to see where it stands. */
const FOCUS_FACTOR = 2.5;
const CONTEXT_FACTOR = 12;

export class Engine {
  drag: FrameInput["drag"] = null;
  hovered: FrameInput["hovered"] = null;
  /** Resolves once the lanes that tell why devices are idle are shown; null unless they were asked for. */
  private idleLanes: Promise<void> | null = null;
  private overview: Overview = new Float32Array(OVERVIEW_COLUMNS);
  private colours: CanvasColours;
  private frameRequest = 0;
  private glideRequest = 0;
  private readonly cleanups: (() => void)[] = [];
  private readonly context: CanvasRenderingContext2D;
  private readonly requests = new AbortController();

  constructor(
    readonly scene: Scene,
    readonly renderer: Renderer,
    private readonly canvas: HTMLCanvasElement,
  ) {
    this.context = canvas.getContext("2d") as CanvasRenderingContext2D;
    this.colours = readCanvasColours(canvas, scene.dark);
    const { state } = scene;
    const { view, scrollPx, pins, folds, laneFilter, marks, box, details, arrows, steps } = state;
    this.cleanups.push(
      effect(() => {
        for (const signal of [view, scrollPx, pins, folds, laneFilter, marks, box, details, arrows, steps])
          signal.value;
        scene.layout.value;
        this.requestFrame();
      }),
      effect(() => {
        state.hits.value;
        state.leastPs.value;
        state.colouring.value;
        scene.loader.recolour();
        this.requestFrame();
      }),
    );
    const observer = new ResizeObserver(() => this.resize());
    observer.observe(canvas.parentElement as Element);
    this.cleanups.push(() => observer.disconnect());
    this.resize();
    void this.loadOverview();
  }

  private resize(): void {
    const box = this.canvas.parentElement as HTMLElement;
    this.scene.size = { width: box.clientWidth, height: box.clientHeight };
    const { event, details } = this.scene.state;
    const chosen = details.peek();
    // As far as the new height allows; details that are still to come will take some of it.
    if (chosen || !event.peek()) this.scene.scroll = this.scene.scroll;
    if (chosen) this.scene.scrollTo(chosen.lane, chosen.row); // Its own details may cover it.
    this.requestFrame();
  }

  /** Follows the page's theme. */
  setDark(dark: boolean): void {
    this.scene.dark = dark;
    this.colours = readCanvasColours(this.canvas, dark);
    this.scene.loader.recolour();
    this.requestFrame();
  }

  requestFrame(): void {
    this.frameRequest ||= requestAnimationFrame(() => {
      this.frameRequest = 0;
      this.drawFrame();
    });
  }

  private drawFrame(): void {
    const { scene } = this;
    if (!scene.size.width || !scene.size.height) return;
    scene.loadVisible();
    paintFrame(
      { ...this, scene, colours: this.colours, context: this.context, overview: this.overview } as FrameInput,
      devicePixelRatio,
    );
    this.canvas.ariaBusy = String(scene.loader.isLoading || scene.awaitsLanes);
  }

  private async loadOverview(): Promise<void> {
    const { scene } = this;
    const lanes = scene.lanes
      .peek()
      .sections.flatMap((section) => section.lanes)
      .filter(({ kind }) => kind !== "counter");
    const range = { lanes: lanes.slice(0, 150).map(({ key }) => `${key}:1`), ...scene.capture };
    const signal = this.requests.signal;
    try {
      this.overview = busyOverview(await scene.api.slices(range, OVERVIEW_COLUMNS, signal), range.end);
      this.requestFrame();
      scene.state.steps.value = await scene.api.steps(signal);
    } catch (error) {
      if (!signal.aborted) scene.state.problem.value = error;
    }
  }

  /** Adds the lanes that tell why devices are idle; they take longer than all others. */
  async loadIdleLanes(): Promise<void> {
    const { scene } = this;
    const { signal } = this.requests;
    scene.awaitsLanes = true;
    const api = scene.api.withIdleLanes();
    this.idleLanes = api.lanes(signal).then((lanes) => scene.setLanes(lanes, api));
    try {
      await this.idleLanes;
    } catch (error) {
      if (!signal.aborted) scene.state.problem.value = error;
    }
    scene.awaitsLanes = false;
    this.requestFrame();
  }

  /** An event's details; where no lane shows it, asked for again once the lanes that are still to come have come. */
  async loadDetails(event: string, signal: AbortSignal): Promise<EventDetails> {
    const { api } = this.scene;
    try {
      return await api.event(event, signal);
    } catch (error) {
      const isUnknown = error instanceof RequestError && error.problem.code === "no_such_event";
      if (!isUnknown || api.hasIdleLanes || !this.idleLanes) throw error;
      await this.idleLanes;
      return this.scene.api.event(event, signal);
    }
  }

  /** What a device waits for at a place where one of its lanes is empty; empty where nothing tells. */
  async gapEventAt(x: number, y: number): Promise<string> {
    const { scene } = this;
    const section = scene.rowAt(y)?.band.section;
    const lanes = scene.lanes.peek().sections.flatMap(({ host, lanes }) => (host === section?.host ? lanes : []));
    const idle = lanes.find(({ id, detail }) => id.startsWith("why.idle.") && section?.name.endsWith(`:${detail}`));
    if (!idle) return "";
    const time = scene.view.begin + x * scene.psPerPixel;
    const range = { lanes: [idle.key], begin: time, end: time + 1 };
    const { arrays } = await scene.api.slices(range, 1, this.requests.signal);
    return arrays.event?.length ? `${idle.key.split(".")[0]}.${arrays.event[0]}` : "";
  }

  /** Moves softly, so that the eye can follow. */
  glideTo(target: Viewport): void {
    cancelAnimationFrame(this.glideRequest);
    const from = this.scene.view;
    const to = this.scene.clamped(target);
    const start = performance.now();
    const step = (now: number) => {
      const share = clamp((now - start) / GLIDE_MS, 0, 1);
      const easedShare = 1 - (1 - share) ** 3;
      this.scene.view = share < 1 ? viewBetween(from, to, easedShare) : to;
      if (share < 1) this.glideRequest = requestAnimationFrame(step);
    };
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) this.scene.view = to;
    else this.glideRequest = requestAnimationFrame(step);
  }

  stopGliding(): void {
    cancelAnimationFrame(this.glideRequest);
  }

  zoomTo(range: Pick<EventPlace, "begin" | "end">): void {
    this.glideTo(viewAround(range.begin, range.end, FOCUS_FACTOR, LEAST_AROUND_PS));
  }

  /** Selects an event and brings it into view; zooms only where it would not be seen otherwise. */
  showEvent(place: EventPlace): void {
    const { scene } = this;
    scene.scrollTo(place.lane, place.row);
    const { begin, end } = scene.view;
    const durationPs = place.end - place.begin;
    const isVisible = place.begin >= begin && place.end <= end && durationPs >= LEAST_VISIBLE_PX * scene.psPerPixel;
    if (!isVisible) this.glideTo(viewAround(place.begin, place.end, CONTEXT_FACTOR, 10 * LEAST_AROUND_PS));
    scene.state.event.value = place.event;
  }

  /** The event under a place of the canvas (px), with its name and how many events its slice stands for. */
  eventAt(x: number, y: number): (EventPlace & { readonly mergedCount: number }) | null {
    const { scene } = this;
    const row = scene.rowAt(y);
    const laneSlices = row && scene.loader.slicesByLane.get(row.key);
    if (!row || !laneSlices) return null;
    const time = scene.view.begin + x * scene.psPerPixel;
    const index = sliceAt(laneSlices, row.row, time, POINTER_REACH_PX * scene.psPerPixel);
    if (index < 0) return null;
    return {
      ...eventPlaceOf(laneSlices, index, row.key, row.row),
      name: scene.names.label(laneSlices.host, laneSlices.name[index] as number),
      mergedCount: laneSlices.mergedCount[index] as number,
    };
  }

  /** What the counter under a place of the canvas says; empty where there is none. */
  counterTextAt(x: number, y: number): string {
    const { scene } = this;
    const lane = scene.rowAt(y)?.band.lane;
    const counter = lane && scene.loader.counters.get(lane.key);
    const value = counter ? counterValueAt(counter, scene.view.begin + x * scene.psPerPixel) : null;
    return lane && value !== null ? `${lane.name} ${lane.detail}: ${counterValueText(lane, value)}` : "";
  }

  dispose(): void {
    this.requests.abort();
    cancelAnimationFrame(this.frameRequest);
    cancelAnimationFrame(this.glideRequest);
    for (const cleanup of this.cleanups) cleanup();
    this.scene.loader.dispose();
    this.renderer.dispose();
  }
}
