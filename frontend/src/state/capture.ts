/** State of the capture dialog: its form, which workers answer, and how far the capture is. */

import { computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { type CaptureJob, captureApi, type PingAnswer } from "../api/capture";
import {
  addRecentPlace,
  type CaptureForm,
  type Faults,
  fieldOfProblem,
  findFaults,
  parseRecentPlaces,
  parseStoredForm,
  requestParameters,
} from "../base/captureform";
import type { Problem } from "../base/schema";
import { toProblem } from "./resource";
import { readStored, writeStored } from "./storage";
import type { Store } from "./store";

const STORAGE_KEY = "tb-profile.capture";
const POLL_MS = 300;

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

/** The dialog for one store; captures outlive it on the server, also those that others started. */
export class Capture {
  private readonly allowed = signal<boolean | null>(null);
  /** Whether this server captures; null until it answered that. */
  readonly isAllowed: ReadonlySignal<boolean | null> = this.allowed;
  readonly isOpen = signal(false);
  readonly form: Signal<CaptureForm>;
  /** Fields that the server refused. */
  private readonly refusals = signal<Faults>({});
  /** What is wrong with fields, by the form's own rules and by the server's. */
  readonly faults: ReadonlySignal<Faults>;
  readonly recentPlaces: Signal<readonly string[]>;
  /** Which of the addresses answered; null before they were asked, and after they were changed. */
  readonly pingedWorkers = signal<PingAnswer["workers"] | null>(null);
  readonly isPinging = signal(false);
  /** A problem of no single field. */
  readonly problem = signal<Problem | null>(null);
  readonly job = signal<CaptureJob | null>(null);
  readonly isStopping = signal(false);
  private isWatching = false;

  /** `isInForeignPage`: a page of another server is around ours and could lead clicks, so that nothing is captured. */
  constructor(
    private readonly store: Store,
    private readonly storage: Storage | null,
    readonly isInForeignPage = false,
  ) {
    const stored = readStored(storage, STORAGE_KEY);
    this.form = signal(parseStoredForm(stored.form));
    this.recentPlaces = signal(parseRecentPlaces(stored.recent));
    this.faults = computed(() => ({ ...this.refusals.value, ...findFaults(this.form.value) }));
    void this.askWhetherAllowed();
    this.forgetAnswersToFormerForm();
  }

  private async askWhetherAllowed(): Promise<void> {
    try {
      this.allowed.value = !(await captureApi.hidden());
    } catch {
      // The attempt to start a capture will show what is wrong.
      this.allowed.value = true;
    }
  }

  /** What the server said of the form is forgotten when that changes; who answered, when the addresses do. */
  private forgetAnswersToFormerForm(): void {
    let previous = this.form.peek();
    effect(() => {
      const { places, tpu } = this.form.value;
      if (places !== previous.places || tpu !== previous.tpu) this.pingedWorkers.value = null;
      previous = this.form.value;
      this.refusals.value = {};
      this.problem.value = null;
    });
  }

  openDialog(): void {
    if (this.job.peek()?.phase !== "running") this.backToForm();
    this.isOpen.value = true;
    void this.watchCaptureOfOthers();
  }

  /** Someone else may be capturing on this server. */
  private async watchCaptureOfOthers(): Promise<void> {
    try {
      const { job } = await captureApi.state();
      if (job?.phase === "running") void this.watchJob();
    } catch {
      // The attempt to start a capture will show what is wrong.
    }
  }

  backToForm(): void {
    this.job.value = null;
    this.pingedWorkers.value = null;
    this.problem.value = null;
  }

  /** Asks the addresses, and starts where all answer; `anyway` starts where only some do. */
  async start(anyway: boolean): Promise<void> {
    if (this.isInForeignPage || this.isPinging.peek() || Object.keys(findFaults(this.form.peek())).length) return;
    this.isPinging.value = true;
    this.problem.value = null;
    try {
      await this.pingAndStart(anyway);
    } catch (error) {
      this.showError(error);
    } finally {
      this.isPinging.value = false;
    }
  }

  private async pingAndStart(anyway: boolean): Promise<void> {
    const query = requestParameters(this.form.peek());
    const { workers } = await captureApi.ping({
      service_addr: query.service_addr ?? "",
      is_tpu_name: query.is_tpu_name ?? "",
    });
    this.pingedWorkers.value = workers;
    const reachableCount = workers.filter((worker) => !worker.problem).length;
    if (!reachableCount || (reachableCount < workers.length && !anyway)) return;
    this.recentPlaces.value = addRecentPlace(this.recentPlaces.peek(), this.form.peek().places);
    writeStored(this.storage, STORAGE_KEY, { form: this.form.peek(), recent: this.recentPlaces.peek() });
    this.job.value = (await captureApi.start(query)).job;
    void this.watchJob();
  }

  /** Shows an error at the field that it is about, if it is about one. */
  private showError(error: unknown): void {
    const problem = toProblem(error);
    const field = fieldOfProblem(problem.where);
    if (field) this.refusals.value = { [field]: `${problem.message} ${problem.remedy}` };
    else this.problem.value = problem;
  }

  /** Follows the server's capture to its end; one watch is enough. */
  private async watchJob(): Promise<void> {
    if (this.isWatching) return;
    this.isWatching = true;
    try {
      for (;;) {
        const { job } = await captureApi.state();
        this.job.value = job;
        if (!job || job.phase === "failed") break;
        if (job.phase === "done" && job.session) {
          this.finish(job);
          break;
        }
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    } catch (error) {
      this.problem.value = toProblem(error);
    } finally {
      this.isWatching = false;
      this.isStopping.value = false;
    }
  }

  /** Opens the session where all went well; otherwise the outcome stays in sight. */
  private finish({ workers }: CaptureJob): void {
    this.isStopping.value = false;
    this.store.sessions.refresh();
    if (this.isOpen.peek() && workers.every((worker) => worker.state === "done")) this.openSession();
  }

  stop(): void {
    if (this.isInForeignPage) return;
    this.isStopping.value = true;
    captureApi.stop().catch((error: unknown) => {
      this.isStopping.value = false;
      this.problem.value = toProblem(error);
    });
  }

  /** Opens the captured session on its first page. */
  openSession(): void {
    const session = this.job.peek()?.session;
    if (!session) return;
    onceListed(this.store, session, () => {
      this.store.go({ run: session, tool: "overview_page", host: "" });
      this.isOpen.value = false;
      this.job.value = null;
    });
  }
}
