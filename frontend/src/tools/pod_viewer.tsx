/** Which worker is slow, in which step, and what does its time go into? */

import { useCallback, useMemo, useState } from "preact/hooks";
import { formatTime } from "../base/format";
import { t } from "../base/messages";
import type { Row } from "../base/table";
import { linkTo } from "../state/links";
import type { Store } from "../state/store";
import { deltaMs } from "../view/delta";
import { MissingRanks, Notes } from "../view/problems";
import { Section } from "../view/section";
import { StackBar, StackTable } from "../view/stackbar";
import { Verdict } from "../view/verdict";
import { ViewLink } from "../view/viewlink";
import { exportName, type PageProps } from "./page";
import { type PodStep, podSteps } from "./pod/podsteps";
import { linkToWorker, WorkerChart } from "./pod/workerchart";
import { WorkerMatrix } from "./pod/workermatrix";
import { WorkerPair } from "./pod/workerpair";
import { partPieces } from "./steps/stepparts";

interface SliderProps {
  readonly steps: readonly PodStep[];
  readonly place: number;
  readonly move: (place: number) => void;
}

function StepSlider({ steps, place, move }: SliderProps) {
  if (steps.length < 2) return null;
  return (
    <label class="slider">
      {t("Step")}
      <input
        type="range"
        min={0}
        max={steps.length - 1}
        value={place}
        aria-valuetext={steps[place]?.name}
        onInput={(event) => move(Number(event.currentTarget.value))}
      />
      <span class="number">
        {steps[place]?.name}
        <span class="quiet">
          {steps[place]?.complete ? "" : ` ${t("(incomplete)")}`}{" "}
          {t("the last is {step}", { step: steps.at(-1)?.name ?? "" })}
        </span>
      </span>
    </label>
  );
}

function WorkerDetails({ step, row, store }: { step: PodStep; row: Row; store: Store }) {
  const { workers } = step;
  const link = linkToWorker(store, workers, row);
  const pieces = partPieces(workers, row);
  const total = workers.numberOrZero(row, "total_ms");
  return (
    <Section
      title={workers.text(row, "worker")}
      note={t("{time}, mostly {part}", { time: formatTime(total), part: workers.text(row, "largest") })}
      controls={link && <ViewLink {...link} />}
    >
      <StackBar pieces={pieces} totalMs={total} />
      <StackTable
        pieces={pieces}
        totalMs={total}
        sumLabel={t("Step")}
        delta={deltaMs(workers, row, "total_ms")}
        link={(part) => linkToWorker(store, workers, row, part)}
      />
    </Section>
  );
}

export default function PodPage(props: PageProps) {
  const { answer, store } = props;
  const steps = useMemo(() => podSteps(answer), [answer]);
  const [hoveredWorker, setHoveredWorker] = useState("");
  const typical = answer.text("typical_step");
  const wantedStep = store.view.value.options.step || typical;
  const place = Math.max(
    0,
    steps.findIndex((step) => step.number === wantedStep),
  );
  const step = steps[place];
  const moveToStep = useCallback(
    (to: number) => {
      store.replace({ options: { ...store.view.peek().options, step: steps[to]?.number ?? "" } });
    },
    [steps, store],
  );
  const chooseWorker = useCallback(
    (option: "worker" | "other", worker: string) => {
      store.replace({ options: { ...store.view.peek().options, [option]: worker } });
    },
    [store],
  );
  if (!step) {
    return (
      <>
        <Notes notes={answer.notes} store={store} />
        <p class="nothing">{t("No step was found on any worker of this capture.")}</p>
      </>
    );
  }
  const { workers } = step;
  const { headline } = answer;
  const isStepHeadline = headline?.text === step.sentence;
  const worker = answer.text("worker");
  const shownRow =
    workers.rows.find((row) => workers.text(row, "worker") === hoveredWorker) ??
    workers.rows.find((row) => workers.text(row, "worker") === worker);
  const slowest = workers.rows.reduce<Row>(
    (most, row) => (workers.numberOrZero(row, "total_ms") > workers.numberOrZero(most, "total_ms") ? row : most),
    [],
  );
  return (
    <>
      {headline && !isStepHeadline && <Verdict {...headline} next={linkTo(store, headline.tool)} />}
      <Verdict
        level={step.slowCount > 0 ? "warn" : "info"}
        text={step.sentence}
        doubt={isStepHeadline ? headline.doubt : ""}
      />
      <MissingRanks notes={answer.notes} />
      <Notes notes={answer.notes} store={store} />
      <StepSlider steps={steps} place={place} move={moveToStep} />
      <div class="columns wide-narrow">
        <WorkerChart
          step={step}
          setHoveredWorker={setHoveredWorker}
          name={exportName(props, `step_${step.number}`)}
          store={store}
        />
        <WorkerDetails step={step} row={shownRow ?? slowest} store={store} />
      </div>
      <WorkerMatrix
        matrix={answer.table("matrix")}
        step={steps.find(({ number }) => number === typical)?.name ?? ""}
        chosen={worker}
        choose={(worker) => chooseWorker("worker", worker)}
        name={exportName(props, "matrix")}
      />
      <WorkerPair answer={answer} store={store} choose={chooseWorker} name={exportName(props, "differences")} />
    </>
  );
}
