/** A capture that arrives while another one is open is announced, once. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { SessionEntry } from "../api/types";
import { t } from "../base/messages";
import type { Store } from "../state/store";
import { Icon } from "../view/icons";
import { withElements } from "../view/slots";
import { GoLink } from "../view/verdict";

/** The newest of the sessions that were not there before; those after `open`, which is looked at, are no news. */
export function arrived(
  sessions: readonly SessionEntry[],
  before: ReadonlySet<string>,
  open: string,
): SessionEntry | undefined {
  const newest = sessions[0];
  return newest && newest.run !== open && !before.has(newest.run) ? newest : undefined;
}

export function Arrivals({ store }: { store: Store }) {
  const before = useRef<Set<string> | null>(null);
  const [, redraw] = useState(0);
  const sessions = store.sessions.state.value.value?.sessions;
  const open = store.view.value.run;
  if (sessions && !before.current) before.current = new Set(sessions.map(({ run }) => run));
  const known = () => {
    for (const { run } of sessions ?? []) before.current?.add(run);
    redraw((times) => times + 1);
  };
  // Whoever opens one, here or in the list, knows of all.
  useEffect(known, [open]);
  const found = open && sessions && before.current ? arrived(sessions, before.current, open) : undefined;
  return (
    <output class="arrival" aria-live="polite">
      {found && (
        <>
          {withElements(t("New capture: {run}"), { run: <b>{found.run}</b> })}{" "}
          <GoLink label={t("open")} href={store.href({ run: found.run })} go={() => store.go({ run: found.run })} />
          <button type="button" class="button" aria-label={t("Leave it closed")} onClick={known}>
            <Icon name="close" />
          </button>
        </>
      )}
    </output>
  );
}
