/** The baseline's lanes below the session's, so that a step of either begins at the same place. */

import { signal } from "@preact/signals";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Alignment, clockChoice, type TimelineApi, timelineApi } from "../../api/timeline";
import type { Problem } from "../../api/types";
import { t } from "../../base/messages";
import { cutEnd } from "../../base/text";
import { DEFAULT_VIEW } from "../../base/timecodec";
import { type Viewport, viewAround } from "../../canvas/viewport";
import { toProblem } from "../../state/resource";
import type { Store } from "../../state/store";
import { useLanes } from "./lanes";
import { link, linkSelection } from "./link";
import { Pane, type Running } from "./pane";
import { createState } from "./state";

/** Options of the page that say which steps lie over each other. */
export const STEPS = ["step", "base_step"] as const;
/** How many times as long as the step the window is that shows it. */
const WIDE = 1.5;
const LONGEST_NAME = 60;

interface Found {
  readonly key: string;
  readonly alignment: Alignment | null;
  readonly problem: Problem | null;
}

/** Which steps lie over each other; while it is asked anew, what was known. */
function useAlignment(api: TimelineApi, base: string, step: string, baseStep: string) {
  const [found, setFound] = useState<Found | null>(null);
  const key = `${base}\n${step}\n${baseStep}`;
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    api.aligned(base, step, baseStep, signal).then(
      (alignment) => !signal.aborted && setFound({ key, alignment, problem: null }),
      (error: unknown) => !signal.aborted && setFound({ key, alignment: null, problem: toProblem(error) }),
    );
    return () => controller.abort();
  }, [api, key]);
  return found?.key.startsWith(`${base}\n`) ? found : null;
}

interface BesideProps {
  readonly store: Store;
  /** The session's own lanes. */
  readonly main: Running;
  readonly api: TimelineApi;
}

export function Beside({ store, main, api }: BesideProps) {
  const { base, options } = store.view.value;
  const found = useAlignment(api, base, options.step ?? "", options.base_step ?? "");
  if (found?.problem) {
    return (
      <p class="tl-fault" role="alert">
        {found.problem.message} {found.problem.remedy}
      </p>
    );
  }
  if (!found?.alignment) return <p class="tl-beside quiet">{t("Aligning the baseline …")}</p>;
  return <Both {...{ store, main, alignment: found.alignment }} />;
}

interface BothProps extends Omit<BesideProps, "api"> {
  readonly alignment: Alignment;
}

const moved = (main: Running): boolean => {
  const view: Viewport | null = main.scene.state.view.peek();
  return view !== null && (view.begin !== main.scene.whole.begin || view.end !== main.scene.whole.end);
};

function Both({ store, main, alignment }: BothProps) {
  const { base, options } = store.view.value;
  const { idle } = store.settings.value;
  const host = alignment.base_host;
  const clocks = clockChoice(options);
  const there = store.sessions.state.value.value?.sessions.find(({ run }) => run === base);
  const api = useMemo(() => timelineApi(base, host, clocks), [base, host, clocks, idle, there?.modified]);
  const { lanes, problem } = useLanes(api, base);
  const offset = useMemo(() => signal(alignment.offset), [main]);
  const [running, setRunning] = useState<Running | null>(null);
  const first = useRef(true);
  useEffect(() => {
    offset.value = alignment.offset;
    const { begin, end } = alignment.session;
    // A link's own window stays; a step that is chosen is gone to.
    const stays = first.current && moved(main);
    first.current = false;
    if (begin !== null && end !== null && !stays) main.engine.glideTo(viewAround(begin, end, WIDE, 0));
  }, [alignment, main]);
  useEffect(() => {
    main.scene.state.base.value = { run: base, offset: alignment.offset };
    return () => {
      main.scene.state.base.value = null;
    };
  }, [main, base, alignment.offset]);
  useEffect(() => {
    if (!running) return;
    const stops = [link(main.scene, running.scene, offset), linkSelection(main.scene, running.scene, offset)];
    return () => {
      for (const stop of stops) stop();
    };
  }, [running, main]);
  const { state } = main.scene;
  return (
    <>
      <Over store={store} alignment={alignment} />
      {problem && (
        <p class="tl-fault" role="alert">
          {problem.message} {problem.remedy}
        </p>
      )}
      {lanes && (
        <Pane
          key={`${base}\n${host}\n${idle}`}
          store={store}
          api={api}
          lanes={lanes}
          label={t("Timeline of {run}", { run: base })}
          main={false}
          state={() => {
            const { mode, find, regex, longest, lanes, least, colouring } = state;
            return { ...createState(DEFAULT_VIEW), mode, find, regex, longest, lanes, least, colouring };
          }}
          address={{ read: () => ({}), write: () => {} }}
          runs={setRunning}
        />
      )}
    </>
  );
}

/** Which step lies over which. */
function Over({ store, alignment }: { store: Store; alignment: Alignment }) {
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
          <Step label={t("Step")} side={session} choose={(value) => choose("step", value)} />
          <span class="quiet">{t("over")}</span>
          <Step label={t("Step of the baseline")} side={base} choose={(value) => choose("base_step", value)} />
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

function Step({ label, side, choose }: StepProps) {
  const place = side.step ?? -1;
  return (
    <select aria-label={label} value={`${place}`} onChange={(event) => choose(event.currentTarget.value)}>
      {side.names.map((name, at) => (
        <option key={at} value={`${at}`}>
          {cutEnd(name, LONGEST_NAME)}
        </option>
      ))}
      {place >= side.names.length && <option value={`${place}`}>{cutEnd(side.name, LONGEST_NAME)}</option>}
    </select>
  );
}
