/** The session that figures are held against, on every page that can: chosen once, kept in the address. */

import { t } from "../base/messages";
import type { Store } from "../state/store";
import { Icon } from "../view/icons";
import { Menu } from "../view/menu";
import { SessionList } from "./sessionpicker";

export function BaselineMenu({ store }: { store: Store }) {
  const { run, base } = store.view.value;
  const list = store.sessions.state.value.value?.sessions;
  const others = (list ?? []).filter((entry) => entry.run !== run);
  if (!list || (!others.length && !base)) return null;
  const isListed = list.some((entry) => entry.run === base);
  return (
    <span class="baseline">
      <Menu
        class="baseline-button"
        id="Baseline"
        tip={t("Choose a baseline: tables then show its figures and the differences.")}
        label={
          <>
            <span class="quiet">{t("Baseline")}</span> {base ? <b>{base}</b> : <span class="quiet">{t("none")}</span>}
            {base && !isListed && <span class="offline">{t("not here")}</span>}
            <Icon name="down" />
          </>
        }
      >
        {(close) => (
          <SessionList
            sessions={others}
            chosen={base}
            choose={(chosen) => {
              store.go({ base: chosen });
              close();
            }}
          />
        )}
      </Menu>
      {base && (
        <button
          type="button"
          class="button"
          aria-label={t("No baseline")}
          data-tip={t("Without a baseline")}
          onClick={() => store.go({ base: "" })}
        >
          ×
        </button>
      )}
    </span>
  );
}
