/** The baseline's lanes below the session's, so that a step of either begins at the same place. */

import { signal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Alignment, clockChoice, TimelineApi } from "../../api/timeline";
import { t } from "../../base/messages";
import type { Problem } from "../../base/schema";
import { cutEnd } from "../../base/text";
import { DEFAULT_VIEW } from "../../base/timelinecodec";
import { type Viewport, viewAround } from "../../canvas/viewport";
import { toProblem } from "../../state/resource";
import type { Store } from "../../state/store";
import { Select } from "../../view/select";
import type { Engine } from "./engine";
import { linkSelection, linkViews } from "./linkedscenes";
import { TimelinePane } from "./pane";
import { createState } from "./state";
import { useLanes } from "./uselanes";

/** How many times as long as the step the window is that shows it. */
const STEP_WINDOW_FACTOR = 1.5;
const LONGEST_NAME = 60;

interface LoadedAlignment {
  readonly key: string;
  readonly alignment: Alignment | null;
  readonly problem: Problem | null;
}

/** Which steps lie over each other; while it is asked anew, what was known. */
function useAlignment(api: TimelineApi, base: string, step: string, baseStep: string) {
  const [loaded, setLoaded] = useState<LoadedAlignment | null>(null);
  const key = `${base}\n${step}\n${baseStep}`;
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    api.aligned(base, step, baseStep, signal).then(
      (alignment) => !signal.aborted && setLoaded({ key, alignment, problem: null }),
      (error: unknown) => !signal.aborted && setLoaded({ key, alignment: null, problem: toProblem(error) }),
    );
    return () => controller.abort();
  }, [api, key]);
  return loaded?.key.startsWith(`${base}\n`) ? loaded : null;
}

interface BaselineTimelineProps {
  readonly store: Store;
  /** The session's own lanes. */
  readonly main: Engine;
  readonly api: TimelineApi;
}

export function BaselineTimeline({ store, main, api }: BaselineTimelineProps) {
  const { base, options } = store.view.value;
  const loaded = useAlignment(api, base, options.step ?? "", options.base_step ?? "");
  if (loaded?.problem) {
    return (
      <p class="tl-fault" role="alert">
        {loaded.problem.message} {loaded.problem.remedy}
      </p>
    );
  }
  if (!loaded?.alignment) return <p class="tl-beside quiet">{t("Aligning the baseline …")}</p>;
  return <AlignedPane store={store} main={main} alignment={loaded.alignment} />;
}

interface AlignedPaneProps extends Omit<BaselineTimelineProps, "api"> {
  readonly alignment: Alignment;
}

const isZoomedIn = (main: Engine): boolean => {
  const view: Viewport | null = main.scene.state.view.peek();
  return view !== null && (view.begin !== main.scene.capture.begin || view.end !== main.scene.capture.end);
};

function AlignedPane({ store, main, alignment }: AlignedPaneProps) {
  const { base, options } = store.view.value;
  const { idle } = store.settings.value;
  const host = alignment.base_host;
  const clocks = clockChoice(options);
  const baseSession = store.sessions.state.value.value?.sessions.find(({ run }) => run === base);
  const api = useMemo(() => new TimelineApi(base, host, clocks), [base, host, clocks, idle, baseSession?.modified]);
  const { lanes, problem } = useLanes(api, base);
  const offset = useMemo(() => signal(alignment.offset), [main]);
  const [engine, setEngine] = useState<Engine | null>(null);
  const isFirstAlignment = useRef(true);
  useEffect(() => {
    offset.value = alignment.offset;
    const { begin, end } = alignment.session;
    // A link's own window stays; a step that is chosen is gone to.
    const keepsWindow = isFirstAlignment.current && isZoomedIn(main);
    isFirstAlignment.current = false;
    if (begin !== null && end !== null && !keepsWindow) main.glideTo(viewAround(begin, end, STEP_WINDOW_FACTOR, 0));
  }, [alignment, main]);
  useEffect(() => {
    main.scene.state.base.value = { run: base, offset: alignment.offset };
    return () => {
      main.scene.state.base.value = null;
    };
  }, [main, base, alignment.offset]);
  useEffect(() => {
    if (!engine) return;
    const cleanups = [linkViews(main.scene, engine.scene, offset), linkSelection(main.scene, engine.scene, offset)];
    return () => {
      for (const cleanup of cleanups) cleanup();
    };
  }, [engine, main]);
  const { state } = main.scene;
  return (
    <>
      <StepChoices store={store} alignment={alignment} />
      {problem && (
        <p class="tl-fault" role="alert">
          {problem.message} {problem.remedy}
        </p>
      )}
      {lanes && (
        <TimelinePane
          key={`${base}\n${host}\n${idle}`}
          store={store}
          api={api}
          lanes={lanes}
          label={t("Timeline of {run}", { run: base })}
          isMain={false}
          createInitialState={() => {
            const { mode, find, regex, longest, laneFilter, leastPs, colouring } = state;
            return { ...createState(DEFAULT_VIEW), mode, find, regex, longest, laneFilter, leastPs, colouring };
          }}
          address={{ read: () => ({}), write: () => {} }}
          setEngine={setEngine}
        />
      )}
    </>
  );
}

/** Which step lies over which. */
function StepChoices({ store, alignment }: { store: Store; alignment: Alignment }) {
  const { session, base, text } = alignment;
  const choose = (name: string, value: string) => {
    const { base_step: _, ...others } = store.view.peek().options;
    store.go({ options: { ...(name === "step" ? others : store.view.peek().options), [name]: value } });
  };
  return (
    <div class="tl-beside">
      <b>{store.view.value.base}</b>
      {session.step === null ? (
        <span class="quiet">{text}</span>
      ) : (
        <>
          <StepSelect label={t("Step")} side={session} choose={(value) => choose("step", value)} />
          <span class="quiet">{t("over")}</span>
          <StepSelect label={t("Step of the baseline")} side={base} choose={(value) => choose("base_step", value)} />
        </>
      )}
    </div>
  );
}

interface StepProps {
  readonly label: string;
  readonly side: Alignment["base"];
  readonly choose: (place: string) => void;
}

function StepSelect({ label, side, choose }: StepProps) {
  const place = side.step ?? -1;
  const names = place < side.names.length ? side.names : [...side.names, side.name];
  return (
    <Select
      label={label}
      value={`${place}`}
      options={names.map((name, index) => [`${index < side.names.length ? index : place}`, cutEnd(name, LONGEST_NAME)])}
      choose={choose}
    />
  );
}
