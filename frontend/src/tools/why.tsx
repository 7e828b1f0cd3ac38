/** Why does a step take as long as it does, and what would make it shorter? */

import { inMilliseconds, percent, time } from "../base/format";
import { byCategory, part } from "../base/parts";
import type { Answer } from "../base/table";
import { deltaOf } from "../view/delta";
import { Notes } from "../view/problems";
import { Section } from "../view/section";
import { StackBar, StackLegend } from "../view/stackbar";
import { Verdict } from "../view/verdict";
import { linkTo, type PageProps } from "./page";
import { Chosen } from "./steps/chosen";
import { Causes } from "./why/causes";
import { Behind } from "./why/figures";
import { OpSlider } from "./why/slider";
import { Unusual } from "./why/unusual";
import { WallClock } from "./why/wallclock";

const PS = inMilliseconds("ps");

function extent(answer: Answer): string {
  const [kept, all] = [answer.number("steps_kept"), answer.number("steps_count")];
  if (!all) return "captured; no step was found, so this is the whole capture";
  const typical = answer.number("typical_ps") ?? 0;
  const [rate, used] = [answer.number("tflop_per_s"), answer.number("mfu_share")];
  const work = rate ? `; ${rate.toPrecision(3)} TFLOP/s a device${used ? `, MFU ${percent(used, 0)}` : ""}` : "";
  return `from step to step, ${time(typical, "ps")} of it in the step; ${kept} of ${all} steps count${work}`;
}

/** What the devices do in the typical step and until the next one, or why they are idle. */
function Typical({ answer }: { answer: Answer }) {
  const table = answer.table("step");
  const pieces = byCategory(table, "id").map((row) => ({
    part: part(table.text(row, "id")),
    label: table.text(row, "label"),
    value: table.length(row, "time_ps") * PS,
    delta: deltaOf(table, row, "time_ps"),
  }));
  const delta = answer.number("delta_period_ps");
  const total = (answer.number("period_ps") ?? answer.number("window_ps") ?? 0) * PS;
  return (
    <Section
      title={table.label}
      doc={table.doc}
      note={`Steps: ${answer.text("step_rule")}`}
      controls={<Chosen any={answer.number("steps_count") !== 0} />}
    >
      <p class="headline">
        <b>{time(total)}</b> <span class="quiet">{extent(answer)}</span>
      </p>
      <StackBar pieces={pieces} total={total} />
      <StackLegend pieces={pieces} total={total} sumLabel="From step to step" delta={delta && delta * PS} />
    </Section>
  );
}

export default function WhyPage(props: PageProps) {
  const { answer, store } = props;
  const { headline } = answer;
  const coverage = answer.number("coverage");
  return (
    <>
      {headline && <Verdict {...headline} next={linkTo(store, headline.tool)} />}
      <Notes notes={answer.notes} store={store} />
      <div class="columns halves">
        <Typical answer={answer} />
        <WallClock answer={answer} note={coverage === null ? "" : `steps cover ${percent(coverage, 0)}`} />
      </div>
      <Causes page={props} />
      <OpSlider page={props} />
      <Unusual page={props} />
      <Behind page={props} />
    </>
  );
}
