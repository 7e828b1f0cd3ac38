/** The one place of the pages that a capture cannot fill: what each lacks, and how to record it. */

import { t } from "../base/messages";
import type { ToolEntry } from "../base/schema";
import { missingByReason } from "../state/pages";
import type { Store } from "../state/store";
import { ProblemPage } from "../view/problems";

function ReasonRow({ pages }: { pages: readonly ToolEntry[] }) {
  const problem = pages[0]?.unavailable;
  if (!problem) return null;
  return (
    <tr>
      <th scope="row">
        {pages.map((page) => (
          <div key={page.name}>
            {page.title} <span class="quiet">{page.heading}</span>
          </div>
        ))}
      </th>
      <td>{problem.message}</td>
      <td>{problem.remedy}</td>
    </tr>
  );
}

/** `wanted` is the page that the reader wanted to see, if any. */
export function MissingPages({ store, wanted }: { store: Store; wanted?: ToolEntry | undefined }) {
  const tools = store.tools.state.value.value ?? [];
  const groups = missingByReason(tools);
  const otherGroups = groups.filter((pages) => !wanted || !pages.includes(wanted));
  const count = otherGroups.flat().length;
  return (
    <>
      {wanted?.unavailable && <ProblemPage problem={wanted.unavailable} />}
      {otherGroups.length > 0 && (
        <section class="section missing">
          <header>
            <h2>
              {wanted
                ? t(
                    "{count, plural, one {# more page has} other {# more pages have}} nothing to show for this capture",
                    {
                      count,
                    },
                  )
                : t("{count, plural, one {# page has} other {# pages have}} nothing to show for this capture", {
                    count,
                  })}
            </h2>
          </header>
          <table>
            <thead>
              <tr>
                <th scope="col">{t("Page")}</th>
                <th scope="col">{t("Why")}</th>
                <th scope="col">{t("How to get it")}</th>
              </tr>
            </thead>
            <tbody>
              {otherGroups.map((pages) => (
                <ReasonRow key={pages[0]?.name} pages={pages} />
              ))}
            </tbody>
          </table>
        </section>
      )}
      {!wanted && groups.length === 0 && <p class="nothing">{t("This capture fills every page.")}</p>}
    </>
  );
}
