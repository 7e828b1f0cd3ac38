/** What to capture: the fields of the dialog. */

import type { ComponentChildren } from "preact";
import { type CaptureForm, DEFAULT_FORM, type Field } from "../base/captureform";
import { t } from "../base/messages";
import type { Capture } from "../state/capture";
import { Icon } from "../view/icons";
import { Findings, ProblemLine } from "../view/problems";
import { withElements } from "../view/slots";
import { Code } from "../view/textparts";

const OFF_ON = [
  ["0", t("off")],
  ["1", t("on")],
] as const;
const TRACER_LEVELS: readonly {
  readonly name: "host_tracer_level" | "device_tracer_level" | "python_tracer_level";
  readonly label: string;
  readonly doc: string;
  readonly choices: readonly (readonly [string, string])[];
}[] = [
  {
    name: "host_tracer_level",
    label: t("Host"),
    doc: t("Level of host events. Everything includes all small ops and makes captures large."),
    choices: [
      ["0", t("off")],
      ["1", t("critical")],
      ["2", t("info")],
      ["3", t("everything")],
    ],
  },
  {
    name: "device_tracer_level",
    label: t("Devices"),
    doc: t("Whether to record the work of GPUs and TPUs."),
    choices: OFF_ON,
  },
  {
    name: "python_tracer_level",
    label: "Python",
    doc: t("Whether to record all Python calls, which slows the program down during the capture."),
    choices: OFF_ON,
  },
];

const SERVER_SNIPPETS: readonly (readonly [string, string])[] = [
  [t("TensorFlow and Keras"), "tf.profiler.experimental.server.start(6009)"],
  ["JAX", "jax.profiler.start_server(6009)"],
  ["PyTorch/XLA", "import torch_xla.debug.profiler as xp\nserver = xp.start_server(6009)"],
];

interface FieldRowProps {
  readonly capture: Capture;
  readonly field: Field;
  readonly label: string;
  readonly doc?: string;
  readonly unit?: string;
  readonly children?: ComponentChildren;
}

/** One field with its label; what is wrong with it stands below. */
function FieldRow({ capture, field, label, doc, unit, children }: FieldRowProps) {
  const fault = capture.faults.value[field];
  const id = `capture-${field}`;
  return (
    <div class={fault ? "field wrong" : "field"}>
      <label for={id} class={doc ? "explained" : undefined} data-tip={doc}>
        {label}
      </label>
      <div>
        {children ?? (
          <input
            id={id}
            type="text"
            inputMode={unit === undefined ? "text" : "numeric"}
            class={unit === undefined ? undefined : "short"}
            value={String(capture.form.value[field])}
            aria-invalid={fault !== undefined}
            aria-describedby={fault ? `${id}-fault` : undefined}
            onInput={(event) => changeForm(capture, { [field]: event.currentTarget.value })}
          />
        )}
        {unit && <span class="quiet"> {unit}</span>}
        {fault && (
          <p class="fault" id={`${id}-fault`}>
            {fault}
          </p>
        )}
      </div>
    </div>
  );
}

function changeForm(capture: Capture, change: Partial<CaptureForm>): void {
  capture.form.value = { ...capture.form.peek(), ...change };
}

function PlacesField({ capture }: { capture: Capture }) {
  const { tpu, places } = capture.form.value;
  return (
    <>
      <fieldset class="field">
        <legend class="sr-only">{t("Where")}</legend>
        <span aria-hidden="true">{t("Where")}</span>
        <div class="kinds">
          {[false, true].map((kind) => (
            <label key={String(kind)}>
              <input
                type="radio"
                name="capture-kind"
                checked={tpu === kind}
                onChange={() => changeForm(capture, { tpu: kind, places: kind ? "" : DEFAULT_FORM.places })}
              />{" "}
              {kind ? t("TPU name") : t("Addresses")}
            </label>
          ))}
        </div>
      </fieldset>
      <FieldRow
        capture={capture}
        field="places"
        label={tpu ? "TPUs" : t("Profiler servers")}
        doc={
          tpu
            ? t("Name of a Cloud TPU; all its workers are captured.")
            : t("host:port of the workers' profiler servers, separated by commas. All captures begin together.")
        }
      >
        <input
          id="capture-places"
          type="text"
          list="capture-recent"
          autocomplete="off"
          spellcheck={false}
          value={places}
          placeholder={tpu ? "my-tpu" : "host1:6009, host2:6009"}
          aria-invalid={capture.faults.value.places !== undefined}
          onInput={(event) => changeForm(capture, { places: event.currentTarget.value })}
        />
        <datalist id="capture-recent">
          {capture.recentPlaces.value.map((text) => (
            <option key={text} value={text} />
          ))}
        </datalist>
      </FieldRow>
      <SilentWorkers capture={capture} />
    </>
  );
}

/** Who answered and who did not, once they were asked. */
function SilentWorkers({ capture }: { capture: Capture }) {
  const answers = capture.pingedWorkers.value;
  if (!answers || capture.isPinging.value) return null;
  const silent = answers.filter((worker) => worker.problem);
  if (!silent.length) return null;
  return (
    <ul class="problems answers" role="alert">
      {silent
        .slice(0, 8)
        .map(
          ({ address, problem }) =>
            problem && (
              <ProblemLine
                key={address}
                problem={{ ...problem, message: `${address}: ${problem.message}`, where: "" }}
              />
            ),
        )}
      {silent.length > 8 && (
        <li class="quiet">
          {t("{count, plural, one {# more worker does not answer.} other {# more workers do not answer.}}", {
            count: silent.length - 8,
          })}
        </li>
      )}
    </ul>
  );
}

function TracerLevels({ capture }: { capture: Capture }) {
  return (
    <fieldset class="field">
      <legend class="sr-only">{t("What to record")}</legend>
      <span aria-hidden="true">{t("Record")}</span>
      <div class="levels">
        {TRACER_LEVELS.map(({ name, label, doc, choices }) => (
          <label key={name}>
            <span class="explained" data-tip={doc}>
              {label}
            </span>{" "}
            <select
              value={capture.form.value[name]}
              onChange={(event) => changeForm(capture, { [name]: event.currentTarget.value })}
            >
              {choices.map(([value, text]) => (
                <option key={value} value={value}>
                  {text}
                </option>
              ))}
            </select>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

function CaptureButtons({ capture }: { capture: Capture }) {
  const asking = capture.isPinging.value;
  const answers = capture.pingedWorkers.value ?? [];
  const reached = answers.filter((worker) => !worker.problem).length;
  const onlySomeAnswer = reached > 0 && reached < answers.length;
  const hasFaults = Object.keys(capture.faults.value).length > 0;
  return (
    <div class="actions">
      <button type="submit" class="button primary" disabled={asking || hasFaults}>
        {asking && <span class="spinner" aria-hidden="true" />}
        {asking ? t("Asking the servers…") : onlySomeAnswer ? t("Ask again") : t("Capture")}
      </button>
      {onlySomeAnswer && !asking && (
        <button type="button" class="button" onClick={() => capture.start(true)}>
          {t("Capture the {reached} of {workers} that answer", { reached, workers: answers.length })}
        </button>
      )}
    </div>
  );
}

export function CaptureFields({ capture, logdir }: { capture: Capture; logdir: string }) {
  const problem = capture.problem.value;
  const submit = (event: Event) => {
    event.preventDefault();
    void capture.start(false);
  };
  const { delay, run } = capture.form.peek();
  return (
    <form onSubmit={submit} noValidate>
      <PlacesField capture={capture} />
      <FieldRow
        capture={capture}
        field="duration"
        label={t("Duration")}
        unit="ms"
        doc={t("Length of the capture. A few steps are enough; longer captures are larger and slower to open.")}
      />
      <TracerLevels capture={capture} />
      <FieldRow
        capture={capture}
        field="num_retry"
        label={t("Retries")}
        unit={t("times")}
        doc={t("Number of retries for a worker that failed or recorded nothing.")}
      />
      <details open={delay !== "0" || run !== ""}>
        <summary>{t("Advanced")}</summary>
        <FieldRow
          capture={capture}
          field="delay"
          label={t("Delay")}
          unit="ms"
          doc={t("Time to wait before the capture begins.")}
        />
        <FieldRow capture={capture} field="run" label={t("Session name")} doc={t("By default, the date and time.")} />
      </details>
      {problem && <Findings problems={[problem]} alert />}
      <CaptureButtons capture={capture} />
      <p class="quiet">
        {withElements(t("The capture is written to {folder} on the machine of this server."), {
          folder: <code>{logdir}</code>,
        })}
      </p>
      <details>
        <summary>
          <Icon name="info" /> {t("How a program starts its profiler server")}
        </summary>
        {SERVER_SNIPPETS.map(([title, text]) => (
          <div key={title}>
            <h3>{title}</h3>
            <Code text={text} />
          </div>
        ))}
        <p class="quiet">
          {t(
            "These servers have no password and listen on all interfaces. Options chosen here always take effect, unlike TensorFlow 2.21's ProfilerOptions.",
          )}
        </p>
      </details>
    </form>
  );
}
