/** State of the capture dialog: its form, which workers answer, and how far the capture is. */

import { computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { type CaptureJob, captureApi, type PingAnswer } from "../api/capture";
import type { Problem } from "../api/types";
import {
  type CaptureForm,
  type Faults,
  faults,
  fieldOf,
  formOf,
  parameters,
  recentOf,
  remember,
} from "../base/captureform";
import { toProblem } from "./resource";
import { keep, recall } from "./storage";
import type { Store } from "./store";

const KEY = "tb-profile.capture";
const POLL_MS = 300;

export interface Capture {
  /** Whether this server captures; null until it answered that. */
  readonly allowed: ReadonlySignal<boolean | null>;
  /** Whether a page of another server is around ours, which could lead clicks: then nothing is captured. */
  readonly framed: boolean;
  readonly open: Signal<boolean>;
  readonly form: Signal<CaptureForm>;
  readonly faults: ReadonlySignal<Faults>;
  readonly recent: ReadonlySignal<readonly string[]>;
  /** Which of the addresses answered; null before they were asked, and after they were changed. */
  readonly answers: ReadonlySignal<PingAnswer["workers"] | null>;
  readonly asking: ReadonlySignal<boolean>;
  /** A problem of no single field. */
  readonly problem: ReadonlySignal<Problem | null>;
  readonly job: ReadonlySignal<CaptureJob | null>;
  readonly stopping: ReadonlySignal<boolean>;
  show(): void;
  /** Asks the addresses, and starts where all answer; `anyway` starts where only some do. */
  start(anyway: boolean): Promise<void>;
  stop(): void;
  /** From an outcome back to the form. */
  again(): void;
  /** Opens the captured session on its first page. */
  look(): void;
}

/** Calls `act` once a session is listed; a view of one that is not would say that there is none. */
function whenListed(store: Store, run: string, act: () => void): void {
  store.sessions.refresh();
  const stop = effect(() => {
    if (store.sessions.state.value.value?.sessions.some((entry) => entry.run === run))
      queueMicrotask(() => {
        stop();
        act();
      });
  });
}

export function createCapture(store: Store, storage: Storage | null, framed = false): Capture {
  const stored = recall(storage, KEY);
  const form = signal(formOf(stored.form));
  const recent = signal(recentOf(stored.recent));
  /** Fields that the server refused. */
  const refusals = signal<Faults>({});
  const answers = signal<PingAnswer["workers"] | null>(null);
  const asking = signal(false);
  const problem = signal<Problem | null>(null);
  const job = signal<CaptureJob | null>(null);
  const stopping = signal(false);
  const open = signal(false);
  const allowed = signal<boolean | null>(null);
  captureApi.hidden().then(
    (hidden) => {
      allowed.value = !hidden;
    },
    () => {
      // The attempt to start a capture will show what is wrong.
      allowed.value = true;
    },
  );

  let previous = form.peek();
  effect(() => {
    const { places, tpu } = form.value;
    if (places !== previous.places || tpu !== previous.tpu) answers.value = null;
    previous = form.value;
    refusals.value = {};
    problem.value = null;
  });

  const showError = (error: unknown) => {
    const failure = toProblem(error);
    const field = fieldOf(failure.where);
    if (field) refusals.value = { [field]: `${failure.message} ${failure.remedy}` };
    else problem.value = failure;
  };

  const openSession = () => {
    const session = job.peek()?.session;
    if (!session) return;
    whenListed(store, session, () => {
      store.go({ run: session, tool: "overview_page", host: "" });
      open.value = false;
      job.value = null;
    });
  };

  const finish = ({ workers }: CaptureJob) => {
    stopping.value = false;
    store.sessions.refresh();
    if (open.peek() && workers.every((worker) => worker.state === "done")) openSession();
  };

  let watching = false;
  const watch = async () => {
    if (watching) return;
    watching = true;
    try {
      for (;;) {
        const latest = (await captureApi.state()).job;
        job.value = latest;
        if (!latest || latest.phase === "failed") break;
        if (latest.phase === "done" && latest.session) {
          finish(latest);
          break;
        }
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    } catch (error) {
      problem.value = toProblem(error);
    } finally {
      watching = false;
      stopping.value = false;
    }
  };

  const askAndStart = async (anyway: boolean) => {
    const query = parameters(form.peek());
    const { workers } = await captureApi.ping({
      service_addr: query.service_addr ?? "",
      is_tpu_name: query.is_tpu_name ?? "",
    });
    answers.value = workers;
    const reachable = workers.filter((worker) => !worker.problem).length;
    if (!reachable || (reachable < workers.length && !anyway)) return;
    recent.value = remember(recent.peek(), form.peek().places);
    keep(storage, KEY, { form: form.peek(), recent: recent.peek() });
    job.value = (await captureApi.start(query)).job;
    void watch();
  };

  const start = async (anyway: boolean) => {
    if (framed || asking.peek() || Object.keys(faults(form.peek())).length) return;
    asking.value = true;
    problem.value = null;
    try {
      await askAndStart(anyway);
    } catch (error) {
      showError(error);
    } finally {
      asking.value = false;
    }
  };

  const again = () => {
    job.value = null;
    answers.value = null;
    problem.value = null;
  };

  return {
    allowed,
    framed,
    open,
    form,
    faults: computed(() => ({ ...refusals.value, ...faults(form.value) })),
    recent,
    answers,
    asking,
    problem,
    job,
    stopping,
    look: openSession,
    start,
    again,
    show: () => {
      if (job.peek()?.phase !== "running") again();
      open.value = true;
      // Someone else may be capturing on this server.
      captureApi.state().then(
        (state) => {
          if (state.job?.phase === "running") void watch();
        },
        () => {
          // The attempt to start a capture will show what is wrong.
        },
      );
    },
    stop: () => {
      if (framed) return;
      stopping.value = true;
      captureApi.stop().catch((error: unknown) => {
        stopping.value = false;
        problem.value = toProblem(error);
      });
    },
  };
}
