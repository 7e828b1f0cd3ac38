/** The button that captures from running programs, and its dialog. */

import { useEffect, useRef } from "preact/hooks";
import type { Capture } from "../state/capture";
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
  const dialog = useRef<HTMLDialogElement>(null);
  const open = capture.open.value;
  useEffect(() => {
    if (open) dialog.current?.showModal();
    else dialog.current?.close();
  }, [open]);
  const close = () => {
    capture.open.value = false;
  };
  const job = capture.job.value;
  return (
    <dialog ref={dialog} class="help capture" aria-labelledby="capture-title" onClose={close}>
      {open && (
        <>
          <header>
            <h2 id="capture-title">Capture profile</h2>
            <button type="button" class="button" aria-label="Close" onClick={close}>
              <Icon name="close" />
            </button>
          </header>
          {job ? (
            <CaptureProgress capture={capture} job={job} close={close} />
          ) : (
            <CaptureFields capture={capture} logdir={logdir} />
          )}
        </>
      )}
    </dialog>
  );
}
