/** Up to three cards: do this, what it saves, code to copy, and where to see it. */

import { formatTime } from "../../base/format";
import { t } from "../../base/messages";
import type { Answer } from "../../base/table";
import { withUnitsBesideFigures } from "../../base/text";
import { linkTo } from "../../state/links";
import type { ResourceState } from "../../state/resource";
import { Findings } from "../../view/problems";
import { withElements } from "../../view/slots";
import { Code } from "../../view/textparts";
import { ViewLink } from "../../view/viewlink";
import type { PageProps } from "../page";
import { type Action, actionsOf } from "./actions";
import { isPerStep } from "./causes";
import { evidenceLinks } from "./evidence";

const MOST_CARDS = 3;

/** A bar of what remains of the whole and what could be saved. */
function SavingMeter({ saves, whole }: { saves: number; whole: number }) {
  return (
    <div class="meter" aria-hidden="true">
      <i style={{ flexGrow: Math.max(0, whole - saves) }} />
      <i class="goes" style={{ flexGrow: saves }} />
    </div>
  );
}

function Saving({ action, perStep }: { action: Action; perStep: boolean }) {
  const { savesMs, takesMs, wholeMs, nextBottleneck } = action;
  if (savesMs === null) {
    if (takesMs === null) return null;
    return (
      <p class="quiet">
        {withElements(
          perStep ? t("Takes {time} of {whole} per step.") : t("Takes {time} of {whole}, the whole capture."),
          {
            whole: formatTime(wholeMs),
            time: <b>{formatTime(takesMs)}</b>,
          },
        )}
      </p>
    );
  }
  return (
    <>
      <p>
        {withElements(
          perStep
            ? t("Saves up to {time} of {whole} per step.")
            : t("Saves up to {time} of {whole}, the whole capture."),
          { whole: formatTime(wholeMs), time: <b class="saves">{formatTime(savesMs)}</b> },
        )}
        {nextBottleneck && <span class="quiet"> {t("Next bottleneck: {cause}", { cause: nextBottleneck })}</span>}
      </p>
      <SavingMeter saves={savesMs} whole={wholeMs} />
    </>
  );
}

function ActionCard({ action, page, why }: { action: Action; page: PageProps; why: Answer }) {
  const { store } = page;
  const perStep = isPerStep(why);
  const evidenceLink = evidenceLinks(page, why, action.id)[0];
  const toolLink = action.tool ? linkTo(store, action.tool) : undefined;
  return (
    <li class="action">
      <h3>{action.title}</h3>
      <Saving action={action} perStep={perStep} />
      {action.explanation && <p>{action.explanation}</p>}
      {action.code && <Code text={action.code.trim()} />}
      <p class="quiet">{withUnitsBesideFigures(action.evidence)}</p>
      {(evidenceLink || toolLink) && (
        <p class="see">
          {evidenceLink && (
            <ViewLink {...evidenceLink} label={t("See it: {evidence}", { evidence: evidenceLink.label })} />
          )}{" "}
          {toolLink && <ViewLink {...toolLink} />}
        </p>
      )}
    </li>
  );
}

/** `why` arrives after the page: until then the cards' room is kept. */
export function ActionCards({ page, why }: { page: PageProps; why: ResourceState<Answer> }) {
  const { value, problem } = why;
  if (problem && !value) return <Findings problems={[problem]} />;
  const actions = value ? actionsOf(value, MOST_CARDS) : [];
  if (value && !actions.length) return null;
  return (
    <section class="section advice" aria-busy={!value}>
      <h2 class="sr-only">{page.answer.table("hints").label}</h2>
      <ol class="actions-row">
        {value ? (
          actions.map((action) => <ActionCard key={action.id} action={action} page={page} why={value} />)
        ) : (
          <li class="action quiet">{t("Looking for causes …")}</li>
        )}
      </ol>
    </section>
  );
}
