/** A capture that arrives while another one is open is announced, once. */

import { useEffect, useRef } from "preact/hooks";
import { t } from "../base/messages";
import type { SessionEntry } from "../base/schema";
import type { Store } from "../state/store";
import { Icon } from "../view/icons";
import { withElements } from "../view/slots";
import { useRedraw } from "../view/useredraw";
import { ViewLink } from "../view/viewlink";

/** The newest session, which is the first, unless it is `open` or known; those that are older are no news. */
export function newSession(
  sessions: readonly SessionEntry[],
  knownRuns: ReadonlySet<string>,
  open: string,
): SessionEntry | undefined {
  const newest = sessions[0];
  return newest && newest.run !== open && !knownRuns.has(newest.run) ? newest : undefined;
}

export function ArrivalNotice({ store }: { store: Store }) {
  const knownRuns = useRef<Set<string> | null>(null);
  const redraw = useRedraw();
  const sessions = store.sessions.state.value.value?.sessions;
  const open = store.view.value.run;
  if (sessions && !knownRuns.current) knownRuns.current = new Set(sessions.map(({ run }) => run));
  const markAllKnown = () => {
    for (const { run } of sessions ?? []) knownRuns.current?.add(run);
    redraw();
  };
  // Whoever opens one, here or in the list, knows of all.
  useEffect(markAllKnown, [open]);
  const arrival = open && sessions && knownRuns.current ? newSession(sessions, knownRuns.current, open) : undefined;
  return (
    <output class="arrival" aria-live="polite">
      {arrival && (
        <>
          {withElements(t("New capture: {run}"), { run: <b>{arrival.run}</b> })}{" "}
          <ViewLink
            label={t("open")}
            href={store.href({ run: arrival.run })}
            go={() => store.go({ run: arrival.run })}
          />
          <button type="button" class="button" aria-label={t("Leave it closed")} onClick={markAllKnown}>
            <Icon name="close" />
          </button>
        </>
      )}
    </output>
  );
}
