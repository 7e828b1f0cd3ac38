/** Links to other tools of the same session, and to the events behind a figure on the timeline. */

import { beginning } from "../base/text";
import { NOWHERE, type Place, writePlace } from "../base/timecodec";
import type { View } from "../base/urlcodec";
import { pageOf } from "./pages";
import type { Store } from "./store";

export const TIMELINE = "trace_viewer";
const PS_PER_MS = 1e9;
/** Share of a window's length that is shown before and behind it. */
const MARGIN = 0.04;

export interface Link {
  readonly label: string;
  readonly href: string;
  readonly go: () => void;
}

type Linking = Pick<Store, "tools" | "view" | "go" | "href">;

/** A link to another page; undefined where that has nothing to show for this capture. */
export function linkTo(store: Linking, name: string, more: Partial<View> = {}): Link | undefined {
  const tools = store.tools.state.value.value ?? [];
  const tool = tools.find((entry) => entry.name === name);
  if (!tool || tool.unavailable || pageOf(tools, name) === pageOf(tools, store.view.value.tool)) return undefined;
  const change = { tool: name, ...more };
  return { label: tool.title, href: store.href(change), go: () => store.go(change) };
}

/** Characters of a name that are searched for: expressions have a limit. */
const NAME = 400;

/** An expression for names that are this one, or begin as it does where it is too long for one. */
export function named(name: string, more = ""): string {
  const begin = beginning(name, NAME);
  return `^${begin.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}${begin === name ? `${more}$` : ""}`;
}

/** An expression for an op's events: those of its name, and those that say to belong to it as `name:type`. */
export function patternOf(op: string): string {
  return named(op, "(:[^:]*)?");
}

/** All events of an op, the longest on a device first. */
export function eventsOf(store: Linking, op: string): Link | undefined {
  const find = patternOf(op);
  return op ? linkTo(store, TIMELINE, { options: { find, regex: "1", longest: "1", go: "1" } }) : undefined;
}

function windowOf(begin: number, length: number): readonly [number, number] {
  const margin = length * MARGIN;
  return [(begin - margin) * PS_PER_MS, (begin + length + margin) * PS_PER_MS];
}

/** What the Timeline's filter takes for a host, a device or a lane that is called so. */
export const wholeName = (name: string) => (/\s/.test(name) ? `="${name}"` : `=${name}`);

/** A span of time, in ms since the first event of the hosts that are shown, by their own clocks, or of `host`. */
export function eventsDuring(
  store: Linking,
  begin: number,
  length: number,
  host?: string,
  more: Partial<Place> = {},
): Link | undefined {
  const options = writePlace({ ...NOWHERE, ...more, window: windowOf(begin, length) });
  return linkTo(store, TIMELINE, host === undefined ? { options: { ...options, clocks: "raw" } } : { options, host });
}

/** A span of time, in ms since the first event of the session, on some of its hosts, by clocks that are aligned. */
export function eventsAcross(
  store: Linking,
  begin: number,
  length: number,
  hosts: readonly string[],
): Link | undefined {
  const window = windowOf(begin, length);
  const lanes = hosts.map(wholeName).join("|");
  return linkTo(store, TIMELINE, { host: "", options: writePlace({ ...NOWHERE, window, lanes }) });
}

/** One event, by its number among those of the session's host at `place`. */
export function theEvent(store: Linking, place: number, event: number): Link | undefined {
  return linkTo(store, TIMELINE, { options: { event: `${place}.${event}`, go: "1" } });
}

/** What is recorded of a device, whose name may follow its host's. */
export function deviceLanes(store: Linking, host: string, device: string): Link | undefined {
  const lanes = `${wholeName(host)} ${wholeName(device.startsWith(`${host} `) ? device.slice(host.length + 1) : device)}`;
  return linkTo(store, TIMELINE, { options: writePlace({ ...NOWHERE, lanes }) });
}

/** All events whose names have the beginning of this one, which may be a kernel's short name, the longest first. */
export function eventsLike(store: Linking, name: string): Link | undefined {
  const find = name.split(/[<(…]/)[0]?.trim();
  return find ? linkTo(store, TIMELINE, { options: { find, longest: "1", go: "1" } }) : undefined;
}
