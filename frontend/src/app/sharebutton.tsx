/** The button that gives a capture to somebody else. */

import { useState } from "preact/hooks";
import { t } from "../base/messages";
import type { Store } from "../state/store";
import { Icon } from "../view/icons";
import { lazy } from "../view/lazy";

const ShareDialog = lazy(async () => (await import("./dialogs")).ShareDialog);

export function ShareButton({ store }: { store: Store }) {
  const [open, setOpen] = useState(false);
  const session = store.session.value;
  if (!session) return null;
  const shown = store.host.value;
  return (
    <>
      <button
        type="button"
        class="button"
        onClick={() => setOpen(true)}
        data-tip={t("Save this capture for others, and check which private data it contains")}
      >
        <Icon name="download" /> <span class="label">{t("Share…")}</span>
      </button>
      {open && (
        <ShareDialog
          store={store}
          session={session}
          first={session.hosts.includes(shown) ? shown : (session.hosts[0] ?? "")}
          close={() => setOpen(false)}
        />
      )}
    </>
  );
}
