/** The dialog that captures from running programs. */

import { t } from "../base/messages";
import type { Capture } from "../state/capture";
import { Dialog } from "../view/dialog";
import styles from "../view/style/capture.css?inline";
import { addStyles } from "../view/styles";
import { CaptureFields } from "./capturefields";
import { CaptureProgress } from "./captureprogress";

addStyles(styles);

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
  const close = () => {
    capture.isOpen.value = false;
  };
  const job = capture.job.value;
  return (
    <Dialog title={t("Capture profile")} class="capture" close={close}>
      {capture.isInForeignPage ? (
        <InForeignPage here={here} />
      ) : job ? (
        <CaptureProgress capture={capture} job={job} close={close} />
      ) : (
        <CaptureFields capture={capture} logdir={logdir} />
      )}
    </Dialog>
  );
}
