/** The timeline: what happened when, on every thread and device. */

import { useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { api as serverApi } from "../api/client";
import { type EventDetails, type Lanes, type TimelineApi, timelineApi } from "../api/timeline";
import type { Problem, Progress } from "../api/types";
import { beginning } from "../base/text";
import { readPlace } from "../base/timecodec";
import { createFlat } from "../canvas/flat";
import { createWebgl } from "../canvas/webgl";
import { pageKeys } from "../state/pagekeys";
import { toProblem } from "../state/resource";
import type { Store } from "../state/store";
import { Loading } from "../view/loading";
import { ProblemPage } from "../view/problems";
import styles from "../view/style/timeline.css?inline";
import { linkTo, type PageProps } from "./page";
import { type DetailActions, Details } from "./timeline/details";
import { Engine } from "./timeline/engine";
import { KEYS, listenToKeys } from "./timeline/keys";
import { Labels } from "./timeline/labels";
import { listenToPointer } from "./timeline/pointer";
import { Scene } from "./timeline/scene";
import { followState, selectFirst, selectNeighbour, walkHits } from "./timeline/session";
import { createState, type TimelineState } from "./timeline/state";
import { TopBar } from "./timeline/topbar";

const sheet = new CSSStyleSheet();
sheet.replaceSync(styles);

const POLL_MS = 400;
/** Where an op that is selected here can be read about, and the table there that is filtered by it. */
const OP_TOOLS = [
  ["framework_op_stats", "ops"],
  ["kernel_stats", "kernels"],
] as const;

function useLanes(api: TimelineApi, run: string) {
  const [lanes, setLanes] = useState<{ api: TimelineApi; lanes: Lanes | null; problem: Problem | null } | null>(null);
  const [progress, setProgress] = useState<Progress | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const poll = setInterval(() => serverApi.progress(run, signal).then(setProgress, () => {}), POLL_MS);
    api
      .lanes(signal)
      .then(
        (found) => setLanes({ api, lanes: found, problem: null }),
        (error: unknown) => !signal.aborted && setLanes({ api, lanes: null, problem: toProblem(error) }),
      )
      .finally(() => clearInterval(poll));
    return () => {
      clearInterval(poll);
      controller.abort();
    };
  }, [api, run]);
  return { ...(lanes?.api === api ? lanes : { lanes: null, problem: null }), progress };
}

export default function TraceViewer({ store, session }: PageProps) {
  const host = store.host.value;
  const { why } = store.settings.value;
  const identity = `${session.run}\n${host}\n${session.modified}\n${why}`;
  const api = useMemo(() => timelineApi(session.run, host, why), [identity]);
  const { lanes, problem, progress } = useLanes(api, session.run);
  useEffect(() => {
    if (!document.adoptedStyleSheets.includes(sheet)) {
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    }
  }, []);
  if (problem) return <ProblemPage problem={problem} />;
  if (!lanes) return <Loading what="Arranging the events" progress={progress} />;
  return <Timeline key={identity} store={store} api={api} lanes={lanes} />;
}

const shown = (store: Store) => store.view.value.tool === "trace_viewer";

interface Running {
  readonly engine: Engine;
  readonly scene: Scene;
}

function start(
  store: Store,
  api: TimelineApi,
  lanes: Lanes,
  slices: HTMLCanvasElement,
  over: HTMLCanvasElement,
): Running {
  const state = createState(readPlace(store.view.peek().options));
  const renderer = createWebgl(slices) ?? createFlat(slices);
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

function actionsOf({ engine, scene }: Running, store: Store): DetailActions {
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
      const name = state.area.peek() ? "" : beginning(state.details.peek()?.name ?? "", 40);
      state.marks.value = [...state.marks.peek(), { begin: found.begin, end: found.end, name }];
    },
    find: (text) => {
      state.regex.value = false;
      state.find.value = text;
    },
    goTo: (begin, end) => engine.focus({ begin, end }),
    drop: () => {
      state.event.value = "";
      state.area.value = null;
    },
    tools: ({ op }: EventDetails) =>
      OP_TOOLS.flatMap(([name, table]) => {
        const link = op ? linkTo(store, name, { options: { [`${table}.find`]: op } }) : undefined;
        return link ? [{ ...link, label: `Open ${link.label}` }] : [];
      }),
  };
}

function Timeline({ store, api, lanes }: { store: Store; api: TimelineApi; lanes: Lanes }) {
  const slices = useRef<HTMLCanvasElement>(null);
  const over = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const [running, setRunning] = useState<Running | null>(null);
  useEffect(() => {
    if (!slices.current || !over.current || !box.current) return;
    const made = start(store, api, lanes, slices.current, over.current);
    const { engine, scene } = made;
    const actions = actionsOf(made, store);
    let pointerX = scene.size.width / 2;
    const track = (event: PointerEvent) => {
      pointerX = event.offsetX;
    };
    over.current.addEventListener("pointermove", track);
    const stops = [
      listenToPointer(engine, over.current),
      listenToKeys(engine, {
        ...actions,
        first: () => selectFirst(engine),
        neighbour: (step) => selectNeighbour(engine, step),
        pointerX: () => pointerX,
      }),
      followState(engine, api, {
        read: () => (shown(store) ? store.view.value.options : {}),
        write: (options) => shown(store) && store.replace({ options }),
      }),
      store.theme.subscribe((theme) => engine.recolour(theme === "dark")),
    ];
    setRunning(made);
    pageKeys.value = KEYS;
    return () => {
      pageKeys.value = [];
      for (const stop of stops) stop();
      engine.dispose();
    };
  }, [store, api, lanes]);
  const actions = useMemo(() => running && actionsOf(running, store), [running, store]);
  return (
    <div class="timeline" ref={box}>
      {running && (
        <TopBar
          scene={running.scene}
          settings={store.settings}
          actions={{
            walk: (step) => walkHits(running.engine, step),
            close: () => {
              running.scene.state.find.value = "";
            },
          }}
        />
      )}
      <div class="tl-pane" role="application" aria-label="Timeline">
        {running ? <Labels scene={running.scene} /> : <div class="tl-labels" />}
        <div class="tl-canvases">
          <canvas ref={slices} />
          <canvas ref={over} tabIndex={0} aria-label="Slices of the lanes; keys move through time" />
          {running && <Hovering state={running.scene.state} />}
        </div>
      </div>
      {running && <Fault scene={running.scene} />}
      {running && actions && <Details scene={running.scene} actions={actions} />}
    </div>
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
        Try again
      </button>
    </p>
  );
}
