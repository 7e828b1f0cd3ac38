/** Below the timeline: the selected event, the statistics of a selection, the marks. */

import type { Arrow, EventDetails } from "../../api/timeline";
import { t } from "../../base/messages";
import { displayName } from "../../base/parts";
import { lengthLabel, tickLabel } from "../../canvas/timeaxis";
import type { Link } from "../../state/links";
import { BoxDetails } from "./boxdetails";
import type { Engine } from "./engine";
import { GapCard } from "./gapcard";
import { clearSelection, findName, markSelection, selectGapOrArrowEnd, zoomToSelection } from "./navigation";

interface DetailsProps {
  readonly engine: Engine;
  /** Other tools that show an op, by title. */
  readonly linksToTools: (op: string) => readonly Link[];
}

function ArrowList({ details, engine }: { details: EventDetails; engine: Engine }) {
  if (!details.arrows.length) return null;
  const leadsAway = (arrow: Arrow) => arrow.source.event === details.event;
  return (
    <div class="tl-links">
      <h3>{t("Links")}</h3>
      <ul>
        {details.arrows.map((arrow) => {
          const other = leadsAway(arrow) ? arrow.target : arrow.source;
          const distancePs = arrow.target.begin - (leadsAway(arrow) ? details.begin : arrow.source.begin);
          return (
            <li key={`${arrow.kind} ${arrow.source.event} ${arrow.target.event}`}>
              <span class="quiet">{leadsAway(arrow) ? t("leads to") : t("comes from")}</span>{" "}
              <button type="button" class="bare cut tl-link" onClick={() => engine.showEvent(other)} title={other.name}>
                {displayName(other.name)}
              </button>{" "}
              <span class="quiet">
                {distancePs >= 0
                  ? t("{kind}, {time} later from start to start", { kind: arrow.kind, time: lengthLabel(distancePs) })
                  : t("{kind}, {time} before from start to start", {
                      kind: arrow.kind,
                      time: lengthLabel(-distancePs),
                    })}
              </span>
            </li>
          );
        })}
      </ul>
    </div>
  );
}

function EventCard({ details, engine, linksToTools }: DetailsProps & { details: EventDetails }) {
  const facts: readonly (readonly [string, string])[] = [
    [t("Start"), tickLabel(details.begin, 1000)],
    [t("Duration"), lengthLabel(details.end - details.begin)],
    [t("Self"), lengthLabel(details.own)],
    [t("Lane"), details.lane_name],
    [t("Step"), details.step],
    [t("Op"), details.op ?? ""],
    [t("Source"), details.source],
  ];
  const args = Object.entries(details.args);
  return (
    <div class="tl-event">
      <div>
        {details.gap ? (
          <GapCard gap={details.gap} goToGap={(step) => selectGapOrArrowEnd(engine, step)} />
        ) : (
          <h3 aria-live="polite">{displayName(details.name)}</h3>
        )}
        {details.full_name !== details.name && <p class="tl-full">{details.full_name}</p>}
        <dl class="tl-facts">
          {facts
            .filter(([, text]) => text)
            .map(([label, text]) => (
              <div key={label}>
                <dt>{label}</dt>
                <dd>{text}</dd>
              </div>
            ))}
        </dl>
        <p class="tl-buttons">
          <button
            type="button"
            class="button"
            onClick={() => zoomToSelection(engine)}
            data-tip={t("Zoom to it. Key: F")}
          >
            {t("Zoom to")}
          </button>
          <button
            type="button"
            class="button"
            onClick={() => markSelection(engine.scene)}
            data-tip={t("Mark its time. Key: M")}
          >
            {t("Mark")}
          </button>
          <button type="button" class="button" onClick={() => findName(engine.scene, details.name)}>
            {t("Find all of this name")}
          </button>
          {linksToTools(details.op ?? "").map(({ label, href, go }) => (
            <a
              key={label}
              class="button"
              href={href}
              target="_top"
              onClick={(event) => {
                event.preventDefault();
                go();
              }}
            >
              {label}
            </a>
          ))}
        </p>
        <ArrowList details={details} engine={engine} />
      </div>
      <div class="tl-args">
        <h3>{t("Stats")}</h3>
        {args.length === 0 && <p class="quiet">{t("This event has none.")}</p>}
        <table>
          <tbody>
            {args.map(([key, value]) => (
              <tr key={key}>
                <th scope="row">{key}</th>
                <td>{String(value)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function MarkList({ engine }: { engine: Engine }) {
  const { marks } = engine.scene.state;
  const change = (place: number, name: string | null) => {
    const next = [...marks.peek()];
    const mark = next[place];
    if (mark && name !== null) next[place] = { ...mark, name };
    else next.splice(place, 1);
    marks.value = next;
  };
  return (
    <ul class="tl-marks">
      {marks.value.map((mark, place) => (
        <li key={`${mark.begin} ${mark.end}`}>
          <button type="button" class="bare cut tl-link number" onClick={() => engine.zoomTo(mark)}>
            {lengthLabel(mark.end - mark.begin)}
          </button>
          <input
            type="text"
            placeholder={t("name")}
            aria-label={t("Name of the mark")}
            value={mark.name}
            onChange={(event) => change(place, event.currentTarget.value)}
          />
          <button type="button" class="button" aria-label={t("Remove the mark")} onClick={() => change(place, null)}>
            ×
          </button>
        </li>
      ))}
    </ul>
  );
}

export function Details({ engine, linksToTools }: DetailsProps) {
  const { scene } = engine;
  const { details, marks, event, box } = scene.state;
  const selectedEvent = event.value ? details.value : null;
  const selectedBox = box.value;
  if (!selectedEvent && !selectedBox && !marks.value.length) return null;
  return (
    <section class="tl-details" aria-label={t("Details")}>
      {(selectedEvent || selectedBox) && (
        <button
          type="button"
          class="button tl-close"
          aria-label={t("Close the details")}
          onClick={() => clearSelection(scene)}
        >
          ×
        </button>
      )}
      {marks.value.length > 0 && <MarkList engine={engine} />}
      {selectedEvent && !selectedBox && (
        <EventCard engine={engine} details={selectedEvent} linksToTools={linksToTools} />
      )}
      {selectedBox && <BoxDetails scene={scene} box={selectedBox} />}
    </section>
  );
}
