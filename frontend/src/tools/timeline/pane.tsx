import { useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { EventDetails, Lanes, TimelineApi } from "../../api/timeline";
import { t } from "../../base/messages";
import type { Problem } from "../../base/schema";
import { cutEnd } from "../../base/text";
import { createRenderer } from "../../canvas/fastestrenderer";
import { linkTo } from "../../state/links"; /** One session's lanes: canvases, names of the lanes, and the details of what is selected. */
import { shownPageKeys } from "../../state/pagekeys";
import { toProblem } from "../../state/resource";
import type { Store } from "../../state/store";

import { type DetailActions, Details } from "./details";
import { Engine } from "./engine";
import { type AddressOptions, followState } from "./followstate";
import { HitList } from "./hitlist";
import { listenToTimelineKeys, TIMELINE_KEYS } from "./keys";
import { LaneLabels } from "./lanelabels";
import { selectFirstInView, selectGapOrArrowEnd, selectNeighbour } from "./navigation";
import { listenToPointer } from "./pointer";
import { Scene } from "./scene";
import type { TimelineState } from "./state";

/** Where an op that is selected here can be read about, and the table there that is filtered by it. */
const OP_TOOLS = [
  ["framework_op_stats", "ops"],
  ["kernel_stats", "kernels"],
] as const;

export interface RunningPane {
  readonly engine: Engine;
  readonly scene: Scene;
}

function startPane(
  { store, api, lanes, createInitialState }: PaneProps,
  sliceCanvas: HTMLCanvasElement,
  overlay: HTMLCanvasElement,
): RunningPane {
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
  return { engine, scene };
}

function detailActions({ engine, scene }: RunningPane, { store, isMain }: PaneProps): DetailActions {
  const { state } = scene;
  const selectedTime = (): { begin: number; end: number } | null => state.box.peek() ?? state.details.peek();
  return {
    showEvent: (place) => engine.showEvent(place),
    zoomToSelection: () => {
      const time = selectedTime();
      if (time) engine.zoomTo(time);
    },
    markSelection: () => {
      const time = selectedTime();
      if (!time) return;
      const name = state.box.peek() ? "" : cutEnd(state.details.peek()?.name ?? "", 40);
      state.marks.value = [...state.marks.peek(), { begin: time.begin, end: time.end, name }];
    },
    findName: (text) => {
      state.regex.value = false;
      state.find.value = text;
    },
    selectGapOrArrowEnd: (step) => selectGapOrArrowEnd(engine, step),
    zoomTo: (begin, end) => engine.zoomTo({ begin, end }),
    clearSelection: () => {
      state.event.value = "";
      state.box.value = null;
    },
    linksToTools: ({ op }: EventDetails) =>
      OP_TOOLS.flatMap(([name, table]) => {
        const link = isMain && op ? linkTo(store, name, { options: { [`${table}.find`]: op } }) : undefined;
        return link ? [{ ...link, label: t("Open: {page}", { page: link.label }) }] : [];
      }),
  };
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
  readonly setRunning: (running: RunningPane | null) => void;
}

export function TimelinePane(props: PaneProps) {
  const { store, api, lanes, label, isMain, address, setRunning: tellRunning } = props;
  const sliceCanvas = useRef<HTMLCanvasElement>(null);
  const overlay = useRef<HTMLCanvasElement>(null);
  const [running, setRunning] = useState<RunningPane | null>(null);
  useEffect(() => {
    if (!sliceCanvas.current || !overlay.current) return;
    const pane = startPane(props, sliceCanvas.current, overlay.current);
    const { engine, scene } = pane;
    let pointerX = scene.size.width / 2;
    const track = (event: PointerEvent) => {
      pointerX = event.offsetX;
    };
    overlay.current.addEventListener("pointermove", track);
    const cleanups = [
      listenToPointer(engine, overlay.current),
      followState(engine, address),
      store.theme.subscribe((theme) => engine.setDark(theme === "dark")),
    ];
    if (isMain) {
      const keys = {
        ...detailActions(pane, props),
        selectFirstInView: () => selectFirstInView(engine),
        selectNeighbour: (step: 1 | -1) => selectNeighbour(engine, step),
        pointerX: () => pointerX,
      };
      cleanups.push(listenToTimelineKeys(engine, keys));
      shownPageKeys.value = TIMELINE_KEYS;
      cleanups.push(() => {
        shownPageKeys.value = [];
      });
    }
    if (store.settings.peek().idle) void engine.loadIdleLanes();
    setRunning(pane);
    tellRunning(pane);
    return () => {
      tellRunning(null);
      for (const cleanup of cleanups) cleanup();
      engine.dispose();
    };
  }, [store, api, lanes]);
  const actions = useMemo(() => running && detailActions(running, props), [running, store]);
  return (
    <>
      <div class="tl-pane" role="application" aria-label={label}>
        {running ? <LaneLabels scene={running.scene} /> : <div class="tl-labels" />}
        <div class="tl-canvases">
          <canvas ref={sliceCanvas} />
          <canvas ref={overlay} tabIndex={0} aria-label={t("Slices of the lanes; keys move through time")} />
          {running && <HoverTip state={running.scene.state} />}
        </div>
        {running && <HitList engine={running.engine} />}
      </div>
      {running && <LoadProblem scene={running.scene} />}
      {running && actions && <Details scene={running.scene} actions={actions} />}
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
