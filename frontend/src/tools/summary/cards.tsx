/** Up to three cards: do this, what it saves, code to copy, and where to see it. */

import { time } from "../../base/format";
import { t } from "../../base/messages";
import type { Answer } from "../../base/table";
import type { Loaded } from "../../state/resource";
import { ProblemLine } from "../../view/problems";
import { Code } from "../../view/rich";
import { withElements } from "../../view/slots";
import { GoLink } from "../../view/verdict";
import { linkTo, type PageProps } from "../page";
import { type Action, actionsOf } from "./actions";
import { hasSteps } from "./causes";
import { evidenceOf } from "./evidence";

const MOST_CARDS = 3;

/** A bar of what remains of the whole and what could be saved. */
function Meter({ saves, whole }: { saves: number; whole: number }) {
  return (
    <div class="meter" aria-hidden="true">
      <i style={{ flexGrow: Math.max(0, whole - saves) }} />
      <i class="goes" style={{ flexGrow: saves }} />
    </div>
  );
}

function Saves({ action, perStep }: { action: Action; perStep: boolean }) {
  const { saves, takes, whole, limit } = action;
  if (saves === null) {
    if (takes === null) return null;
    return (
      <p class="quiet">
        {withElements(
          perStep ? t("Takes {time} of {whole} per step.") : t("Takes {time} of {whole}, the whole capture."),
          {
            whole: time(whole),
            time: <b>{time(takes)}</b>,
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
          { whole: time(whole), time: <b class="saves">{time(saves)}</b> },
        )}
        {limit && <span class="quiet"> {t("Next bottleneck: {cause}", { cause: limit })}</span>}
      </p>
      <Meter saves={saves} whole={whole} />
    </>
  );
}

function Card({ action, page, why }: { action: Action; page: PageProps; why: Answer }) {
  const { store } = page;
  const perStep = hasSteps(why);
  const see = evidenceOf(page, why, action.id)[0];
  const more = action.tool ? linkTo(store, action.tool) : undefined;
  return (
    <li class="action">
      <h3>{action.title}</h3>
      <Saves action={action} perStep={perStep} />
      {action.more && <p>{action.more}</p>}
      {action.code && <Code text={action.code.trim()} />}
      <p class="quiet">{action.evidence}</p>
      {(see || more) && (
        <p class="see">
          {see && <GoLink {...see} label={t("See it: {evidence}", { evidence: see.label })} />}{" "}
          {more && <GoLink {...more} />}
        </p>
      )}
    </li>
  );
}

/** `why` arrives after the page: until then the cards' room is kept. */
export function Actions({ page, why }: { page: PageProps; why: Loaded<Answer> }) {
  const { value, problem } = why;
  if (problem && !value)
    return (
      <ul class="problems">
        <ProblemLine problem={problem} />
      </ul>
    );
  const actions = value ? actionsOf(value, MOST_CARDS) : [];
  if (value && !actions.length) return null;
  return (
    <section class="section advice" aria-busy={!value}>
      <h2 class="sr-only">{page.answer.table("hints").label}</h2>
      <ol class="actions-row">
        {value ? (
          actions.map((action) => <Card key={action.id} action={action} page={page} why={value} />)
        ) : (
          <li class="action quiet">{t("Looking for causes …")}</li>
        )}
      </ol>
    </section>
  );
}
