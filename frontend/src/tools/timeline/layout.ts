/** Which lane stands where: sections, lanes, folded ones, pinned ones. Heights are CSS pixels. */

import type { LaneEntry, Lanes, SectionEntry } from "../../api/timeline";
import { firstIndex } from "../../base/bisect";

export const ROW_PX = 17;
export const SECTION_PX = 26;
const PADDING_PX = 3;
const COUNTER_PX = 36;
const LEAST_MINI_ROW_PX = 3;

export interface Band {
  readonly kind: "section" | "lane";
  /** Identity for folding, pinning and links. */
  readonly id: string;
  readonly title: string;
  readonly top: number;
  readonly height: number;
  readonly section: SectionEntry;
  readonly lane: LaneEntry | null;
  readonly folded: boolean;
  readonly pinned: boolean;
  /** Rows that are shown. */
  readonly rows: number;
  readonly rowHeight: number;
}

export interface Layout {
  readonly pinned: readonly Band[];
  readonly bands: readonly Band[];
  readonly pinnedHeight: number;
  readonly height: number;
  readonly bandByLaneKey: ReadonlyMap<string, Band>;
}

export const sectionId = (section: SectionEntry) => `${section.host}:${section.name}`;
export const laneId = (section: SectionEntry, lane: LaneEntry) => `${section.host}:${lane.id}`;

function laneBand(
  section: SectionEntry,
  lane: LaneEntry,
  { top, folded, pinned }: Pick<Band, "top" | "folded" | "pinned">,
): Band {
  const rows = folded ? 1 : lane.rows;
  const height = (lane.kind === "counter" ? (folded ? ROW_PX : COUNTER_PX) : rows * ROW_PX) + PADDING_PX;
  const id = laneId(section, lane);
  const title = pinned ? `${lane.name} (${section.name})` : lane.name;
  return { kind: "lane", id, title, top, height, section, lane, folded, pinned, rows, rowHeight: ROW_PX };
}

function sectionBand(section: SectionEntry, top: number, folded: boolean, hosts: number): Band {
  const title = hosts > 1 ? `${section.host} ${section.name}` : section.name;
  const miniRowCount = section.lanes.filter(({ kind }) => kind !== "counter").length;
  const miniRowPx = Math.max(LEAST_MINI_ROW_PX, Math.floor((SECTION_PX - 6) / Math.max(1, miniRowCount)));
  const id = sectionId(section);
  return {
    kind: "section",
    id,
    title,
    top,
    height: SECTION_PX,
    section,
    lane: null,
    folded,
    pinned: false,
    rows: 1,
    rowHeight: Math.min(miniRowPx, SECTION_PX - 6),
  };
}

/** Lanes that a folded section draws in small, as many as there is room for. */
export function summaryLanes(band: Band): readonly LaneEntry[] {
  return band.section.lanes
    .filter(({ kind }) => kind !== "counter")
    .slice(0, Math.floor((SECTION_PX - 6) / band.rowHeight));
}

/** Whether all words are in a lane's names; `a|b` is one of two words, `=a` or `="a b"` a whole name, also of its host. */
function matchesFilter(section: SectionEntry, lane: LaneEntry, filter: string): boolean {
  const device = section.name.replace("/device:", "");
  const names = [section.host, section.name, device, lane.name, lane.detail].map((name) => name.toLowerCase());
  const text = names.join(" ");
  const has = (word: string) =>
    word.startsWith("=") ? names.includes(word.slice(1).replaceAll('"', "")) : text.includes(word);
  const words = filter.toLowerCase().match(/("[^"]*"|\S)+/g) ?? [];
  return words.every((choices) => choices.split("|").some(has));
}

/** What was chosen about lanes; ids of lanes and sections. */
export interface LaneChoices {
  /** Not as they are at first: folded or unfolded. */
  readonly folds: ReadonlySet<string>;
  readonly pins: readonly string[];
  readonly hidden: ReadonlySet<string>;
  /** Words that the names of all shown lanes contain. */
  readonly filter: string;
}

export function arrangeBands(lanes: Lanes, choices: LaneChoices): Layout {
  const { folds, pins, hidden, filter } = choices;
  const hosts = new Set(lanes.sections.map(({ host }) => host)).size;
  const bands: Band[] = [];
  const byId = new Map<string, readonly [SectionEntry, LaneEntry]>();
  const bandByLaneKey = new Map<string, Band>();
  let top = 0;
  const add = (band: Band) => {
    bands.push(band);
    top += band.height;
    return band;
  };
  for (const section of lanes.sections) {
    for (const lane of section.lanes) byId.set(laneId(section, lane), [section, lane]);
    if (hidden.has(sectionId(section))) continue;
    const visibleLanes = section.lanes.filter(
      (lane) => !hidden.has(laneId(section, lane)) && matchesFilter(section, lane, filter),
    );
    if (!visibleLanes.length) continue;
    const folded = folds.has(sectionId(section)) !== section.folded;
    const head = add(sectionBand(section, top, folded, hosts));
    for (const lane of visibleLanes) {
      if (folded) bandByLaneKey.set(lane.key, head);
      else
        bandByLaneKey.set(
          lane.key,
          add(laneBand(section, lane, { top, folded: folds.has(laneId(section, lane)), pinned: false })),
        );
    }
  }
  const pinned: Band[] = [];
  let pinnedHeight = 0;
  for (const id of pins) {
    const entry = byId.get(id);
    if (!entry) continue;
    const band = laneBand(...entry, { top: pinnedHeight, folded: folds.has(id), pinned: true });
    pinned.push(band);
    bandByLaneKey.set(entry[1].key, band);
    pinnedHeight += band.height;
  }
  return { pinned, bands, pinnedHeight, height: top, bandByLaneKey };
}

/** The bands that overlap a range of heights: [first, last). */
export function visibleRange(bands: readonly Band[], top: number, bottom: number): readonly [number, number] {
  const end = (index: number) => (bands[index]?.top ?? 0) + (bands[index]?.height ?? 0);
  const first = firstIndex(0, bands.length, (index) => end(index) > top);
  return [first, firstIndex(first, bands.length, (index) => (bands[index]?.top ?? 0) >= bottom)];
}
