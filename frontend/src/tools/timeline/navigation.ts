/** What is selected: ways from event to event by hits, arrows, gaps and rows, and what is done with a selection. */

import { batch } from "@preact/signals";
import type { TimeRange } from "../../api/timeline";
import { cutEnd } from "../../base/text";
import type { Engine } from "./engine";
import type { Scene } from "./scene";
import { eventPlaceOf } from "./sliceloader";

/** Begin of the ids of lanes that tell why devices are idle. */
const IDLE_LANE_PREFIX = "why.";

/** Goes to the next or the previous hit, beginning at what is in view, or at the longest where they are by length. */
export function walkHits(engine: Engine, direction: 1 | -1): void {
  const { scene } = engine;
  const { hits, hit } = scene.state;
  const all = hits.peek();
  if (!all?.count) return;
  let index = hit.peek() + direction;
  if (hit.peek() < 0) {
    const firstInView = all.begin.findIndex((begin) => begin >= scene.view.begin);
    index = scene.state.longest.peek() ? 0 : Math.max(firstInView, 0);
  }
  showHit(engine, (index + all.count) % all.count);
}

export function showHit(engine: Engine, index: number): void {
  const { hits, hit } = engine.scene.state;
  const all = hits.peek();
  if (!all) return;
  hit.value = index;
  const host = all.host[index] as number;
  engine.showEvent({
    event: `${host}.${all.event[index]}`,
    lane: `${host}.${all.lane[index]}`,
    row: all.row[index] as number,
    name: "",
    begin: all.begin[index] as number,
    end: all.end[index] as number,
  });
}

/** Selects the gap after or before a gap that is selected; of an event, where its next arrow leads to or comes from. */
export function selectGapOrArrowEnd(engine: Engine, direction: 1 | -1): void {
  const { details, event, go } = engine.scene.state;
  const selected = details.peek();
  if (selected?.gap) {
    const next = direction > 0 ? selected.gap.after : selected.gap.before;
    if (!next) return;
    batch(() => {
      event.value = next;
      go.value = true;
    });
    return;
  }
  const ends = (selected?.arrows ?? []).flatMap(({ source, target }) => {
    const [here, there] = direction > 0 ? [source, target] : [target, source];
    return here.event === selected?.event ? [there] : [];
  });
  const first = ends.sort((a, b) => a.begin - b.begin)[0];
  if (first) engine.showEvent(first);
}

/** Selects the first event that begins in view, on the topmost lane of what was recorded that has one. */
export function selectFirstInView(engine: Engine): void {
  const { scene } = engine;
  for (const [{ lane }] of scene.visibleBands()) {
    const laneSlices = lane && scene.loader.slicesByLane.get(lane.key);
    if (!lane || !laneSlices || lane.id.startsWith(IDLE_LANE_PREFIX)) continue;
    for (let index = 0; index < (laneSlices.rowStart[1] ?? laneSlices.count); index++) {
      const place = eventPlaceOf(laneSlices, index, lane.key, 0);
      if (place.begin < scene.view.begin || place.begin > scene.view.end) continue;
      engine.showEvent(place);
      return;
    }
  }
}

/** Selects the event before or after the selected one on its row. */
export function selectNeighbour(engine: Engine, direction: 1 | -1): void {
  const { state, loader } = engine.scene;
  const details = state.details.peek();
  const laneSlices = details && loader.slicesByLane.get(details.lane);
  if (!details || !laneSlices) return;
  const { lane, row } = details;
  const [first, end] = [laneSlices.rowStart[row] ?? 0, laneSlices.rowStart[row + 1] ?? laneSlices.count];
  const number = Number(details.event.split(".")[1]);
  const index = laneSlices.event.subarray(first, end).indexOf(number) + first + direction;
  if (index >= first && index < end) engine.showEvent(eventPlaceOf(laneSlices, index, lane, row));
}

function selectedTime({ state }: Scene): TimeRange | null {
  return state.box.peek() ?? state.details.peek();
}

export function zoomToSelection(engine: Engine): void {
  const time = selectedTime(engine.scene);
  if (time) engine.zoomTo(time);
}

export function markSelection(scene: Scene): void {
  const time = selectedTime(scene);
  if (!time) return;
  const { box, details, marks } = scene.state;
  const name = box.peek() ? "" : cutEnd(details.peek()?.name ?? "", 40);
  marks.value = [...marks.peek(), { begin: time.begin, end: time.end, name }];
}

export function clearSelection({ state }: Scene): void {
  state.event.value = "";
  state.box.value = null;
}

/** Searches for all events of a name. */
export function findName({ state }: Scene, name: string): void {
  state.regex.value = false;
  state.find.value = name;
}
