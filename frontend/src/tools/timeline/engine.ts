/** Keeps the canvases equal to the state: one frame per change, however many changes there are. */

import { effect } from "@preact/signals";
import type { EventPlace } from "../../api/timeline";
import type { Renderer } from "../../canvas/renderer";
import { type Viewport, viewAround, viewBetween } from "../../canvas/viewport";
import type { Frame, Overview } from "./frame";
import { type Ink, readInk } from "./ink";
import { hit } from "./loader";
import { paint } from "./paint";
import { OVERVIEW_COLUMNS, overviewOf, valueAt, valueLabel } from "./panels";
import type { Scene } from "./scene";

const GLIDE_MS = 220;
/** What is gone to is shown with at least this much around it, ps. */
const LEAST_AROUND = 1e6;
/** How many times as long as the event: to look at it, and to see where it stands. */
const CLOSE = 2.5;
const CONTEXT = 12;

export class Engine {
  drag: Frame["drag"] = null;
  hovered: Frame["hovered"] = null;
  private overview: Overview = new Float32Array(OVERVIEW_COLUMNS);
  private ink: Ink;
  private asked = 0;
  private glide = 0;
  private readonly stops: (() => void)[] = [];
  private readonly context: CanvasRenderingContext2D;
  private readonly running = new AbortController();

  constructor(
    readonly scene: Scene,
    readonly renderer: Renderer,
    private readonly canvas: HTMLCanvasElement,
  ) {
    this.context = canvas.getContext("2d") as CanvasRenderingContext2D;
    this.ink = readInk(canvas, scene.dark);
    const { state } = scene;
    const { view, scroll, pins, folds, lanes, marks, area, details, arrows, steps } = state;
    this.stops.push(
      effect(() => {
        for (const each of [view, scroll, pins, folds, lanes, marks, area, details, arrows, steps]) each.value;
        scene.layout.value;
        this.invalidate();
      }),
      effect(() => {
        state.hits.value;
        state.least.value;
        state.colouring.value;
        scene.loader.repaint();
        this.invalidate();
      }),
    );
    const observer = new ResizeObserver(() => this.resize());
    observer.observe(canvas.parentElement as Element);
    this.stops.push(() => observer.disconnect());
    this.resize();
    void this.survey();
  }

  private resize(): void {
    const box = this.canvas.parentElement as HTMLElement;
    this.scene.size = { width: box.clientWidth, height: box.clientHeight };
    const { event, details } = this.scene.state;
    const chosen = details.peek();
    // As far as the new height allows; details that are still to come will take some of it.
    if (chosen || !event.peek()) this.scene.scroll = this.scene.scroll;
    if (chosen) this.scene.reveal(chosen.lane, chosen.row); // Its own details may cover it.
    this.invalidate();
  }

  /** Follows the page's theme. */
  recolour(dark: boolean): void {
    this.scene.dark = dark;
    this.ink = readInk(this.canvas, dark);
    this.scene.loader.repaint();
    this.invalidate();
  }

  invalidate(): void {
    this.asked ||= requestAnimationFrame(() => {
      this.asked = 0;
      this.frame();
    });
  }

  private frame(): void {
    const { scene } = this;
    if (!scene.size.width || !scene.size.height) return;
    scene.load();
    paint({ ...this, scene, ink: this.ink, context: this.context, overview: this.overview } as Frame, devicePixelRatio);
    this.canvas.ariaBusy = String(scene.loader.busy || scene.awaitsLanes);
  }

  private async survey(): Promise<void> {
    const { scene } = this;
    const lanes = scene.lanes
      .peek()
      .sections.flatMap((section) => section.lanes)
      .filter(({ kind }) => kind !== "counter");
    const keys = lanes.slice(0, 150).map(({ key }) => `${key}:1`);
    const { begin, end } = scene.whole;
    const signal = this.running.signal;
    try {
      this.overview = overviewOf(await scene.api.slices(keys.join(","), begin, end, OVERVIEW_COLUMNS, signal), end);
      this.invalidate();
      scene.state.steps.value = await scene.api.steps(signal);
    } catch (error) {
      if (!signal.aborted) scene.state.problem.value = error;
    }
  }

  /** Adds the lanes that tell why devices are idle; they take longer than all others. */
  async explain(): Promise<void> {
    const { scene } = this;
    const { signal } = this.running;
    scene.awaitsLanes = true;
    try {
      scene.take(await scene.api.withIdle(signal));
    } catch (error) {
      if (!signal.aborted) scene.state.problem.value = error;
    }
    scene.awaitsLanes = false;
    this.invalidate();
  }

  /** What a device waits for at a place where one of its lanes is empty; empty where nothing tells. */
  async gapAt(x: number, y: number): Promise<string> {
    const { scene } = this;
    const section = scene.spot(y)?.band.section;
    const lanes = scene.lanes.peek().sections.flatMap(({ host, lanes }) => (host === section?.host ? lanes : []));
    const idle = lanes.find(({ id, detail }) => id.startsWith("why.idle.") && section?.name.endsWith(`:${detail}`));
    if (!idle) return "";
    const time = scene.view.begin + x * scene.perPixel;
    const { arrays } = await scene.api.slices(idle.key, time, time + 1, 1, this.running.signal);
    return arrays.event?.length ? `${idle.key.split(".")[0]}.${arrays.event[0]}` : "";
  }

  /** Moves softly, so that the eye can follow. */
  glideTo(target: Viewport): void {
    cancelAnimationFrame(this.glide);
    const from = this.scene.view;
    const to = this.scene.clamped(target);
    const start = performance.now();
    const step = (now: number) => {
      const share = Math.min(1, Math.max(0, now - start) / GLIDE_MS);
      const soft = 1 - (1 - share) ** 3;
      this.scene.view = share < 1 ? viewBetween(from, to, soft) : to;
      if (share < 1) this.glide = requestAnimationFrame(step);
    };
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) this.scene.view = to;
    else this.glide = requestAnimationFrame(step);
  }

  stopGliding(): void {
    cancelAnimationFrame(this.glide);
  }

  focus(spot: Pick<EventPlace, "begin" | "end">): void {
    this.glideTo(viewAround(spot.begin, spot.end, CLOSE, LEAST_AROUND));
  }

  /** Selects an event and brings it into view; zooms only where it would not be seen otherwise. */
  show(spot: EventPlace): void {
    const { scene } = this;
    scene.reveal(spot.lane, spot.row);
    const { begin, end } = scene.view;
    const long = spot.end - spot.begin;
    const inside = spot.begin >= begin && spot.end <= end && long >= 4 * scene.perPixel;
    if (!inside) this.glideTo(viewAround(spot.begin, spot.end, CONTEXT, 10 * LEAST_AROUND));
    scene.state.event.value = spot.event;
  }

  /** The slice under a place of the canvas. */
  at(
    x: number,
    y: number,
  ): { event: string; lane: string; row: number; begin: number; end: number; many: number; name: string } | null {
    const { scene } = this;
    const spot = scene.spot(y);
    const laneSlices = spot && scene.loader.slicesByLane.get(spot.key);
    if (!spot || !laneSlices) return null;
    const time = scene.view.begin + x * scene.perPixel;
    const place = hit(laneSlices, spot.row, time, 3 * scene.perPixel);
    if (place < 0) return null;
    const begin = laneSlices.originPs + (laneSlices.begin[place] as number) * laneSlices.psPerUnit;
    return {
      event: `${laneSlices.host}.${laneSlices.event[place]}`,
      lane: spot.key,
      row: spot.row,
      begin,
      end: begin + (laneSlices.width[place] as number) * laneSlices.psPerUnit,
      many: laneSlices.merged[place] as number,
      name: scene.names.label(laneSlices.host, laneSlices.name[place] as number),
    };
  }

  /** What the counter under a place of the canvas says; empty where there is none. */
  valueAt(x: number, y: number): string {
    const { scene } = this;
    const lane = scene.spot(y)?.band.lane;
    const counter = lane && scene.loader.counters.get(lane.key);
    const value = counter ? valueAt(counter, scene.view.begin + x * scene.perPixel) : null;
    return lane && value !== null ? `${lane.name} ${lane.detail}: ${valueLabel(lane, value)}` : "";
  }

  dispose(): void {
    this.running.abort();
    cancelAnimationFrame(this.asked);
    cancelAnimationFrame(this.glide);
    for (const stop of this.stops) stop();
    this.scene.loader.dispose();
    this.renderer.dispose();
  }
}
