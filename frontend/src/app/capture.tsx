/** The button that captures from running programs, and its dialog. */

import type { Capture } from "../state/capture";
import { Dialog } from "../view/dialog";
import { Icon } from "../view/icons";
import { CaptureFields } from "./captureform";
import { CaptureProgress } from "./captureprogress";

export function CaptureButton({ capture }: { capture: Capture }) {
  if (!capture.allowed.value) return null;
  const running = capture.job.value?.phase === "running";
  return (
    <button
      type="button"
      class="button"
      onClick={capture.show}
      data-tip="Capture from a running program, through its profiler server"
    >
      {running ? <span class="spinner" aria-hidden="true" /> : <Icon name="record" />}
      {running ? "Capturing…" : "Capture"}
    </button>
  );
}

export function CaptureDialog({ capture, logdir }: { capture: Capture; logdir: string }) {
  if (!capture.open.value) return null;
  const close = () => {
    capture.open.value = false;
  };
  const job = capture.job.value;
  return (
    <Dialog title="Capture profile" class="capture" close={close}>
      {job ? (
        <CaptureProgress capture={capture} job={job} close={close} />
      ) : (
        <CaptureFields capture={capture} logdir={logdir} />
      )}
    </Dialog>
  );
}
