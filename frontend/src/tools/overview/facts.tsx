/** What ran where: environment, precision of the device's arithmetic, and what the capture says about itself. */

import type { Table } from "../../base/datatable";
import { percent, time } from "../../base/format";
import type { Store } from "../../state/store";
import { ProblemLine } from "../../view/problems";
import { Figure } from "../../view/rich";
import { Section } from "../../view/section";

interface EnvironmentProps {
  readonly environment: Table;
  readonly analysis: Table;
  readonly summary: Table;
}

const YES_NO: Readonly<Record<string, string>> = { true: "yes", false: "no" };

export function Environment({ environment, analysis, summary }: EnvironmentProps) {
  const window = summary.figure("window_ms");
  const facts: readonly (readonly [string, string, string, Table])[] = [
    ["Hosts", "host_count", "How many machines are in this session.", environment],
    ["Tasks", "task_count", "Processes that were captured, and how many of them run on one host.", environment],
    [
      "Device",
      "device_type",
      "What the planes of the capture say about the accelerator; CPU where there is none.",
      environment,
    ],
    ["Device cores", "device_core_count", "Accelerators (TPU: cores) which have a plane in the capture.", environment],
    ["Training", "is_training", "Whether gradient ops occur in the captured programs.", environment],
    ["Ops on the host", "host_tf_op_percent", "Share of the op executions which ran on the host.", analysis],
    ["Ops on the device", "device_tf_op_percent", "Share of the op executions which ran on the device.", analysis],
    ["Eager on the host", "host_op_time_eager_percent", "Share of the host's op time outside tf.function.", analysis],
    [
      "Eager on the device",
      "device_op_time_eager_percent",
      "Share of the device's op time outside tf.function.",
      analysis,
    ],
  ];
  return (
    <Section title="Run environment">
      <dl class="figures rows">
        {facts
          .filter(([, name, , table]) => table.property(name) !== "")
          .map(([label, name, doc, table]) => {
            const text = table.property(name);
            return <Figure key={name} label={label} value={YES_NO[text] ?? text} doc={table.doc(name) || doc} />;
          })}
        {window !== null && (
          <Figure
            label="Captured"
            value={time(window)}
            doc={summary.doc("window_ms") || "From the first to the last event of the capture."}
          />
        )}
      </dl>
    </Section>
  );
}

export function Precisions({ analysis, breakdown }: { analysis: Table; breakdown: Table }) {
  const half = analysis.figure("device_compute_16bit_percent");
  const single = analysis.figure("device_compute_32bit_percent");
  const unknown = breakdown.rows.find((row) => breakdown.text(row, "part") === "device_compute_other");
  const share = unknown ? breakdown.number(unknown, "share") : 0;
  if (half === null || single === null || half + single <= 0) return null;
  return (
    <Section
      title="Precision on the device"
      doc="Device compute time by the type of its arithmetic, from kernel names and op shapes. Kernels of unknown type are left out of the two shares."
    >
      <dl class="figures rows">
        <Figure label="16 bit" value={percent(half / 100)} doc={analysis.doc("device_compute_16bit_percent")} />
        <Figure label="32 bit" value={percent(single / 100)} doc={analysis.doc("device_compute_32bit_percent")} />
        {share > 0 && <Figure label="Type not known" value={percent(share)} note="of the step" />}
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
