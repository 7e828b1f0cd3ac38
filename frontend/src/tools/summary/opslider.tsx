/** What a step would take if one op were faster or slower: the server replays the recording as the slider moves. */

import { useEffect, useState } from "preact/hooks";
import { api, isReport } from "../../api/client";
import { formatTime } from "../../base/format";
import { t } from "../../base/messages";
import type { Scaled } from "../../base/schema";
import type { Answer } from "../../base/table";
import { toProblem } from "../../state/resource";
import { useChoice } from "../../view/choices";
import { Section } from "../../view/section";
import { Select } from "../../view/select";
import { withElements } from "../../view/slots";
import type { PageProps } from "../page";

const DEVICE_WORK_CAUSES = ["compute", "exposed_copy", "exposed_collective"];
const PERCENT_AS_RECORDED = 100;

/** What devices do in a step, by name, as the causes list it. */
function deviceWorkNames(why: Answer): string[] {
  const table = why.table("names");
  return table.rows
    .filter((row) => DEVICE_WORK_CAUSES.includes(table.text(row, "cause")))
    .map((row) => table.text(row, "name"));
}

export function OpSlider({ page, why }: { page: PageProps; why: Answer }) {
  const opNames = deviceWorkNames(why);
  const [chosenOp, setChosenOp] = useChoice("scaled_op");
  const [percent, setPercent] = useChoice("scaled_to");
  const [outcome, setOutcome] = useState<Scaled | string | null>(null);
  const op = opNames.includes(chosenOp) ? chosenOp : (opNames[0] ?? "");
  const factor = Number(percent || "50") / PERCENT_AS_RECORDED;
  const { store, session } = page;
  const { host, options } = store.view.value;
  const { steps = "", step_event = "" } = options;
  useEffect(() => {
    if (!op) return;
    const controller = new AbortController();
    const query = { run: session.run, host, op, factor: `${factor}`, steps, step_event };
    api.scaledOp(query, controller.signal).then(setOutcome, (error: unknown) => {
      if (!controller.signal.aborted) setOutcome(toProblem(error).message);
    });
    return () => controller.abort();
  }, [session.run, host, op, factor, steps, step_event]);
  if (!opNames.length || isReport()) return null;
  const outcomeText = typeof outcome === "string" ? outcome : outcome?.text;
  return (
    <Section
      title={t("What if one op were faster?")}
      doc={t("Replay of the recording with another time for this op; order and dependencies stay.")}
    >
      <div class="slider">
        <Select label={t("Op")} value={op} options={opNames.map((name) => [name, name])} choose={setChosenOp} />
        <span>
          {withElements(t("takes {slider} {factor} times as long", { factor: factor.toFixed(2) }), {
            slider: (
              <input
                type="range"
                min="0"
                max="200"
                step="5"
                value={factor * PERCENT_AS_RECORDED}
                aria-label={t("Time of the op in percent")}
                onInput={(event) => setPercent(event.currentTarget.value)}
              />
            ),
          })}
        </span>
      </div>
      <p class="headline" aria-live="polite">
        {typeof outcome === "object" && outcome && <b>{formatTime(outcome.period_ps - outcome.gain_ps, "ps")}</b>}{" "}
        <span class="quiet">{outcomeText ?? t("Replaying …")}</span>
      </p>
    </Section>
  );
}
