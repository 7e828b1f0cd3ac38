/** Where an event comes from: the line, the module, what launched it, and the Python around it. */

import { type EventDetails, TimelineApi } from "../../api/timeline";
import { joinNames, t } from "../../base/messages";
import type { Slab } from "../../base/slab";
import { encodeAddressPart } from "../../base/text";
import { lengthLabel } from "../../canvas/timeaxis";
import { linkTo, linkToEvent, opPattern, TIMELINE } from "../../state/links";
import type { Store } from "../../state/store";
import { Code } from "../../view/textparts";
import { useResource } from "../../view/useresource";
import { ViewLink } from "../../view/viewlink";

const MOST_LINKS = 6;
const MOST_LANES = 3;

/** An event by its number in a host's trace. */
export interface HostEvent {
  readonly host: string;
  readonly event: number;
}

/** An event, or the longest one of an op, on a device if there is one. */
type EventOrOp = HostEvent | { readonly op: string };

/** The details of the longest event that an expression finds. */
async function loadLongest(api: TimelineApi, find: string, signal: AbortSignal): Promise<EventDetails | null> {
  const longest = longestPerLane(await api.search(find, { regex: true, longest: true }, signal));
  let first: EventDetails | null = null;
  for (const number of longest) {
    const details = await api.event(number, signal);
    // Lanes that are derived from others have events without callers.
    if (details.line || details.module) return details;
    first ??= details;
  }
  return first;
}

/** The first events on each of some lanes, which are the longest there. */
export function longestPerLane({ arrays: { host, lane, event } }: Slab): string[] {
  const longest = new Map<string, string>();
  for (let index = 0; index < (event?.length ?? 0) && longest.size < MOST_LANES; index++) {
    const key = `${host?.[index]}.${lane?.[index]}`;
    if (!longest.has(key)) longest.set(key, `${host?.[index]}.${event?.[index]}`);
  }
  return [...longest.values()];
}

function useDetails(store: Store, source: EventOrOp) {
  const { run } = store.view.value;
  const hosts = store.session.value?.hosts ?? [];
  const host = "host" in source ? source.host : store.host.value;
  const event = "host" in source ? `${hosts.indexOf(source.host)}.${source.event}` : null;
  const find = "op" in source ? opPattern(source.op) : "";
  return useResource<EventDetails | null>(
    (signal) => {
      const api = new TimelineApi(run, host);
      return event ? api.event(event, signal) : loadLongest(api, find, signal);
    },
    [run, host, event, find],
  );
}

/** The address by which an editor on this machine opens a line; empty where the file has no whole path. */
export function editorAddress(line: string): string {
  const [, path = "", number] = /^((?:\/|[A-Za-z]:[\\/]).*):(\d+)(?: |$)/.exec(line) ?? [];
  const parts = path.split(/[\\/]/).filter(Boolean);
  return number ? `vscode://file/${parts.map(encodeAddressPart).join("/")}:${number}` : "";
}

export function SourceLine({ line }: { line: string }) {
  const editor = editorAddress(line);
  return (
    <>
      <Code text={line} />
      {editor && <a href={editor}>{t("Open in VS Code")}</a>}
    </>
  );
}

/** A link to the event `host.event`, as the timeline's routes number it. */
function linkByNumber(store: Store, number: string) {
  const [host, event] = number.split(".").map(Number);
  return linkToEvent(store, host ?? 0, event ?? 0);
}

/** What led to the event, and what it led to. */
function LinkedEvents({ store, details }: { store: Store; details: EventDetails }) {
  const links = details.arrows.slice(0, MOST_LINKS).flatMap(({ kind, source, target }) => {
    const [other, direction] = source.event === details.event ? [target, t("leads to")] : [source, t("comes from")];
    const link = linkByNumber(store, other.event);
    return link ? [{ ...link, label: other.name, relation: joinNames([direction, kind]) }] : [];
  });
  return (
    <>
      {links.map(({ relation, ...link }) => (
        <div key={link.href}>
          <dt>{relation}</dt>
          <dd>
            <ViewLink {...link} />
          </dd>
        </div>
      ))}
    </>
  );
}

interface OriginProps {
  readonly store: Store;
  readonly source: EventOrOp;
}

/** Nothing where no event is found, and in a report, which has no timeline. */
export function Origin(props: OriginProps) {
  return linkTo(props.store, TIMELINE) ? <OriginOnTimeline {...props} /> : null;
}

function OriginOnTimeline({ store, source }: OriginProps) {
  const { value: details, loading, problem } = useDetails(store, source);
  if (problem) return null;
  if (!details) return loading ? <p class="quiet waiting">{t("Looking for its event …")}</p> : null;
  const link = linkByNumber(store, details.event);
  const length = details.end > details.begin ? lengthLabel(details.end - details.begin) : t("one moment");
  const { line, module, frames } = details;
  return (
    <section class="origin">
      <h3>{"op" in source ? t("Longest event") : t("Event")}</h3>
      <dl>
        {link && (
          <div>
            <dt>{details.lane_name}</dt>
            <dd>
              <ViewLink
                {...link}
                label={details.step ? t("{length}, in {step}", { length, step: details.step }) : length}
              />
            </dd>
          </div>
        )}
        {line && (
          <div>
            <dt>{t("called from")}</dt>
            <dd>
              <SourceLine line={line} />
            </dd>
          </div>
        )}
        {module && (
          <div>
            <dt>{t("module")}</dt>
            <dd>{module.replaceAll("/", " / ")}</dd>
          </div>
        )}
        <LinkedEvents store={store} details={details} />
      </dl>
      {frames.length > 1 && (
        <details>
          <summary>{t("Python around it, {count} frames", { count: frames.length })}</summary>
          <Code text={frames.join("\n")} />
        </details>
      )}
    </section>
  );
}
