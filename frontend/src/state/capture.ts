/** The capture dialog's knowledge: the form, who answers, and how far the capture is. */

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
  /** Whether this server captures; null until it said so. */
  readonly allowed: ReadonlySignal<boolean | null>;
  /** Nothing is captured: another server's page around ours could lead the clicks. */
  readonly framed: boolean;
  readonly open: Signal<boolean>;
  readonly form: Signal<CaptureForm>;
  readonly faults: ReadonlySignal<Faults>;
  readonly recent: ReadonlySignal<readonly string[]>;
  /** What was found when the addresses were asked; null before, and after they were changed. */
  readonly answers: ReadonlySignal<PingAnswer["workers"] | null>;
  readonly asking: ReadonlySignal<boolean>;
  /** What is wrong with the whole, and with no field of it. */
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
  const kept = recall(storage, KEY);
  const form = signal(formOf(kept.form));
  const recent = signal(recentOf(kept.recent));
  const refused = signal<Faults>({});
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
      // Starting one tells what is wrong.
      allowed.value = true;
    },
  );

  let asked = form.peek();
  effect(() => {
    const { places, tpu } = form.value;
    if (places !== asked.places || tpu !== asked.tpu) answers.value = null;
    asked = form.value;
    refused.value = {};
    problem.value = null;
  });

  const fail = (error: unknown) => {
    const found = toProblem(error);
    const field = fieldOf(found.where);
    if (field) refused.value = { [field]: `${found.message} ${found.remedy}` };
    else problem.value = found;
  };

  const look = () => {
    const session = job.peek()?.session;
    if (!session) return;
    whenListed(store, session, () => {
      store.go({ run: session, tool: "overview_page", host: "" });
      open.value = false;
      job.value = null;
    });
  };

  const finish = (found: CaptureJob) => {
    stopping.value = false;
    store.sessions.refresh();
    if (open.peek() && found.workers.every((worker) => worker.state === "done")) look();
  };

  let watching = false;
  const watch = async () => {
    if (watching) return;
    watching = true;
    try {
      for (;;) {
        const found = (await captureApi.state()).job;
        job.value = found;
        if (!found || found.phase === "failed") break;
        if (found.phase === "done" && found.session) {
          finish(found);
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

  const ask = async (anyway: boolean) => {
    const wanted = parameters(form.peek());
    const { workers } = await captureApi.ping({
      service_addr: wanted.service_addr ?? "",
      is_tpu_name: wanted.is_tpu_name ?? "",
    });
    answers.value = workers;
    const reached = workers.filter((worker) => !worker.problem).length;
    if (!reached || (reached < workers.length && !anyway)) return;
    recent.value = remember(recent.peek(), form.peek().places);
    keep(storage, KEY, { form: form.peek(), recent: recent.peek() });
    job.value = (await captureApi.start(wanted)).job;
    void watch();
  };

  const start = async (anyway: boolean) => {
    if (framed || asking.peek() || Object.keys(faults(form.peek())).length) return;
    asking.value = true;
    problem.value = null;
    try {
      await ask(anyway);
    } catch (error) {
      fail(error);
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
    faults: computed(() => ({ ...refused.value, ...faults(form.value) })),
    recent,
    answers,
    asking,
    problem,
    job,
    stopping,
    look,
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
          // The same.
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
