/** The button that captures from running programs, and its dialog. */

import { t } from "../base/messages";
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
      data-tip={t("Capture from a running program, through its profiler server")}
    >
      {running ? <span class="spinner" aria-hidden="true" /> : <Icon name="record" />}
      <span class="label">{running ? t("Capturing…") : t("Capture")}</span>
    </button>
  );
}

/** Instead of the form, where another server's page could lead the clicks on it. */
function InForeignPage({ here }: { here: string }) {
  return (
    <>
      <p>{t("This page is embedded in another server's page, so captures cannot be started here.")}</p>
      <div class="actions">
        <a class="button primary" href={here} target="_blank" rel="noreferrer">
          {t("Open in a new tab")}
        </a>
      </div>
    </>
  );
}

interface CaptureDialogProps {
  readonly capture: Capture;
  readonly logdir: string;
  /** The address of what is shown. */
  readonly here: string;
}

export function CaptureDialog({ capture, logdir, here }: CaptureDialogProps) {
  if (!capture.open.value) return null;
  const close = () => {
    capture.open.value = false;
  };
  const job = capture.job.value;
  return (
    <Dialog title={t("Capture profile")} class="capture" close={close}>
      {capture.framed ? (
        <InForeignPage here={here} />
      ) : job ? (
        <CaptureProgress capture={capture} job={job} close={close} />
      ) : (
        <CaptureFields capture={capture} logdir={logdir} />
      )}
    </Dialog>
  );
}
