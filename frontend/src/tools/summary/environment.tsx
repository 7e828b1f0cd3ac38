/** What ran where: environment, and precision of the device's arithmetic. */

import { formatValue } from "../../base/format";
import { joinNames, joinSentences, t } from "../../base/messages";
import type { Answer } from "../../base/table";
import type { Store } from "../../state/store";
import { Section } from "../../view/section";
import { Figure } from "../../view/textparts";

const ENVIRONMENT_FACTS = `
  hosts tasks device_type device_cores training device_busy_share device_idle_share tflop_per_s mfu_share
  flops_unknown_share hbm_share matrix_unit_share host_op_share device_op_share host_eager_share
  device_eager_share window_ms`
  .trim()
  .split(/\s+/);
const PRECISION_FACTS = ["compute_16_share", "compute_32_share"];
const UNKNOWN_PRECISION = "compute_unknown_share";

const RECORDED_DOC = joinSentences(
  t("Tracer levels in effect, as the capture states them: host 0 to 3, devices and Python 0 or 1."),
  t("They may differ from the request: TensorFlow 2.21's Python API ignores its ProfilerOptions."),
  t("Captures from this page and from tb-profile capture use the requested levels."),
);

/** The levels in effect, in words; empty where no host says. */
function tracerLevels(store: Store): string {
  const hosts = Object.values(store.details.state.value.value?.recorded ?? {});
  const texts = hosts.map((levels) =>
    joinNames(Object.entries(levels).map(([name, level]) => `${name.replace("_tracer_level", "")} ${level}`)),
  );
  return [...new Set(texts)].join("; ");
}

/** Those of the facts that are known. */
function KnownFacts({ answer, ids }: { answer: Answer; ids: readonly string[] }) {
  return ids.map((id) => {
    const { label, value, unit, doc, depends } = answer.fact(id);
    const base = answer.fact(`base_${id}`).value;
    const note = base === null ? undefined : t("baseline {value}", { value: formatValue(base, unit) });
    return (
      value !== null && (
        <Figure key={id} label={label} value={formatValue(value, unit)} doc={doc} depends={depends} note={note} />
      )
    );
  });
}

export function Environment({ answer, store }: { answer: Answer; store: Store }) {
  const recorded = tracerLevels(store);
  return (
    <Section title={t("Run environment")}>
      <dl class="figures rows">
        <KnownFacts answer={answer} ids={ENVIRONMENT_FACTS} />
        {recorded && <Figure label={t("Tracer levels")} value={recorded} doc={RECORDED_DOC} />}
      </dl>
    </Section>
  );
}

export function Precisions({ answer }: { answer: Answer }) {
  const unknown = answer.number(UNKNOWN_PRECISION);
  if (unknown === null) return null;
  return (
    <Section title={t("Precision on the device")} doc={t("Device compute time by precision of the arithmetic.")}>
      <dl class="figures rows">
        <KnownFacts answer={answer} ids={unknown > 0 ? [...PRECISION_FACTS, UNKNOWN_PRECISION] : PRECISION_FACTS} />
      </dl>
    </Section>
  );
}
