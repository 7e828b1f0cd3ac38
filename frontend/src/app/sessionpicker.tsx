/** The session picker: newest first, with a filter, and what is known of each session. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { isReport, joinOrSplit } from "../api/client";
import { formatBytes, formatMoment, timeAgo } from "../base/format";
import { t } from "../base/messages";
import type { SessionEntry } from "../base/schema";
import type { Store } from "../state/store";
import { Icon } from "../view/icons";
import { Menu } from "../view/menu";
import { HangLinks } from "./hanglinks";

/** The facts that are known, in words; steps and device come once something has decoded the session. */
export function sessionFacts(entry: SessionEntry): string[] {
  const { facts } = entry;
  return [
    t("{count, plural, one {# host} other {# hosts}}", { count: entry.hosts.length }),
    ...(facts?.device ? [facts.device] : []),
    ...(facts?.steps ? [t("{count, plural, one {# step} other {# steps}}", { count: facts.steps })] : []),
    formatBytes(entry.size),
    ...(entry.parts.length ? [t("joined of {count}", { count: entry.parts.length })] : []),
  ];
}

function containsWords(entry: SessionEntry, words: string): boolean {
  const text = [entry.run, ...entry.hosts, entry.facts?.device ?? "", formatMoment(entry.modified)]
    .join(" ")
    .toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

interface SessionRowProps {
  readonly entry: SessionEntry;
  readonly chosen: boolean;
  readonly choose: () => void;
  readonly action: ComponentChildren;
}

function SessionRow({ entry, chosen, choose, action }: SessionRowProps) {
  return (
    <li>
      <button type="button" class="session" aria-current={chosen ? "true" : undefined} onClick={choose}>
        <span class="run">{entry.run}</span>
        <span class="when" data-tip={formatMoment(entry.modified)}>
          {timeAgo(entry.modified)}
        </span>
        <span class="facts">{sessionFacts(entry).join(" · ")}</span>
      </button>
      {action}
    </li>
  );
}

interface ListProps {
  readonly sessions: readonly SessionEntry[];
  readonly chosen: string;
  readonly choose: (run: string) => void;
  /** What else can be done with a session. */
  readonly action?: (entry: SessionEntry) => ComponentChildren;
}

/** Sessions to choose from, with a filter. */
export function SessionList({ sessions: all, chosen, choose, action }: ListProps) {
  const [words, setWords] = useState("");
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const matching = all.filter((entry) => containsWords(entry, words.trim()));
  /** Up and down walk through the filter box and the rows. */
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    const focusable = [...(event.currentTarget as Element).querySelectorAll<HTMLElement>("input, button.session")];
    focusable[focusable.indexOf(document.activeElement as HTMLElement) + step]?.focus();
  };
  return (
    <div class="picker" role="presentation" onKeyDown={onKeyDown}>
      <input
        type="search"
        ref={input}
        placeholder={t("Filter sessions")}
        aria-label={t("Filter sessions")}
        onInput={(event) => setWords(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && matching[0] && choose(matching[0].run)}
      />
      <ul>
        {matching.map((entry) => (
          <SessionRow
            key={entry.run}
            entry={entry}
            chosen={entry.run === chosen}
            choose={() => choose(entry.run)}
            action={action?.(entry)}
          />
        ))}
      </ul>
      <p class="quiet">
        {matching.length === all.length
          ? t("{count, plural, one {# session} other {# sessions}}", { count: all.length })
          : t("{shown} of {all}", { shown: matching.length, all: all.length })}
      </p>
    </div>
  );
}

/** Joins the chosen session with another, or splits it where it was joined, until the server ends. */
function JoinOrSplitButton({ store, entry, done }: { store: Store; entry: SessionEntry; done: () => void }) {
  const chosen = store.session.value;
  const isChosen = entry.run === chosen?.run;
  if (!chosen || isReport() || (isChosen && !entry.parts.length)) return null;
  const act = () =>
    joinOrSplit(chosen.run, isChosen ? undefined : entry.run)
      .then(({ run }) => store.go({ run }))
      .finally(() => {
        store.sessions.refresh();
        done();
      });
  const name = isChosen
    ? t("Split {run}", { run: entry.run })
    : t("Join {run} with the chosen session", { run: entry.run });
  return (
    <button type="button" class="button" aria-label={name} data-tip={name} onClick={act}>
      {isChosen ? t("Split") : t("Join")}
    </button>
  );
}

export function SessionPicker({ store }: { store: Store }) {
  const entry = store.session.value;
  const details = store.details.state.value.value;
  const shownEntry = details ?? entry;
  return (
    <Menu
      class="picker-button"
      id="Session"
      tip={t("Choose a session. Key: s")}
      label={
        <>
          <span class="quiet">{t("Session")}</span> <b>{store.view.value.run || t("none")}</b>
          {shownEntry && <span class="quiet">{["", ...sessionFacts(shownEntry)].join(" · ")}</span>}
          <Icon name="down" />
        </>
      }
    >
      {(close) => (
        <>
          <SessionList
            sessions={store.sessions.state.value.value?.sessions ?? []}
            chosen={store.view.value.run}
            choose={(run) => {
              store.go({ run });
              close();
            }}
            action={(entry) => <JoinOrSplitButton store={store} entry={entry} done={close} />}
          />
          {store.sessions.state.value.value && <HangLinks list={store.sessions.state.value.value} />}
        </>
      )}
    </Menu>
  );
}
