/** A window before the page, open as long as it is mounted: its title, the button that closes it, what it holds. */

import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { t } from "../base/messages";
import { Icon } from "./icons";

interface DialogProps {
  readonly title: string;
  readonly class?: string;
  /** Called when the reader closes it; who mounted it then takes it away. */
  readonly close: () => void;
  readonly children: ComponentChildren;
}

export function Dialog({ title, class: className = "", close, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const name = useId();
  useEffect(() => {
    const shown = dialog.current;
    shown?.showModal();
    // Closed before it is taken away: only so does the focus go back to where it was.
    return () => shown?.close();
  }, []);
  return (
    <dialog ref={dialog} class={`dialog ${className}`} aria-labelledby={name} onClose={close}>
      <div class="dialog-head">
        <h2 id={name}>{title}</h2>
        <button type="button" class="button" aria-label={t("Close")} onClick={() => dialog.current?.close()}>
          <Icon name="close" />
        </button>
      </div>
      {children}
    </dialog>
  );
}
