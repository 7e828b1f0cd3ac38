/** Since when are steps slower, over the sessions of this logdir, and why? */

import { t } from "../base/messages";
import type { Row, Table } from "../base/table";
import type { Store } from "../state/store";
import { useChoice } from "../view/choices";
import type { ColumnSpecs } from "../view/gridmodel";
import { Section } from "../view/section";
import { LabelledSelect } from "../view/select";
import styles from "../view/style/compare.css?inline";
import { addStyles } from "../view/styles";
import type { PageProps } from "./page";
import { PageHead } from "./shared/pagehead";
import { TableSection } from "./shared/tablesection";
import { StepHistory } from "./trend/stephistory";

addStyles(styles);

const SESSION_SPECS: ColumnSpecs = { before: { hidden: true }, marked: { facet: true } };

/** Where a session is held against the one before it. */
function linkToComparison(store: Store, table: Table, row: Row, runColumn: string) {
  const [run, base] = [table.text(row, runColumn), table.text(row, "before")];
  if (!base) return undefined;
  const change = { run, base, tool: "compare" };
  return { href: store.href(change), go: () => store.go(change) };
}

/** The program whose history is shown; another one's is that of its newest session. */
function ProgramChoice({ programs, store }: { programs: Table; store: Store }) {
  const { run, options } = store.view.value;
  return (
    <LabelledSelect
      label={programs.column("program")?.label ?? ""}
      value={run}
      options={programs.rows.map((row) => [
        programs.text(row, "run"),
        `${programs.text(row, "program")} (${programs.text(row, "sessions")})`,
      ])}
      choose={(value) => store.go({ run: value, options })}
    />
  );
}

export default function TrendPage(props: PageProps) {
  const { answer, store } = props;
  const [jumps, sessions] = [answer.table("jumps"), answer.table("sessions")];
  const programs = answer.table("programs");
  const [, setSessionsToRead] = useChoice("read");
  const unread = answer.number("unread") ?? 0;
  return (
    <>
      <PageHead page={props} />
      {unread > 0 && (
        <p>
          <button type="button" class="button" onClick={() => setSessionsToRead("all")}>
            {t("Read {count, plural, one {# session} other {# sessions}}", { count: unread })}
          </button>
        </p>
      )}
      {sessions.rows.length > 0 && (
        <Section
          title={t("History")}
          doc={t(
            "Mean step times of the sessions in order of time, with their levels. Click a session to compare it with the previous one.",
          )}
          note={t("click a session to compare it with the previous one")}
          controls={programs.rows.length > 1 && <ProgramChoice programs={programs} store={store} />}
        >
          <StepHistory
            table={sessions}
            shown={store.view.value.run}
            link={(row) => linkToComparison(store, sessions, row, "run")}
          />
        </Section>
      )}
      <TableSection
        page={props}
        id="jumps"
        hideEmpty={false}
        note={t("click a row to compare both sessions")}
        link={(row) => linkToComparison(store, jumps, row, "since")}
      />
      <TableSection
        page={props}
        id="sessions"
        specs={SESSION_SPECS}
        link={(row) => linkToComparison(store, sessions, row, "run")}
      />
      <TableSection page={props} id="left" />
    </>
  );
}
