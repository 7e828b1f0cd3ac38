/** Giving a capture to somebody else: what the file tells, and the file, with or without that. */

import { useState } from "preact/hooks";
import { api, routeAddress } from "../api/client";
import { formatBytes, formatMoment } from "../base/format";
import { joinNames, t } from "../base/messages";
import type { Contents, SessionEntry } from "../base/schema";
import { readTimelineView } from "../base/timelinecodec";
import { TIMELINE } from "../state/links";
import type { Store } from "../state/store";
import { CopyButton } from "../view/copy";
import { Dialog } from "../view/dialog";
import { Icon } from "../view/icons";
import { Loading } from "../view/loading";
import { ProblemPage } from "../view/problems";
import styles from "../view/style/capture.css?inline";
import { addStyles } from "../view/styles";
import { useResource } from "../view/useresource";

addStyles(styles);

/** More names than this are counted instead of listed. */
const MOST_NAMES = 8;

/** The first of the names, and how many more there are. */
function firstNames(names: readonly string[]): string {
  const first = joinNames(names.slice(0, MOST_NAMES));
  const more = names.length - MOST_NAMES;
  return more > 0 ? t("{names} and {more} more", { names: first, more }) : first;
}

/** What the file tells: kinds of data, the values of each, and whether a redacted file holds them, too. */
export function contentRows(contents: Contents): { kind: string; values: string; staysWhenRedacted: boolean }[] {
  const rows = [
    {
      kind: t("Recorded"),
      values: contents.recorded_ns ? formatMoment(contents.recorded_ns / 1e9) : "",
      staysWhenRedacted: true,
    },
    { kind: t("Hosts"), values: firstNames([contents.host, ...contents.hosts]), staysWhenRedacted: false },
    { kind: t("User names in paths"), values: firstNames(contents.users), staysWhenRedacted: false },
    { kind: t("IP addresses"), values: firstNames(contents.addresses), staysWhenRedacted: false },
    {
      kind: t("Source code"),
      values: contents.source_stats
        ? t("{count, plural, one {# note} other {# notes}}", { count: contents.source_stats })
        : "",
      staysWhenRedacted: false,
    },
    { kind: t("Code of XLA programs"), values: firstNames(contents.programs), staysWhenRedacted: false },
    {
      kind: t("Names of ops, kernels and threads"),
      values: t("{count, plural, one {# event} other {# events}}", { count: contents.events }),
      staysWhenRedacted: true,
    },
  ];
  return rows.filter(({ values }) => values !== "");
}

function ContentTable({ contents }: { contents: Contents }) {
  return (
    <table class="legend told">
      <thead>
        <tr>
          <th scope="col">{t("The file tells")}</th>
          <th scope="col">{t("Which")}</th>
          <th scope="col">{t("Redacted")}</th>
        </tr>
      </thead>
      <tbody>
        {contentRows(contents).map(({ kind, values, staysWhenRedacted }) => (
          <tr key={kind}>
            <th scope="row">{kind}</th>
            <td>{values}</td>
            <td>{staysWhenRedacted ? t("stays") : t("taken out")}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** What the Timeline shows, as options of the report's route; nothing where it shows all, and on other pages. */
function timelineWindowQuery(store: Store): Readonly<Record<string, string>> {
  const { tool, host, options } = store.view.value;
  const { window } = readTimelineView(options);
  if (tool !== TIMELINE || !window) return {};
  const [begin, end] = window.map((ps) => String(Math.round(ps))) as [string, string];
  return { begin, end, host, ...(options.clocks && { clocks: options.clocks }) };
}

/** The chosen steps, as options of the tools. */
function stepsQuery(store: Store): Readonly<Record<string, string>> {
  const { steps, step_event } = store.view.value.options;
  return { ...(steps && { steps }), ...(step_event && { step_event }) };
}

function DownloadLinks({ contents, run, store }: { contents: Contents; run: string; store: Store }) {
  const link = (redact: "0" | "1") => routeAddress("share/capture", { run, host: contents.host, redact });
  const redact = contents.kept ? "0" : "1";
  // In a redacted capture events have other names, and the numbers of other steps mean nothing.
  const { step_event, steps } = stepsQuery(store);
  const range = { ...(steps && !step_event && { steps }), ...timelineWindowQuery(store) };
  return (
    <>
      {contents.kept ? (
        <p>{contents.kept}</p>
      ) : (
        <p>
          {t(
            "In a redacted capture, names keep their numbers and the words of frameworks, compilers and kernel libraries; every other word becomes a pseudonym such as module3qzk. Figures stay, and so do times of day.",
          )}
        </p>
      )}
      <div class="actions">
        {!contents.kept && (
          <a class="button primary" href={link("1")} download={`${contents.alias}.xplane.pb`}>
            <Icon name="download" /> {t("Redacted")}
          </a>
        )}
        <a class="button" href={link("0")} download={contents.file}>
          <Icon name="download" /> {t("As it is ({size})", { size: formatBytes(contents.size) })}
        </a>
      </div>
      <p>
        {contents.kept
          ? t(
              "Or all pages but the Timeline, as they are, in one file that a browser opens without a server or network.",
            )
          : t("Or all pages but the Timeline, redacted, in one file that a browser opens without a server or network.")}
      </p>
      <div class="actions">
        <a class="button" href={routeAddress("share/report", { run, redact, ...range })} download="report.html">
          <Icon name="download" /> {"begin" in range ? t("Report with this window of the Timeline") : t("Report")}
        </a>
      </div>
    </>
  );
}

/** For those who reach this server, and for those who do not. */
function CopyButtons({ store, run }: { store: Store; run: string }) {
  return (
    <div class="actions">
      <CopyButton
        text={() => store.frame.window.location.href}
        label={t("Copy link")}
        tip={t("This page as it is now, with the shown window, filters and selection")}
      />
      <CopyButton
        text={() => api.summary(run, stepsQuery(store))}
        label={t("Copy summary")}
        tip={t("Headline, causes and remedies as Markdown, not redacted")}
      />
    </div>
  );
}

function HostChoice({ hosts, host, choose }: { hosts: readonly string[]; host: string; choose: (to: string) => void }) {
  if (hosts.length < 2) return null;
  return (
    <label class="field">
      <span data-tip={t("A capture file holds one host")}>{t("Host")}</span>
      <select value={host} onChange={(event) => choose(event.currentTarget.value)}>
        {hosts.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </select>
    </label>
  );
}

interface ShareDialogProps {
  readonly store: Store;
  readonly session: SessionEntry;
  /** The host that is chosen at first. */
  readonly first: string;
  readonly close: () => void;
}

export function ShareDialog({ store, session, first, close }: ShareDialogProps) {
  const [host, choose] = useState(first);
  const { value, problem } = useResource((signal) => api.share(session.run, host, signal), [session.run, host]);
  return (
    <Dialog title={t("Share this capture")} class="capture" close={close}>
      <CopyButtons store={store} run={session.run} />
      <HostChoice hosts={session.hosts} host={host} choose={choose} />
      {problem && <ProblemPage problem={problem} />}
      {!value && !problem && <Loading what={t("Checking the file's contents")} progress={null} />}
      {value && (
        <>
          <ContentTable contents={value} />
          <DownloadLinks contents={value} run={session.run} store={store} />
        </>
      )}
    </Dialog>
  );
}
