/** Captures: start, watch, stop. */

import type { Problem } from "../base/schema";
import { getJson, post } from "./client";

export type WorkerState = "connecting" | "waiting" | "capturing" | "collecting" | "done" | "failed" | "stopped";

export interface CaptureWorker {
  readonly address: string;
  readonly state: WorkerState;
  readonly attempt: number;
  /** Until its capture begins or ends, as its state has it. */
  readonly seconds_left: number;
  readonly size: number;
  readonly problem: Problem | null;
}

export interface CaptureJob {
  readonly phase: "running" | "done" | "failed";
  readonly run: string;
  readonly folder: string;
  /** The session's name for the other routes; empty until it is listed. */
  readonly session: string;
  readonly options: { readonly duration_ms: number; readonly delay_ms: number };
  readonly problem: Problem | null;
  readonly workers: readonly CaptureWorker[];
}

export interface CaptureState {
  readonly id: number;
  readonly job: CaptureJob | null;
}

export interface PingAnswer {
  readonly workers: readonly { readonly address: string; readonly problem: Problem | null }[];
}

type Form = Readonly<Record<string, string>>;

export const captureApi = {
  hidden: async () =>
    (await getJson<{ readonly hideCaptureProfileButton: boolean }>("config", {})).hideCaptureProfileButton,
  state: () => getJson<CaptureState>("capture/state", {}),
  start: (form: Form) => post<CaptureState>("capture/start", form),
  stop: () => post<CaptureState>("capture/stop", {}),
  doctor: () => getJson<Problem[]>("doctor", {}),
  ping: (form: Form) => post<PingAnswer>("capture/ping", form),
};
