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
  recentOf,
  requestParameters,
  withRecent,
} from "../base/captureform";
import { toProblem } from "./resource";
import { readStored, writeStored } from "./storage";
import type { Store } from "./store";

const STORAGE_KEY = "tb-profile.capture";
const POLL_MS = 300;

export interface Capture {
  /** Whether this server captures; null until it answered that. */
  readonly isAllowed: ReadonlySignal<boolean | null>;
  /** Whether a page of another server is around ours, which could lead clicks: then nothing is captured. */
  readonly isInForeignPage: boolean;
  readonly isOpen: Signal<boolean>;
  readonly form: Signal<CaptureForm>;
  readonly faults: ReadonlySignal<Faults>;
  readonly recentPlaces: ReadonlySignal<readonly string[]>;
  /** Which of the addresses answered; null before they were asked, and after they were changed. */
  readonly pingedWorkers: ReadonlySignal<PingAnswer["workers"] | null>;
  readonly isPinging: ReadonlySignal<boolean>;
  /** A problem of no single field. */
  readonly problem: ReadonlySignal<Problem | null>;
  readonly job: ReadonlySignal<CaptureJob | null>;
  readonly isStopping: ReadonlySignal<boolean>;
  openDialog(): void;
  /** Asks the addresses, and starts where all answer; `anyway` starts where only some do. */
  start(anyway: boolean): Promise<void>;
  stop(): void;
  /** From an outcome back to the form. */
  backToForm(): void;
  /** Opens the captured session on its first page. */
  openSession(): void;
}

/** Calls `act` once a session is listed; a view of one that is not would say that there is none. */
function onceListed(store: Store, run: string, act: () => void): void {
  store.sessions.refresh();
  const stop = effect(() => {
    if (store.sessions.state.value.value?.sessions.some((entry) => entry.run === run))
      queueMicrotask(() => {
        stop();
        act();
      });
  });
}

export function createCapture(store: Store, storage: Storage | null, isInForeignPage = false): Capture {
  const stored = readStored(storage, STORAGE_KEY);
  const form = signal(formOf(stored.form));
  const recentPlaces = signal(recentOf(stored.recent));
  /** Fields that the server refused. */
  const refusals = signal<Faults>({});
  const pingedWorkers = signal<PingAnswer["workers"] | null>(null);
  const isPinging = signal(false);
  const problem = signal<Problem | null>(null);
  const job = signal<CaptureJob | null>(null);
  const isStopping = signal(false);
  const isOpen = signal(false);
  const isAllowed = signal<boolean | null>(null);
  captureApi.hidden().then(
    (hidden) => {
      isAllowed.value = !hidden;
    },
    () => {
      // The attempt to start a capture will show what is wrong.
      isAllowed.value = true;
    },
  );

  let previous = form.peek();
  effect(() => {
    const { places, tpu } = form.value;
    if (places !== previous.places || tpu !== previous.tpu) pingedWorkers.value = null;
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
    onceListed(store, session, () => {
      store.go({ run: session, tool: "overview_page", host: "" });
      isOpen.value = false;
      job.value = null;
    });
  };

  const finish = ({ workers }: CaptureJob) => {
    isStopping.value = false;
    store.sessions.refresh();
    if (isOpen.peek() && workers.every((worker) => worker.state === "done")) openSession();
  };

  let isWatching = false;
  const watchJob = async () => {
    if (isWatching) return;
    isWatching = true;
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
      isWatching = false;
      isStopping.value = false;
    }
  };

  const pingAndStart = async (anyway: boolean) => {
    const query = requestParameters(form.peek());
    const { workers } = await captureApi.ping({
      service_addr: query.service_addr ?? "",
      is_tpu_name: query.is_tpu_name ?? "",
    });
    pingedWorkers.value = workers;
    const reachable = workers.filter((worker) => !worker.problem).length;
    if (!reachable || (reachable < workers.length && !anyway)) return;
    recentPlaces.value = withRecent(recentPlaces.peek(), form.peek().places);
    writeStored(storage, STORAGE_KEY, { form: form.peek(), recent: recentPlaces.peek() });
    job.value = (await captureApi.start(query)).job;
    void watchJob();
  };

  const start = async (anyway: boolean) => {
    if (isInForeignPage || isPinging.peek() || Object.keys(faults(form.peek())).length) return;
    isPinging.value = true;
    problem.value = null;
    try {
      await pingAndStart(anyway);
    } catch (error) {
      showError(error);
    } finally {
      isPinging.value = false;
    }
  };

  const backToForm = () => {
    job.value = null;
    pingedWorkers.value = null;
    problem.value = null;
  };

  return {
    isAllowed,
    isInForeignPage,
    isOpen,
    form,
    faults: computed(() => ({ ...refusals.value, ...faults(form.value) })),
    recentPlaces,
    pingedWorkers,
    isPinging,
    problem,
    job,
    isStopping,
    openSession: openSession,
    start,
    backToForm,
    openDialog: () => {
      if (job.peek()?.phase !== "running") backToForm();
      isOpen.value = true;
      // Someone else may be capturing on this server.
      captureApi.state().then(
        (state) => {
          if (state.job?.phase === "running") void watchJob();
        },
        () => {
          // The attempt to start a capture will show what is wrong.
        },
      );
    },
    stop: () => {
      if (isInForeignPage) return;
      isStopping.value = true;
      captureApi.stop().catch((error: unknown) => {
        isStopping.value = false;
        problem.value = toProblem(error);
      });
    },
  };
}
