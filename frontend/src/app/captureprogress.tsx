/** How far each worker is, and how it ended. */

import type { CaptureJob, CaptureWorker, WorkerState } from "../api/capture";
import { clamp } from "../base/clamp";
import { formatBytes, formatFixed } from "../base/format";
import { joinNames, t } from "../base/messages";
import type { Capture } from "../state/capture";
import { Icon, type IconName } from "../view/icons";
import { Findings } from "../view/problems";
import { withElements } from "../view/slots";

const STATE_TEXTS: Readonly<Record<WorkerState, string>> = {
  connecting: t("connecting"),
  waiting: t("waiting for the start"),
  capturing: t("capturing"),
  collecting: t("collecting the recording"),
  done: t("done"),
  failed: t("failed"),
  stopped: t("stopped"),
};
const FINAL_ICONS: Readonly<Partial<Record<WorkerState, IconName>>> = { done: "ok", failed: "error", stopped: "info" };

function elapsedShare(worker: CaptureWorker, job: CaptureJob): number | undefined {
  const durationS = job.options.duration_ms / 1000;
  if (worker.state === "capturing") return clamp(1 - worker.seconds_left / durationS, 0, 1);
  return worker.state === "connecting" || worker.state === "waiting" ? 0 : undefined;
}

function workerText(worker: CaptureWorker): string {
  return joinNames([
    STATE_TEXTS[worker.state],
    ...(worker.seconds_left > 0 ? [t("{seconds} s left", { seconds: formatFixed(worker.seconds_left, 1) })] : []),
    ...(worker.attempt > 1 ? [t("attempt {number}", { number: worker.attempt })] : []),
    ...(worker.state === "done" ? [formatBytes(worker.size)] : []),
  ]);
}

function WorkerRow({ worker, job }: { worker: CaptureWorker; job: CaptureJob }) {
  const icon = FINAL_ICONS[worker.state];
  const hasEnded = icon !== undefined;
  return (
    <li class={`worker ${worker.state}`}>
      {hasEnded ? <Icon name={icon} /> : <span class="spinner" aria-hidden="true" />}
      <code>{worker.address}</code>
      <span class="note">{workerText(worker)}</span>
      {!hasEnded && (
        <progress
          max={1}
          value={elapsedShare(worker, job)}
          aria-label={`${worker.address}: ${STATE_TEXTS[worker.state]}`}
        />
      )}
      {worker.problem && (
        <div class="reason">
          {worker.problem.message} <span class="quiet">{worker.problem.remedy}</span>
        </div>
      )}
    </li>
  );
}

function jobText(job: CaptureJob): string {
  const done = job.workers.filter((worker) => worker.state === "done").length;
  const count = job.workers.length;
  if (job.phase === "failed") return t("Capture failed.");
  if (job.phase === "running") return t("Capturing {count, plural, one {# worker} other {# workers}}", { count });
  if (done === count) return t("Captured {count, plural, one {# worker} other {# workers}}.", { count });
  return t("{done} of {count, plural, one {# worker} other {# workers}} returned a capture.", { done, count });
}

interface ProgressProps {
  readonly capture: Capture;
  readonly job: CaptureJob;
  readonly close: () => void;
}

export function CaptureProgress({ capture, job, close }: ProgressProps) {
  const stopping = capture.isStopping.value;
  const problem = capture.problem.value;
  return (
    <>
      <p role="status" class="capture-state">
        {jobText(job)}
      </p>
      <ul class="workers">
        {job.workers.map((worker) => (
          <WorkerRow key={worker.address} worker={worker} job={job} />
        ))}
      </ul>
      {problem && <Findings problems={[problem]} alert />}
      <div class="actions">
        {job.phase === "running" && (
          <>
            <button type="button" class="button primary" disabled={stopping} onClick={() => capture.stop()}>
              {stopping ? t("Stopping…") : t("Stop and save the recording")}
            </button>
            <button type="button" class="button" onClick={close}>
              {t("Continue in the background")}
            </button>
          </>
        )}
        {job.phase === "done" && (
          <button type="button" class="button primary" disabled={!job.session} onClick={() => capture.openSession()}>
            {job.session ? t("Open the session") : t("Looking for the session…")}
          </button>
        )}
        {job.phase !== "running" && (
          <button type="button" class="button" onClick={() => capture.backToForm()}>
            {job.phase === "failed" ? t("Back") : t("Capture again")}
          </button>
        )}
      </div>
      {job.phase !== "failed" && (
        <p class="quiet">
          {withElements(t("Session {run} in {folder}"), {
            run: <code>{job.run}</code>,
            folder: <code>{job.folder}</code>,
          })}
        </p>
      )}
    </>
  );
}
