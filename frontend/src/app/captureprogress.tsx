/** How far each worker is, and how it ended. */

import type { CaptureJob, CaptureWorker, WorkerState } from "../api/capture";
import { bytes, fixed, plural } from "../base/format";
import { t } from "../base/messages";
import type { Capture } from "../state/capture";
import { Icon, type IconName } from "../view/icons";
import { ProblemLine } from "../view/problems";

const WORDS: Readonly<Record<WorkerState, string>> = {
  connecting: "connecting",
  waiting: "waiting for the start",
  capturing: "capturing",
  collecting: "collecting the recording",
  done: "done",
  failed: "failed",
  stopped: "stopped",
};
const ICONS: Readonly<Partial<Record<WorkerState, IconName>>> = { done: "ok", failed: "error", stopped: "info" };

function elapsed(worker: CaptureWorker, job: CaptureJob): number | undefined {
  const length = job.options.duration_ms / 1000;
  if (worker.state === "capturing") return Math.min(1, Math.max(0, 1 - worker.seconds_left / length));
  return worker.state === "connecting" || worker.state === "waiting" ? 0 : undefined;
}

function note(worker: CaptureWorker): string {
  const left = worker.seconds_left > 0 ? `, ${fixed(worker.seconds_left, 1)} s left` : "";
  const again = worker.attempt > 1 ? `, attempt ${worker.attempt}` : "";
  const size = worker.state === "done" ? `, ${bytes(worker.size)}` : "";
  return WORDS[worker.state] + left + again + size;
}

function WorkerRow({ worker, job }: { worker: CaptureWorker; job: CaptureJob }) {
  const icon = ICONS[worker.state];
  const over = icon !== undefined;
  return (
    <li class={`worker ${worker.state}`}>
      {over ? <Icon name={icon} /> : <span class="spinner" aria-hidden="true" />}
      <code>{worker.address}</code>
      <span class="note">{note(worker)}</span>
      {!over && (
        <progress max={1} value={elapsed(worker, job)} aria-label={`${worker.address}: ${WORDS[worker.state]}`} />
      )}
      {worker.problem && (
        <div class="reason">
          {worker.problem.message} <span class="quiet">{worker.problem.remedy}</span>
        </div>
      )}
    </li>
  );
}

function headline(job: CaptureJob): string {
  const done = job.workers.filter((worker) => worker.state === "done").length;
  if (job.phase === "failed") return "Capture failed.";
  if (job.phase === "running") return `Capturing ${plural(job.workers.length, "worker")}`;
  if (done === job.workers.length) return `Captured ${plural(done, "worker")}.`;
  return `${done} of ${plural(job.workers.length, "worker")} returned a capture.`;
}

interface ProgressProps {
  readonly capture: Capture;
  readonly job: CaptureJob;
  readonly close: () => void;
}

export function CaptureProgress({ capture, job, close }: ProgressProps) {
  const stopping = capture.stopping.value;
  const problem = capture.problem.value;
  return (
    <>
      <p role="status" class="capture-state">
        {headline(job)}
      </p>
      <ul class="workers">
        {job.workers.map((worker) => (
          <WorkerRow key={worker.address} worker={worker} job={job} />
        ))}
      </ul>
      {problem && (
        <ul class="problems" role="alert">
          <ProblemLine problem={problem} />
        </ul>
      )}
      <div class="actions">
        {job.phase === "running" && (
          <>
            <button type="button" class="button primary" disabled={stopping} onClick={capture.stop}>
              {stopping ? "Stopping…" : "Stop and save the recording"}
            </button>
            <button type="button" class="button" onClick={close}>
              {t("Continue in the background")}
            </button>
          </>
        )}
        {job.phase === "done" && (
          <button type="button" class="button primary" disabled={!job.session} onClick={capture.look}>
            {job.session ? "Open the session" : "Looking for the session…"}
          </button>
        )}
        {job.phase !== "running" && (
          <button type="button" class="button" onClick={capture.again}>
            {job.phase === "failed" ? "Back" : "Capture again"}
          </button>
        )}
      </div>
      {job.phase !== "failed" && (
        <p class="quiet">
          Session <code>{job.run}</code> in <code>{job.folder}</code>
        </p>
      )}
    </>
  );
}
