/** Links to other tools of the same session, and to the events behind a figure on the timeline. */

import { PS_PER_MS } from "../base/format";
import { cutEnd } from "../base/text";
import { DEFAULT_VIEW, type TimelineView, writeTimelineView } from "../base/timelinecodec";
import type { View } from "../base/urlcodec";
import { pageToolOf } from "./pages";
import type { Store } from "./store";

export const TIMELINE = "trace_viewer";
/** Share of a window's length that is shown before and behind it. */
const MARGIN_SHARE = 0.04;

export interface Link {
  readonly label: string;
  readonly href: string;
  readonly go: () => void;
}

type LinkStore = Pick<Store, "tools" | "view" | "go" | "href">;

/** A link to another page; undefined where that has nothing to show for this capture. */
export function linkTo(store: LinkStore, name: string, more: Partial<View> = {}): Link | undefined {
  const tools = store.tools.state.value.value ?? [];
  const tool = tools.find((entry) => entry.name === name);
  if (!tool || tool.unavailable || pageToolOf(tools, name) === pageToolOf(tools, store.view.value.tool))
    return undefined;
  const change = { tool: name, ...more };
  return { label: tool.title, href: store.href(change), go: () => store.go(change) };
}

/** Characters of a name that are searched for: expressions have a limit. */
const LONGEST_NAME = 400;

/** An expression for names that are this one, or begin as it does where it is too long for one. */
export function namePattern(name: string, suffixPattern = ""): string {
  const begin = cutEnd(name, LONGEST_NAME);
  return `^${begin.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}${begin === name ? `${suffixPattern}$` : ""}`;
}

/** An expression for an op's events: those of its name, and those that say to belong to it as `name:type`. */
export function opPattern(op: string): string {
  return namePattern(op, "(:[^:]*)?");
}

/** All events of an op, the longest on a device first. */
export function linkToOpEvents(store: LinkStore, op: string): Link | undefined {
  const find = opPattern(op);
  return op ? linkTo(store, TIMELINE, { options: { find, regex: "1", longest: "1", go: "1" } }) : undefined;
}

function windowPs(beginMs: number, lengthMs: number): readonly [number, number] {
  const margin = lengthMs * MARGIN_SHARE;
  return [(beginMs - margin) * PS_PER_MS, (beginMs + lengthMs + margin) * PS_PER_MS];
}

/** What the Timeline's filter takes for a host, a device or a lane that is called so. */
export const laneFilterFor = (name: string) => (/\s/.test(name) ? `="${name}"` : `=${name}`);

interface TimeTarget {
  readonly beginMs: number;
  readonly lengthMs: number;
  /** Times are since its first event; else since that of the hosts that are shown, by their own clocks. */
  readonly host?: string;
  /** What else is shown. */
  readonly view?: Partial<TimelineView>;
}

export function linkToTime(store: LinkStore, { beginMs, lengthMs, host, view }: TimeTarget): Link | undefined {
  const options = writeTimelineView({ ...DEFAULT_VIEW, ...view, window: windowPs(beginMs, lengthMs) });
  return linkTo(store, TIMELINE, host === undefined ? { options: { ...options, clocks: "raw" } } : { options, host });
}

/** A span of time, in ms since the first event of the session, on some of its hosts, by clocks that are aligned. */
export function linkToTimeOnHosts(
  store: LinkStore,
  beginMs: number,
  lengthMs: number,
  hosts: readonly string[],
): Link | undefined {
  const window = windowPs(beginMs, lengthMs);
  const lanes = hosts.map(laneFilterFor).join("|");
  return linkTo(store, TIMELINE, {
    host: "",
    options: writeTimelineView({ ...DEFAULT_VIEW, window, laneFilter: lanes }),
  });
}

/** One event, by its number among those of a host, by that one's index among the session's. */
export function linkToEvent(store: LinkStore, hostIndex: number, event: number): Link | undefined {
  return linkTo(store, TIMELINE, { options: { event: `${hostIndex}.${event}`, go: "1" } });
}

/** What is recorded of a device, whose name may follow its host's. */
export function linkToDevice(store: LinkStore, host: string, device: string): Link | undefined {
  const lanes = `${laneFilterFor(host)} ${laneFilterFor(device.startsWith(`${host} `) ? device.slice(host.length + 1) : device)}`;
  return linkTo(store, TIMELINE, { options: writeTimelineView({ ...DEFAULT_VIEW, laneFilter: lanes }) });
}

/** All events whose names have the beginning of this one, which may be a kernel's short name, the longest first. */
export function linkToSimilarEvents(store: LinkStore, name: string): Link | undefined {
  const find = name.split(/[<(…]/)[0]?.trim();
  return find ? linkTo(store, TIMELINE, { options: { find, longest: "1", go: "1" } }) : undefined;
}
