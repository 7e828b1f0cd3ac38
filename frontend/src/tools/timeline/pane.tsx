/** One session's lanes: canvases, names of the lanes, and the details of what is selected. */

import { useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { EventDetails, Lanes, TimelineApi } from "../../api/timeline";
import type { Problem } from "../../api/types";
import { t } from "../../base/messages";
import { cutEnd } from "../../base/text";
import { createRenderer } from "../../canvas/choice";
import { shownPageKeys } from "../../state/pagekeys";
import { toProblem } from "../../state/resource";
import type { Store } from "../../state/store";
import { linkTo } from "../page";
import { type DetailActions, Details } from "./details";
import { Engine } from "./engine";
import { HitList } from "./hits";
import { KEYS, listenToKeys } from "./keys";
import { Labels } from "./labels";
import { listenToPointer } from "./pointer";
import { Scene } from "./scene";
import { type Address, followArrow, followState, selectFirst, selectNeighbour } from "./session";
import type { TimelineState } from "./state";

/** Where an op that is selected here can be read about, and the table there that is filtered by it. */
const OP_TOOLS = [
  ["framework_op_stats", "ops"],
  ["kernel_stats", "kernels"],
] as const;

export interface Running {
  readonly engine: Engine;
  readonly scene: Scene;
}

function start(
  { store, api, lanes, state: begin }: PaneProps,
  slices: HTMLCanvasElement,
  over: HTMLCanvasElement,
): Running {
  const state = begin();
  const renderer = createRenderer(slices);
  slices.dataset.renderer = renderer.kind;
  let engine: Engine | null = null;
  const scene: Scene = new Scene(api, lanes, state, renderer, (error) => {
    if (error) state.problem.value = error;
    engine?.invalidate();
  });
  scene.dark = store.theme.peek() === "dark";
  engine = new Engine(scene, renderer, over);
  return { engine, scene };
}

function actionsOf({ engine, scene }: Running, { store, main }: PaneProps): DetailActions {
  const { state } = scene;
  const chosen = (): { begin: number; end: number } | null => state.area.peek() ?? state.details.peek();
  return {
    show: (spot) => engine.show(spot),
    focus: () => {
      const found = chosen();
      if (found) engine.focus(found);
    },
    mark: () => {
      const found = chosen();
      if (!found) return;
      const name = state.area.peek() ? "" : cutEnd(state.details.peek()?.name ?? "", 40);
      state.marks.value = [...state.marks.peek(), { begin: found.begin, end: found.end, name }];
    },
    find: (text) => {
      state.regex.value = false;
      state.find.value = text;
    },
    along: (step) => followArrow(engine, step),
    goTo: (begin, end) => engine.focus({ begin, end }),
    drop: () => {
      state.event.value = "";
      state.area.value = null;
    },
    tools: ({ op }: EventDetails) =>
      OP_TOOLS.flatMap(([name, table]) => {
        const link = main && op ? linkTo(store, name, { options: { [`${table}.find`]: op } }) : undefined;
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
  readonly main: boolean;
  /** What it begins with. */
  readonly state: () => TimelineState;
  readonly address: Address;
  /** Told once it runs, and with null when it has ended. */
  readonly runs: (running: Running | null) => void;
}

export function Pane(props: PaneProps) {
  const { store, api, lanes, label, main, address, runs } = props;
  const slices = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const [running, setRunning] = useState<Running | null>(null);
  useEffect(() => {
    if (!slices.current || !over.current) return;
    const made = start(props, slices.current, over.current);
    const { engine, scene } = made;
    let pointerX = scene.size.width / 2;
    const track = (event: PointerEvent) => {
      pointerX = event.offsetX;
    };
    over.current.addEventListener("pointermove", track);
    const stops = [
      listenToPointer(engine, over.current),
      followState(engine, api, address),
      store.theme.subscribe((theme) => engine.recolour(theme === "dark")),
    ];
    if (main) {
      const keys = {
        ...actionsOf(made, props),
        first: () => selectFirst(engine),
        neighbour: (step: 1 | -1) => selectNeighbour(engine, step),
        pointerX: () => pointerX,
      };
      stops.push(listenToKeys(engine, keys));
      shownPageKeys.value = KEYS;
      stops.push(() => {
        shownPageKeys.value = [];
      });
    }
    if (store.settings.peek().idle) void engine.explain();
    setRunning(made);
    runs(made);
    return () => {
      runs(null);
      for (const stop of stops) stop();
      engine.dispose();
    };
  }, [store, api, lanes]);
  const actions = useMemo(() => running && actionsOf(running, props), [running, store]);
  return (
    <>
      <div class="tl-pane" role="application" aria-label={label}>
        {running ? <Labels scene={running.scene} /> : <div class="tl-labels" />}
        <div class="tl-canvases">
          <canvas ref={slices} />
          <canvas ref={over} tabIndex={0} aria-label={t("Slices of the lanes; keys move through time")} />
          {running && <Hovering state={running.scene.state} />}
        </div>
        {running && <HitList engine={running.engine} />}
      </div>
      {running && <Fault scene={running.scene} />}
      {running && actions && <Details scene={running.scene} actions={actions} />}
    </>
  );
}

function Hovering({ state }: { state: TimelineState }) {
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

function Fault({ scene }: { scene: Scene }) {
  const { problem } = scene.state;
  const [shown, setShown] = useState<Problem | null>(null);
  useSignalEffect(() => setShown(problem.value ? toProblem(problem.value) : null));
  if (!shown) return null;
  const again = () => {
    problem.value = null;
    scene.loader.retry();
  };
  return (
    <p class="tl-fault" role="alert">
      {shown.message} {shown.remedy}{" "}
      <button type="button" class="button" onClick={again}>
        {t("Try again")}
      </button>
    </p>
  );
}
