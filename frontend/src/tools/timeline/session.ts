/** What the page does when the state changes: asks for details, statistics, hits and arrows, and writes the URL. */

import { batch, effect } from "@preact/signals";
import type { TimelineApi } from "../../api/timeline";
import type { Slab } from "../../base/slab";
import { readTimelineView, writeTimelineView } from "../../base/timecodec";
import type { Engine } from "./engine";
import { applyPlace, type Hits, placeOf } from "./state";

const URL_DELAY_MS = 300;
/** Begin of the ids of lanes that tell why devices are idle. */
const DERIVED = "why.";
const TYPING_MS = 200;
const SETTLED_MS = 150;

/** Runs a request anew whenever what it depends on changes; only the newest answer counts. */
function follow(
  delay: number,
  ask: (signal: AbortSignal) => (() => Promise<void>) | null | false,
  fail: (error: unknown) => void,
) {
  let controller = new AbortController();
  let timer: ReturnType<typeof setTimeout>;
  const stop = effect(() => {
    controller.abort();
    clearTimeout(timer);
    controller = new AbortController();
    const { signal } = controller;
    const run = ask(signal);
    if (!run) return;
    const start = () => run().catch((error: unknown) => !signal.aborted && fail(error));
    if (delay) timer = setTimeout(start, delay);
    else void start();
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

export interface Address {
  /** The options in the URL; a signal's value, so that a change is noticed. */
  readonly read: () => Readonly<Record<string, string>>;
  readonly write: (options: Record<string, string>) => void;
}

export function followState(engine: Engine, api: TimelineApi, address: Address): () => void {
  const { scene } = engine;
  const { state } = scene;
  const fail = (error: unknown) => {
    state.problem.value = error;
  };
  const stops = [
    follow(
      0,
      (signal) => {
        const event = state.event.value;
        if (!event) state.details.value = null;
        return event
          ? async () => {
              const found = await api.event(event, signal);
              if (!signal.aborted) state.details.value = found;
            }
          : null;
      },
      fail,
    ),
    follow(
      0,
      (signal) => {
        const area = state.area.value;
        const shown = state.tab.value === "statistics";
        state.statistics.value = null;
        return (
          area &&
          shown &&
          (async () => {
            const found = await api.statistics(area.lanes.join(","), area.begin, area.end, signal);
            if (!signal.aborted) state.statistics.value = found;
          })
        );
      },
      fail,
    ),
    follow(
      0,
      (signal) => {
        const [area, tab, weight] = [state.area.value, state.tab.value, state.weight.value];
        const choice = { weight, inverted: tab === "callers", base: state.base.value };
        state.calls.value = null;
        return (
          area &&
          tab !== "statistics" &&
          (async () => {
            const { lanes, begin, end } = area;
            const found = await api.calls(lanes.join(","), begin, end, choice, signal);
            if (!signal.aborted) state.calls.value = found;
          })
        );
      },
      fail,
    ),
    follow(
      TYPING_MS,
      (signal) => {
        const [text, regex, longest] = [state.find.value.trim(), state.regex.value, state.longest.value];
        state.hit.value = -1;
        if (!text) state.hits.value = null;
        return text
          ? async () => {
              const slab = await api.search(text, regex, longest, signal);
              if (!signal.aborted) state.hits.value = hitsOf(slab);
            }
          : null;
      },
      fail,
    ),
    follow(
      SETTLED_MS,
      (signal) => {
        const kinds = new Set(state.arrowKinds.value);
        const view = state.view.value ?? scene.whole;
        state.scroll.value;
        if (!kinds.size) state.arrows.value = [];
        return kinds.size && scene.inSight
          ? async () => {
              const keys = [...scene.shown()].flatMap(([band]) => (band.lane ? [band.lane.key] : []));
              const { arrows } = await api.arrows(keys.join(","), view.begin, view.end, signal);
              if (!signal.aborted) state.arrows.value = arrows.filter(({ kind }) => kinds.has(kind));
            }
          : null;
      },
      fail,
    ),
  ];
  let timer: ReturnType<typeof setTimeout>;
  let written = JSON.stringify(address.read());
  stops.push(
    effect(() => {
      const options = writeTimelineView(placeOf(state, scene.whole));
      clearTimeout(timer);
      timer = setTimeout(() => {
        written = JSON.stringify(options);
        address.write(options);
      }, URL_DELAY_MS);
    }),
    effect(() => {
      const [details, hits] = [state.details.value, state.hits.value];
      if (!state.go.value || !(state.event.value ? details?.event === state.event.value : hits)) return;
      state.go.value = false;
      // What it moves is read by other effects: after this one.
      queueMicrotask(() => (details ? engine.show(details) : walkHits(engine, 1)));
    }),
    effect(() => {
      const options = address.read();
      const text = JSON.stringify(options);
      if (text === written) return;
      written = text;
      applyPlace(state, readTimelineView(options));
    }),
    () => clearTimeout(timer),
  );
  return () => {
    for (const stop of stops) stop();
  };
}

/** Goes to the next or the previous hit, beginning at what is in view, or at the longest where they are by length. */
export function walkHits(engine: Engine, step: 1 | -1): void {
  const { scene } = engine;
  const { hits, hit } = scene.state;
  const found = hits.peek();
  if (!found?.count) return;
  let place = hit.peek() + step;
  if (hit.peek() < 0) {
    const ahead = found.begin.findIndex((begin) => begin >= scene.view.begin);
    place = scene.state.longest.peek() ? 0 : Math.max(ahead, 0);
  }
  showHit(engine, (place + found.count) % found.count);
}

/** Goes to a hit. */
export function showHit(engine: Engine, place: number): void {
  const { hits, hit } = engine.scene.state;
  const found = hits.peek();
  if (!found) return;
  hit.value = place;
  const host = found.host[place] as number;
  engine.show({
    event: `${host}.${found.event[place]}`,
    lane: `${host}.${found.lane[place]}`,
    row: found.row[place] as number,
    name: "",
    begin: found.begin[place] as number,
    end: found.end[place] as number,
  });
}

/** Selects the gap after or before a gap that is selected; of an event, where its next arrow leads to or comes from. */
export function followArrow(engine: Engine, step: 1 | -1): void {
  const { details, event, go } = engine.scene.state;
  const chosen = details.peek();
  if (chosen?.gap) {
    const next = step > 0 ? chosen.gap.after : chosen.gap.before;
    if (!next) return;
    batch(() => {
      event.value = next;
      go.value = true;
    });
  } else {
    const ends = (chosen?.arrows ?? []).flatMap(({ source, target }) => {
      const [here, there] = step > 0 ? [source, target] : [target, source];
      return here.event === chosen?.event ? [there] : [];
    });
    const first = ends.sort((a, b) => a.begin - b.begin)[0];
    if (first) engine.show(first);
  }
}

/** Selects the first event that begins in view, on the topmost lane of what was recorded that has one. */
export function selectFirst(engine: Engine): void {
  const { scene } = engine;
  for (const [band] of scene.shown()) {
    const laneSlices = band.lane && scene.loader.slicesByLane.get(band.lane.key);
    if (!band.lane || !laneSlices || band.lane.id.startsWith(DERIVED)) continue;
    for (let at = 0; at < (laneSlices.rowStart[1] ?? laneSlices.count); at++) {
      const begin = laneSlices.originPs + (laneSlices.begin[at] as number) * laneSlices.psPerUnit;
      if (begin < scene.view.begin || begin > scene.view.end) continue;
      const end = begin + (laneSlices.width[at] as number) * laneSlices.psPerUnit;
      engine.show({
        event: `${laneSlices.host}.${laneSlices.event[at]}`,
        lane: band.lane.key,
        row: 0,
        name: "",
        begin,
        end,
      });
      return;
    }
  }
}

/** Selects the event before or after the selected one on its row. */
export function selectNeighbour(engine: Engine, step: 1 | -1): void {
  const { scene } = engine;
  const details = scene.state.details.peek();
  const laneSlices = details && scene.loader.slicesByLane.get(details.lane);
  if (!details || !laneSlices) return;
  const [first, last] = [
    laneSlices.rowStart[details.row] ?? 0,
    laneSlices.rowStart[details.row + 1] ?? laneSlices.count,
  ];
  const number = Number(details.event.split(".")[1]);
  const at = laneSlices.event.subarray(first, last).indexOf(number) + first + step;
  if (at < first || at >= last) return;
  const begin = laneSlices.originPs + (laneSlices.begin[at] as number) * laneSlices.psPerUnit;
  const end = begin + (laneSlices.width[at] as number) * laneSlices.psPerUnit;
  const { lane, row } = details;
  engine.show({ event: `${laneSlices.host}.${laneSlices.event[at]}`, lane, row, name: "", begin, end });
}
