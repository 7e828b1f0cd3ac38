/** The events that a search found, one below the other: when, what and how long; a click goes there. */

import { useEffect, useReducer, useRef, useState } from "preact/hooks";
import { t } from "../../base/messages";
import { lengthLabel, tickLabel } from "../../canvas/ticks";
import type { Engine } from "./engine";
import { showHit } from "./session";
import type { Hits } from "./state";

const ROW_PX = 38;
/** Rows beyond those in view. */
const MORE = 5;

export function HitList({ engine }: { engine: Engine }) {
  const { hits, listed } = engine.scene.state;
  const found = hits.value;
  return listed.value && found?.count ? <Rows engine={engine} found={found} /> : null;
}

function Rows({ engine, found }: { engine: Engine; found: Hits }) {
  const { scene } = engine;
  const chosen = scene.state.hit.value;
  const [top, setTop] = useState(0);
  const [, redraw] = useReducer((times: number) => times + 1, 0);
  const root = useRef<HTMLDivElement>(null);
  const tall = root.current?.clientHeight ?? 800;
  const first = Math.max(0, Math.floor(top / ROW_PX) - MORE);
  const last = Math.min(found.count, Math.ceil((top + tall) / ROW_PX) + MORE);
  useEffect(() => {
    let gone = false;
    const byHost = new Map<string, number[]>();
    for (let at = first; at < last; at++) {
      const host = `${found.host[at]}`;
      byHost.set(host, [...(byHost.get(host) ?? []), found.name[at] as number]);
    }
    const asked = [...byHost].map(([host, names]) => scene.names.ensure(host, Uint32Array.from(names)));
    // Where names do not come, times stand alone.
    Promise.all(asked).then(
      () => gone || redraw(0),
      () => {},
    );
    return () => {
      gone = true;
    };
  }, [found, first, last]);
  useEffect(() => {
    const box = root.current;
    if (!box || chosen < 0) return;
    const at = chosen * ROW_PX;
    if (at < box.scrollTop || at + ROW_PX > box.scrollTop + box.clientHeight) box.scrollTop = at - box.clientHeight / 3;
  }, [chosen]);
  const longest = found.longest;
  return (
    <div
      class="tl-hits"
      ref={root}
      role="listbox"
      tabIndex={0}
      aria-label={t("{count, plural, one {# match} other {# matches}}", { count: found.total })}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <div style={{ height: `${found.count * ROW_PX}px` }}>
        {Array.from({ length: last - first }, (_, place) => {
          const at = first + place;
          const [begin, end] = [found.begin[at] as number, found.end[at] as number];
          return (
            <button
              key={at}
              type="button"
              role="option"
              aria-selected={at === chosen}
              style={{ top: `${at * ROW_PX}px`, height: `${ROW_PX}px` }}
              onClick={() => showHit(engine, at)}
            >
              <span class="tl-hit-name">{scene.names.label(`${found.host[at]}`, found.name[at] as number)}</span>
              <span class="number quiet">{tickLabel(begin, 1000)}</span>
              <span class="number">{lengthLabel(end - begin)}</span>
              <i style={{ width: `${(100 * (end - begin)) / longest}%` }} />
            </button>
          );
        })}
      </div>
    </div>
  );
}
