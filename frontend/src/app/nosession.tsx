/** Pages for when there is no session to show: none at all, or none of the wanted name. */

import { joinNames, t } from "../base/messages";
import { recipes } from "../base/recipes";
import type { SessionList } from "../base/schema";
import { similarNames } from "../base/similarnames";
import type { Store } from "../state/store";
import { withElements } from "../view/slots";
import { Code } from "../view/textparts";
import { ViewLink } from "../view/viewlink";
import { DoctorFindings } from "./doctorfindings";
import { HangLinks } from "./hanglinks";

function contentsText({ event_files, captures, near_misses }: SessionList["found"]): string {
  const nearMissCount = near_misses.length;
  return joinNames([
    t("{count, plural, one {# capture} other {# captures}} (*.xplane.pb)", { count: captures }),
    t("{count, plural, one {# event file} other {# event files}}", { count: event_files }),
    ...(nearMissCount ? [t("{count, plural, one {# near miss} other {# near misses}}", { count: nearMissCount })] : []),
  ]);
}

export function NoSessions({ list }: { list: SessionList }) {
  return (
    <section class="state empty">
      <h2>{t("No profile here yet")}</h2>
      <p>{t("Captures appear by themselves as soon as one is written; this page keeps looking.")}</p>
      <dl class="figures rows">
        <div class="figure">
          <dt>{t("Searched")}</dt>
          <dd>
            {(list.searched.length ? list.searched : [list.logdir]).map((folder) => (
              <code key={folder}>{folder}</code>
            ))}
          </dd>
        </div>
        <div class="figure">
          <dt>{t("Found")}</dt>
          <dd>{contentsText(list.found)}</dd>
        </div>
      </dl>
      {list.found.near_misses.length > 0 && (
        <>
          <h3>{t("Near misses")}</h3>
          <ul>
            {list.found.near_misses.map((path) => (
              <li key={path}>
                <code>{path}</code>
              </li>
            ))}
          </ul>
        </>
      )}
      <HangLinks list={list} />
      <DoctorFindings />
      <h3>{t("How to capture")}</h3>
      <div class="recipes">
        {recipes(list.logdir).map(([title, text]) => (
          <div key={title}>
            <h4>{title}</h4>
            <Code text={text} />
          </div>
        ))}
      </div>
    </section>
  );
}

export function NoSuchSession({ store, list }: { store: Store; list: SessionList }) {
  const wanted = store.view.value.run;
  const names = list.sessions.map((entry) => entry.run);
  const newest = names[0];
  const link = (run: string) => ({ label: run, href: store.href({ run }), go: () => store.go({ run }) });
  const similarRuns = similarNames(wanted, names);
  return (
    <section class="state warning" role="status">
      <h2>{t("No such session")}</h2>
      <p>
        {withElements(
          t(
            "There is no session {run} in {folder}. It may have been moved or deleted, or the link is for another log directory.",
          ),
          { run: <code>{wanted}</code>, folder: <code>{list.logdir}</code> },
        )}
      </p>
      {similarRuns.length > 0 && (
        <>
          <h3>{t("Similar names")}</h3>
          <ul>
            {similarRuns.map((run) => (
              <li key={run}>
                <ViewLink {...link(run)} />
              </li>
            ))}
          </ul>
        </>
      )}
      {newest && <p>{withElements(t("The newest session is {run}"), { run: <ViewLink {...link(newest)} /> })}</p>}
    </section>
  );
}
