/** The session picker: newest first, with a filter, and what is known of each session. */

import { useEffect, useRef, useState } from "preact/hooks";
import type { SessionEntry } from "../api/types";
import { ago, bytes, moment } from "../base/format";
import { t } from "../base/messages";
import type { Store } from "../state/store";
import { Icon } from "../view/icons";
import { Menu } from "../view/menu";
import { Hangs } from "./hangs";

/** The facts that are known, in words; steps and device come once something has decoded the session. */
export function sessionFacts(entry: SessionEntry): string[] {
  const { facts } = entry;
  return [
    t("{count, plural, one {# host} other {# hosts}}", { count: entry.hosts.length }),
    ...(facts?.device ? [facts.device] : []),
    ...(facts?.steps ? [t("{count, plural, one {# step} other {# steps}}", { count: facts.steps })] : []),
    bytes(entry.size),
  ];
}

function matches(entry: SessionEntry, words: string): boolean {
  const text = [entry.run, ...entry.hosts, entry.facts?.device ?? "", moment(entry.modified)].join(" ").toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function SessionRow({ entry, chosen, choose }: { entry: SessionEntry; chosen: boolean; choose: () => void }) {
  return (
    <li>
      <button type="button" class="session" aria-current={chosen ? "true" : undefined} onClick={choose}>
        <span class="run">{entry.run}</span>
        <span class="when" data-tip={moment(entry.modified)}>
          {ago(entry.modified)}
        </span>
        <span class="facts">{sessionFacts(entry).join(" · ")}</span>
      </button>
    </li>
  );
}

interface ListProps {
  readonly sessions: readonly SessionEntry[];
  readonly chosen: string;
  readonly choose: (run: string) => void;
}

/** Sessions to choose from, with a filter. */
export function SessionList({ sessions: all, chosen, choose }: ListProps) {
  const [words, setWords] = useState("");
  const input = useRef<HTMLInputElement>(null);
  useEffect(() => input.current?.focus(), []);
  const shown = all.filter((entry) => matches(entry, words.trim()));
  /** Up and down walk through the filter box and the rows. */
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    const stops = [...(event.currentTarget as Element).querySelectorAll<HTMLElement>("input, button.session")];
    stops[stops.indexOf(document.activeElement as HTMLElement) + step]?.focus();
  };
  return (
    <div class="picker" role="presentation" onKeyDown={onKeyDown}>
      <input
        type="search"
        ref={input}
        placeholder={t("Filter sessions")}
        aria-label={t("Filter sessions")}
        onInput={(event) => setWords(event.currentTarget.value)}
        onKeyDown={(event) => event.key === "Enter" && shown[0] && choose(shown[0].run)}
      />
      <ul>
        {shown.map((entry) => (
          <SessionRow key={entry.run} entry={entry} chosen={entry.run === chosen} choose={() => choose(entry.run)} />
        ))}
      </ul>
      <p class="quiet">
        {shown.length === all.length
          ? t("{count, plural, one {# session} other {# sessions}}", { count: all.length })
          : t("{shown} of {all}", { shown: shown.length, all: all.length })}
      </p>
    </div>
  );
}

export function Picker({ store }: { store: Store }) {
  const entry = store.session.value;
  const details = store.details.state.value.value;
  const known = details ?? entry;
  return (
    <Menu
      class="picker-button"
      id="Session"
      tip={t("Choose a session. Key: s")}
      label={
        <>
          <span class="quiet">{t("Session")}</span> <b>{store.view.value.run || t("none")}</b>
          {known && <span class="quiet">{["", ...sessionFacts(known)].join(" · ")}</span>}
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
          />
          {store.sessions.state.value.value && <Hangs list={store.sessions.state.value.value} />}
        </>
      )}
    </Menu>
  );
}
