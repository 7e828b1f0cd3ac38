/** The events that a search found, one below the other: when, what and how long; a click goes there. */

import { useEffect, useRef, useState } from "preact/hooks";
import { groupBy } from "../../base/group";
import { t } from "../../base/messages";
import { lengthLabel, tickLabel } from "../../canvas/timeaxis";
import { useRedraw } from "../../view/useredraw";
import type { Engine } from "./engine";
import { showHit } from "./navigation";
import type { Hits } from "./state";

const ROW_PX = 38;
/** Rows beyond those in view. */
const OVERSCAN_ROWS = 5;

export function HitList({ engine }: { engine: Engine }) {
  const { hits, listed } = engine.scene.state;
  const shownHits = hits.value;
  return listed.value && shownHits?.count ? <HitRows engine={engine} hits={shownHits} /> : null;
}

function HitRows({ engine, hits }: { engine: Engine; hits: Hits }) {
  const { scene } = engine;
  const selectedHit = scene.state.hit.value;
  const [scrollTopPx, setScrollTopPx] = useState(0);
  const redraw = useRedraw();
  const root = useRef<HTMLDivElement>(null);
  const heightPx = root.current?.clientHeight ?? 800;
  const first = Math.max(0, Math.floor(scrollTopPx / ROW_PX) - OVERSCAN_ROWS);
  const last = Math.min(hits.count, Math.ceil((scrollTopPx + heightPx) / ROW_PX) + OVERSCAN_ROWS);
  useEffect(() => {
    let isUnmounted = false;
    const visible = Array.from({ length: last - first }, (_, index) => first + index);
    const byHost = groupBy(visible, (index) => `${hits.host[index]}`);
    const requests = [...byHost].map(([host, indices]) =>
      scene.names.load(
        host,
        Uint32Array.from(indices, (index) => hits.name[index] as number),
      ),
    );
    // Where names do not come, times stand alone.
    Promise.all(requests).then(
      () => isUnmounted || redraw(),
      () => {},
    );
    return () => {
      isUnmounted = true;
    };
  }, [hits, first, last]);
  useEffect(() => {
    const box = root.current;
    if (!box || selectedHit < 0) return;
    const at = selectedHit * ROW_PX;
    if (at < box.scrollTop || at + ROW_PX > box.scrollTop + box.clientHeight) box.scrollTop = at - box.clientHeight / 3;
  }, [selectedHit]);
  const longest = hits.longest;
  return (
    <div
      class="tl-hits"
      ref={root}
      role="listbox"
      tabIndex={0}
      aria-label={t("{count, plural, one {# match} other {# matches}}", { count: hits.total })}
      onScroll={(event) => setScrollTopPx(event.currentTarget.scrollTop)}
    >
      <div style={{ height: `${hits.count * ROW_PX}px` }}>
        {Array.from({ length: last - first }, (_, place) => {
          const at = first + place;
          const [begin, end] = [hits.begin[at] as number, hits.end[at] as number];
          return (
            <button
              key={at}
              type="button"
              role="option"
              aria-selected={at === selectedHit}
              style={{ top: `${at * ROW_PX}px`, height: `${ROW_PX}px` }}
              onClick={() => showHit(engine, at)}
            >
              <span class="cut tl-hit-name">{scene.names.label(`${hits.host[at]}`, hits.name[at] as number)}</span>
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
