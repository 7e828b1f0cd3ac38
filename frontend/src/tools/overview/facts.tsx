/** What ran where: environment, precision of the device's arithmetic, and what the capture says about itself. */

import type { Table } from "../../base/datatable";
import { percent, time } from "../../base/format";
import type { Store } from "../../state/store";
import { ProblemLine } from "../../view/problems";
import { Figure } from "../../view/rich";
import { Section } from "../../view/section";

interface EnvironmentProps {
  readonly store: Store;
  readonly environment: Table;
  readonly analysis: Table;
  readonly summary: Table;
}

const YES_NO: Readonly<Record<string, string>> = { true: "yes", false: "no" };

const RECORDED_DOC =
  "The tracer levels that were in effect, as the capture notes them: host 0 to 3, devices and Python 0 or 1. " +
  "They may differ from what a program asked for: the Python API of TensorFlow 2.21 ignores its ProfilerOptions. " +
  "Captures from this page and from tb-profile capture take effect as asked.";

/** The levels in effect, in words; empty where no host says. */
function recordedWith(store: Store): string {
  const hosts = Object.values(store.details.state.value.value?.recorded ?? {});
  const texts = hosts.map((levels) =>
    Object.entries(levels)
      .map(([name, level]) => `${name.replace("_tracer_level", "")} ${level}`)
      .join(", "),
  );
  return [...new Set(texts)].join("; ");
}

export function Environment({ environment, analysis, summary, store }: EnvironmentProps) {
  const recorded = recordedWith(store);
  const window = summary.figure("window_ms");
  const hasDevice = environment.property("device_core_count") !== "0";
  const facts: readonly (readonly [string, string, Table, string?])[] = [
    ["Hosts", "host_count", environment, "Machines in this session."],
    ["Tasks", "task_count", environment],
    ["Device", "device_type", environment, "The accelerator that the capture names; CPU where it names none."],
    ["Device cores", "device_core_count", environment],
    ["Training", "is_training", environment],
    ["Device busy", "device_duty_cycle_percent", analysis],
    ["Device idle", "device_idle_time_percent", analysis],
    ["Ops on the host", "host_tf_op_percent", analysis],
    ["Ops on the device", "device_tf_op_percent", analysis],
    ["Eager on the host", "host_op_time_eager_percent", analysis],
    ["Eager on the device", "device_op_time_eager_percent", analysis],
  ];
  return (
    <Section title="Run environment">
      <dl class="figures rows">
        {facts
          .filter(([, name, table]) => table.property(name) !== "")
          .filter(([, name, table]) => hasDevice || table === environment || !name.startsWith("device_"))
          .map(([label, name, table, doc]) => {
            const text = table.property(name);
            return (
              <Figure key={name} label={label} value={YES_NO[text] ?? text} doc={table.doc(name) || doc} of={name} />
            );
          })}
        {window !== null && (
          <Figure label="Captured" value={time(window)} doc={summary.doc("window_ms")} of="window_ms" />
        )}
        {recorded && <Figure label="Tracer levels" value={recorded} doc={RECORDED_DOC} />}
      </dl>
    </Section>
  );
}

export function Precisions({ analysis }: { analysis: Table }) {
  const half = analysis.figure("device_compute_16bit_percent");
  const single = analysis.figure("device_compute_32bit_percent");
  const unknown = analysis.figure("device_compute_unknown_percent") ?? 0;
  if (half === null || single === null || half + single + unknown <= 0) return null;
  const known = unknown > 0 ? ", of the known" : "";
  return (
    <Section
      title="Precision on the device"
      doc="What the device's compute time is spent on, by the precision of the arithmetic."
    >
      <dl class="figures rows">
        <Figure
          label={`16 bit${known}`}
          value={percent(half / 100)}
          doc={analysis.doc("device_compute_16bit_percent")}
          of="device_compute_16bit_percent"
        />
        <Figure
          label={`32 bit${known}`}
          value={percent(single / 100)}
          doc={analysis.doc("device_compute_32bit_percent")}
          of="device_compute_32bit_percent"
        />
        {unknown > 0 && (
          <Figure
            label="Not known"
            value={percent(unknown / 100)}
            doc={analysis.doc("device_compute_unknown_percent")}
            of="device_compute_unknown_percent"
          />
        )}
      </dl>
    </Section>
  );
}

const SEVERITIES: Readonly<Record<string, "error" | "warning" | "info">> = { ERROR: "error", WARNING: "warning" };

/** What the tool itself notes; what Capture health says already is not said twice. */
export function Diagnostics({ table, store }: { table: Table; store: Store }) {
  const health = store.details.state.value.value?.problems ?? [];
  const lines = table.rows
    .map((row) => ({
      message: table.text(row, "message"),
      severity: SEVERITIES[table.text(row, "severity")] ?? "info",
    }))
    .filter(({ message }) => !health.some((problem) => message.includes(problem.message)));
  if (!lines.length) return null;
  return (
    <ul class="problems">
      {lines.map((line) => (
        <ProblemLine key={line.message} problem={{ code: "", remedy: "", where: "", ...line }} />
      ))}
    </ul>
  );
}
