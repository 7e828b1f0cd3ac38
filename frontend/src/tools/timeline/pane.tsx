import { useSignalEffect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Lanes, TimelineApi } from "../../api/timeline";
import { t } from "../../base/messages";
import type { Problem } from "../../base/schema";
import { createRenderer } from "../../canvas/fastestrenderer";
import { linkTo } from "../../state/links"; /** One session's lanes: canvases, names of the lanes, and the details of what is selected. */
import { shownPageKeys } from "../../state/pagekeys";
import { toProblem } from "../../state/resource";
import type { Store } from "../../state/store";

import { Details } from "./details";
import { Engine } from "./engine";
import { type AddressOptions, followState } from "./followstate";
import { HitList } from "./hitlist";
import { listenToTimelineKeys, TIMELINE_KEYS } from "./keys";
import { LaneLabels } from "./lanelabels";
import { listenToPointer } from "./pointer";
import { Scene } from "./scene";
import type { TimelineState } from "./state";

/** Where an op that is selected here can be read about, and the table there that is filtered by it. */
const OP_TOOLS = [
  ["framework_op_stats", "ops"],
  ["kernel_stats", "kernels"],
] as const;

function startPane(
  { store, api, lanes, createInitialState }: PaneProps,
  sliceCanvas: HTMLCanvasElement,
  overlay: HTMLCanvasElement,
): Engine {
  const state = createInitialState();
  const renderer = createRenderer(sliceCanvas);
  sliceCanvas.dataset.renderer = renderer.kind;
  let engine: Engine | null = null;
  const scene: Scene = new Scene({
    api,
    lanes,
    state,
    renderer,
    onChange: (error) => {
      if (error) state.problem.value = error;
      engine?.requestFrame();
    },
  });
  scene.dark = store.theme.peek() === "dark";
  engine = new Engine(scene, renderer, overlay);
  return engine;
}

export interface PaneProps {
  readonly store: Store;
  readonly api: TimelineApi;
  readonly lanes: Lanes;
  readonly label: string;
  /** Whether it is the session that the page is about: it has the keys, and its ops lead to its other pages. */
  readonly isMain: boolean;
  /** What it begins with. */
  readonly createInitialState: () => TimelineState;
  readonly address: AddressOptions;
  /** Told once it runs, and with null when it has ended. */
  readonly setEngine: (engine: Engine | null) => void;
}

export function TimelinePane(props: PaneProps) {
  const { store, api, lanes, label, isMain, address, setEngine: tellEngine } = props;
  const sliceCanvas = useRef<HTMLCanvasElement>(null);
  const overlay = useRef<HTMLCanvasElement>(null);
  const [engine, setEngine] = useState<Engine | null>(null);
  useEffect(() => {
    if (!sliceCanvas.current || !overlay.current) return;
    const started = startPane(props, sliceCanvas.current, overlay.current);
    let pointerX = started.scene.size.width / 2;
    const track = (event: PointerEvent) => {
      pointerX = event.offsetX;
    };
    overlay.current.addEventListener("pointermove", track);
    const cleanups = [
      listenToPointer(started, overlay.current),
      followState(started, address),
      store.theme.subscribe((theme) => started.setDark(theme === "dark")),
    ];
    if (isMain) {
      cleanups.push(listenToTimelineKeys(started, () => pointerX));
      shownPageKeys.value = TIMELINE_KEYS;
      cleanups.push(() => {
        shownPageKeys.value = [];
      });
    }
    if (store.settings.peek().idle) void started.loadIdleLanes();
    setEngine(started);
    tellEngine(started);
    return () => {
      tellEngine(null);
      for (const cleanup of cleanups) cleanup();
      started.dispose();
    };
  }, [store, api, lanes]);
  const linksToTools = (op: string) =>
    OP_TOOLS.flatMap(([name, table]) => {
      const link = isMain && op ? linkTo(store, name, { options: { [`${table}.find`]: op } }) : undefined;
      return link ? [{ ...link, label: t("Open: {page}", { page: link.label }) }] : [];
    });
  return (
    <>
      <div class="tl-pane" role="application" aria-label={label}>
        {engine ? <LaneLabels scene={engine.scene} /> : <div class="tl-labels" />}
        <div class="tl-canvases">
          <canvas ref={sliceCanvas} />
          <canvas ref={overlay} tabIndex={0} aria-label={t("Slices of the lanes; keys move through time")} />
          {engine && <HoverTip state={engine.scene.state} />}
        </div>
        {engine && <HitList engine={engine} />}
      </div>
      {engine && <LoadProblem scene={engine.scene} />}
      {engine && <Details engine={engine} linksToTools={linksToTools} />}
    </>
  );
}

function HoverTip({ state }: { state: TimelineState }) {
  const hover = state.hover.value;
  if (!hover) return null;
  return (
    <div class="tip tl-hover" style={{ left: `${hover.x + 12}px`, top: `${hover.y + 16}px` }}>
      {hover.lines.map((line) => (
        <div key={line}>{line}</div>
      ))}
    </div>
  );
}

function LoadProblem({ scene }: { scene: Scene }) {
  const { problem } = scene.state;
  const [shown, setShown] = useState<Problem | null>(null);
  useSignalEffect(() => setShown(problem.value ? toProblem(problem.value) : null));
  if (!shown) return null;
  const retry = () => {
    problem.value = null;
    scene.loader.retry();
  };
  return (
    <p class="tl-fault" role="alert">
      {shown.message} {shown.remedy}{" "}
      <button type="button" class="button" onClick={retry}>
        {t("Try again")}
      </button>
    </p>
  );
}
