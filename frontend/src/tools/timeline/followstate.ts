/** What happens when the timeline's state changes: details, statistics, hits and arrows are asked for, the URL is written. */

import { effect, type Signal } from "@preact/signals";
import type { Slab } from "../../base/slab";
import { readTimelineView, writeTimelineView } from "../../base/timelinecodec";
import type { Engine } from "./engine";
import { walkHits } from "./navigation";
import { applyTimelineView, type Hits, timelineViewOf } from "./state";

const ADDRESS_DELAY_MS = 300;
const TYPING_DELAY_MS = 200;
const MOVING_DELAY_MS = 150;

type Fail = (error: unknown) => void;

/**
 * Puts the answer of a request into `target`, anew whenever a signal changes that `request` reads; only the newest answer
 * counts. `request` says how to ask, null for not at all.
 */
function followRequest<T>(
  target: Signal<T>,
  delayMs: number,
  fail: Fail,
  request: () => ((signal: AbortSignal) => Promise<T>) | null,
): () => void {
  let controller = new AbortController();
  let timer: ReturnType<typeof setTimeout>;
  const stop = effect(() => {
    controller.abort();
    clearTimeout(timer);
    controller = new AbortController();
    const { signal } = controller;
    const ask = request();
    if (!ask) return;
    const send = async () => {
      try {
        const answer = await ask(signal);
        if (!signal.aborted) target.value = answer;
      } catch (error) {
        if (!signal.aborted) fail(error);
      }
    };
    if (delayMs) timer = setTimeout(send, delayMs);
    else void send();
  });
  return () => {
    stop();
    clearTimeout(timer);
    controller.abort();
  };
}

function hitsOf({ facts, arrays }: Slab): Hits {
  const host = arrays.host as Uint16Array;
  const event = arrays.event as Uint32Array;
  const [begin, end] = [arrays.begin as Float64Array, arrays.end as Float64Array];
  let longest = 1;
  for (let at = 0; at < event.length; at++) longest = Math.max(longest, (end[at] as number) - (begin[at] as number));
  return {
    total: facts.total as number,
    count: event.length,
    longest,
    host,
    lane: arrays.lane as Uint16Array,
    row: arrays.row as Uint16Array,
    name: arrays.name as Uint32Array,
    event,
    begin,
    end,
    names: new Set(facts.names as string[]),
    events: new Set(Array.from(event, (number, at) => `${host[at]}.${number}`)),
  };
}

/** Keeps what is loaded for the selection and the search equal to them. */
function followChoices(engine: Engine, fail: Fail): (() => void)[] {
  const { scene } = engine;
  const { state } = scene;
  return [
    followRequest(state.details, 0, fail, () => {
      const event = state.event.value;
      if (!event) state.details.value = null;
      return event ? (signal) => engine.loadDetails(event, signal) : null;
    }),
    followRequest(state.statistics, 0, fail, () => {
      const [box, tab] = [state.box.value, state.tab.value];
      state.statistics.value = null;
      if (!box || tab !== "statistics") return null;
      return (signal) => scene.api.statistics(box, signal);
    }),
    followRequest(state.calls, 0, fail, () => {
      const [box, tab, weight] = [state.box.value, state.tab.value, state.weight.value];
      const choice = { weight, inverted: tab === "callers", base: state.base.value };
      state.calls.value = null;
      if (!box || tab === "statistics") return null;
      return (signal) => scene.api.calls(box, choice, signal);
    }),
    followRequest(state.hits, TYPING_DELAY_MS, fail, () => {
      const [text, regex, longest] = [state.find.value.trim(), state.regex.value, state.longest.value];
      state.hit.value = -1;
      if (!text) state.hits.value = null;
      return text ? async (signal) => hitsOf(await scene.api.search(text, { regex, longest }, signal)) : null;
    }),
    followRequest(state.arrows, MOVING_DELAY_MS, fail, () => {
      const kinds = new Set(state.arrowKinds.value);
      const view = state.view.value ?? scene.capture;
      state.scrollPx.value;
      if (!kinds.size) state.arrows.value = [];
      if (!kinds.size || !scene.isCaptureInView) return null;
      return async (signal) => {
        const lanes = [...scene.visibleBands()].flatMap(([band]) => (band.lane ? [band.lane.key] : []));
        const { arrows } = await scene.api.arrows({ lanes, ...view }, signal);
        return arrows.filter(({ kind }) => kinds.has(kind));
      };
    }),
  ];
}

export interface AddressOptions {
  /** The options in the URL; a signal's value, so that a change is noticed. */
  readonly read: () => Readonly<Record<string, string>>;
  readonly write: (options: Record<string, string>) => void;
}

/** Keeps the address equal to the state, and the state to an address that is gone back to. */
function followAddress({ scene }: Engine, address: AddressOptions): (() => void)[] {
  const { state } = scene;
  let timer: ReturnType<typeof setTimeout>;
  let written = JSON.stringify(address.read());
  return [
    effect(() => {
      const options = writeTimelineView(timelineViewOf(state, scene.capture));
      clearTimeout(timer);
      timer = setTimeout(() => {
        written = JSON.stringify(options);
        address.write(options);
      }, ADDRESS_DELAY_MS);
    }),
    effect(() => {
      const options = address.read();
      const text = JSON.stringify(options);
      if (text === written) return;
      written = text;
      applyTimelineView(state, readTimelineView(options));
    }),
    () => clearTimeout(timer),
  ];
}

/** Moves to the event, or to the first hit, that a link wants to be shown, once it is loaded. */
function followLink(engine: Engine): () => void {
  const { state } = engine.scene;
  return effect(() => {
    const [details, hits] = [state.details.value, state.hits.value];
    if (!state.go.value || !(state.event.value ? details?.event === state.event.value : hits)) return;
    state.go.value = false;
    // What it moves is read by other effects: after this one.
    queueMicrotask(() => (details ? engine.showEvent(details) : walkHits(engine, 1)));
  });
}

/** Does all of this until the returned function is called. */
export function followState(engine: Engine, address: AddressOptions): () => void {
  const fail = (error: unknown) => {
    engine.scene.state.problem.value = error;
  };
  const cleanups = [...followChoices(engine, fail), ...followAddress(engine, address), followLink(engine)];
  return () => {
    for (const cleanup of cleanups) cleanup();
  };
}
