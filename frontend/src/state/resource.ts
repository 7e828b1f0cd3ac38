/** A value that is fetched when what it depends on changes. */

import { effect, type ReadonlySignal, signal } from "@preact/signals";
import { RequestError } from "../api/client";
import { t } from "../base/messages";
import { errorProblem } from "../base/problem";
import type { Problem } from "../base/schema";

export interface ResourceState<T> {
  /** The latest value of the current key, also while it is fetched again. */
  readonly value: T | null;
  readonly problem: Problem | null;
  readonly loading: boolean;
}

export interface Resource<T> {
  readonly state: ReadonlySignal<ResourceState<T>>;
  /** Fetches again and keeps showing the old value meanwhile. */
  refresh(): void;
  dispose(): void;
}

const NOT_LOADED = { value: null, problem: null, loading: false };

export function toProblem(error: unknown): Problem {
  if (error instanceof RequestError) return error.problem;
  const where = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const remedy = t("Reload the page; if it happens again, please report it with the details below.");
  return errorProblem("page", t("This page has a bug."), remedy, where);
}

/** `key` says what to load (null: nothing); `load` runs anew for each key, and a late answer to an old key is dropped. */
export function resource<T>(key: () => string | null, load: (signal: AbortSignal) => Promise<T>): Resource<T> {
  const state = signal<ResourceState<T>>(NOT_LOADED);
  const refreshes = signal(0);
  let currentKey: string | null = null;
  const dispose = effect(() => {
    refreshes.value;
    const newKey = key();
    const oldValue = newKey === currentKey ? state.peek().value : null;
    currentKey = newKey;
    if (newKey === null) {
      state.value = NOT_LOADED;
      return;
    }
    const controller = new AbortController();
    state.value = { value: oldValue, problem: null, loading: true };
    load(controller.signal).then(
      (value) => {
        if (!controller.signal.aborted) state.value = { value, problem: null, loading: false };
      },
      (error: unknown) => {
        if (!controller.signal.aborted) state.value = { value: oldValue, problem: toProblem(error), loading: false };
      },
    );
    return () => controller.abort();
  });
  return {
    state,
    refresh: () => {
      refreshes.value += 1;
    },
    dispose,
  };
}
