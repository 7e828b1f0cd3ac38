/** Which worker is slow, in which step, and what does its time go into? */

import { useCallback, useMemo, useState } from "preact/hooks";
import { percent, time } from "../base/format";
import { part } from "../base/parts";
import { median } from "../base/statistics";
import type { Store } from "../state/store";
import { ProblemLine } from "../view/problems";
import { Section } from "../view/section";
import { StackBar, StackLegend } from "../view/stackbar";
import { GoLink, Verdict } from "../view/verdict";
import { exportName, type PageProps } from "./page";
import { WorkerChart, workerLink } from "./pod/chart";
import { isSlow, largestExcess, type PodAnswer, type PodStep, piecesOf, stepsOf, type Worker } from "./pod/model";

function Diagnostics({ answer }: { answer: PodAnswer }) {
  const { errors = [], warnings = [], info = [] } = answer.diagnostics ?? {};
  const all = [
    ...errors.map((message) => ({ message, severity: "error" as const })),
    ...warnings.map((message) => ({ message, severity: "warning" as const })),
    ...info.map((message) => ({ message, severity: "info" as const })),
  ];
  if (!all.length) return null;
  return (
    <ul class="problems">
      {all.map((line) => (
        <ProblemLine key={line.message} problem={{ code: "", remedy: "", where: "", ...line }} />
      ))}
    </ul>
  );
}

interface SliderProps {
  readonly steps: readonly PodStep[];
  readonly place: number;
  readonly move: (place: number) => void;
}

function StepSlider({ steps, place, move }: SliderProps) {
  if (steps.length < 2) return null;
  return (
    <label class="slider">
      Step
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
          {steps[place]?.complete ? "" : " (incomplete)"} up to {steps.at(-1)?.name}
        </span>
      </span>
    </label>
  );
}

function sentence(step: PodStep): string {
  const [slowest] = [...step.workers].sort((a, b) => b.total - a.total);
  if (!slowest) return "";
  const middle = median(step.workers.map((worker) => worker.total));
  const two = step.workers.length === 2;
  if (step.workers.length === 1) {
    return `${step.name} takes ${time(slowest.total)} on ${slowest.name}, most of it ${slowest.bottleneck}.`;
  }
  const other = two ? 2 * middle - slowest.total : middle;
  const more = other > 0 ? slowest.total / other - 1 : 0;
  if (more < 0.005) return `${step.name}: all workers take about ${time(middle)}.`;
  const excess = largestExcess(slowest, step);
  const cause = `mainly ${part(excess.id).label} (+${time(two ? 2 * excess.more : excess.more)})`;
  const whom = two ? "the other worker" : "the median worker";
  return `${step.name}: ${slowest.name} takes ${time(slowest.total)}, ${percent(more, 0)} more than ${whom}, ${cause}.`;
}

function Details({ worker, store }: { worker: Worker; store: Store }) {
  const way = workerLink(store, worker);
  const pieces = piecesOf(worker);
  return (
    <Section
      title={worker.name}
      note={`${time(worker.total)}, mostly ${worker.bottleneck}`}
      controls={way && <GoLink {...way} />}
    >
      <StackBar pieces={pieces} />
      <StackLegend pieces={pieces} sumLabel="Step" />
    </Section>
  );
}

export default function PodPage(props: PageProps) {
  const { data, store } = props;
  const answer = data as PodAnswer;
  const steps = useMemo(() => stepsOf(answer), [answer]);
  const [pointed, setPointed] = useState("");
  const wanted = store.view.value.options.step;
  const place = Math.max(
    0,
    steps.findIndex((step) => String(step.number) === wanted),
  );
  const step = steps[place];
  const move = useCallback(
    (to: number) => {
      const number = String(steps[to]?.number ?? "");
      store.replace({ options: { ...store.view.peek().options, step: number } });
    },
    [steps, store],
  );
  if (!step) {
    return (
      <>
        <Diagnostics answer={answer} />
        <p class="nothing">No step was found on any worker of this capture, so there is nothing to compare.</p>
      </>
    );
  }
  const slowest = [...step.workers].sort((a, b) => b.total - a.total)[0];
  const worker = step.workers.find(({ name }) => name === pointed) ?? slowest;
  return (
    <>
      <Verdict level={slowest && isSlow(slowest, step) ? "warn" : "info"} text={sentence(step)} />
      <Diagnostics answer={answer} />
      <StepSlider steps={steps} place={place} move={move} />
      <div class="columns wide-narrow">
        <WorkerChart step={step} point={setPointed} name={exportName(props, `step_${step.number}`)} store={store} />
        {worker && <Details worker={worker} store={store} />}
      </div>
    </>
  );
}
