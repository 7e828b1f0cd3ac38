/** The button that captures from running programs. */

import { t } from "../base/messages";
import type { Capture } from "../state/capture";
import { Icon } from "../view/icons";

export function CaptureButton({ capture }: { capture: Capture }) {
  if (!capture.isAllowed.value) return null;
  const running = capture.job.value?.phase === "running";
  return (
    <button
      type="button"
      class="button"
      onClick={() => capture.openDialog()}
      data-tip={t("Capture from a running program, through its profiler server")}
    >
      {running ? <span class="spinner" aria-hidden="true" /> : <Icon name="record" />}
      <span class="label">{running ? t("Capturing…") : t("Capture")}</span>
    </button>
  );
}
