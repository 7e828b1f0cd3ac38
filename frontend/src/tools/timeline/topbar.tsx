/** Above the timeline: tools, search, filters, arrows, export. */

import { batch, type Signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { clockChoice, type Lanes } from "../../api/timeline";
import { count, time } from "../../base/format";
import { t } from "../../base/messages";
import { CATEGORIES } from "../../base/states";
import { COLOURINGS, type Colouring, MODES, type Mode } from "../../base/timecodec";
import type { Settings } from "../../state/settings";
import type { Store } from "../../state/store";
import { Doubt } from "../../view/doubt";
import { Icon, type IconName } from "../../view/icons";
import { Menu } from "../../view/menu";
import { Swatch } from "../../view/stackbar";
import { KEYS } from "./keys";
import type { Scene } from "./scene";
import { toggled } from "./state";

const TOOLS: Readonly<Record<Mode, { name: string; icon: IconName; tip: string }>> = {
  select: {
    name: t("Tool: select, key 1"),
    icon: "select",
    tip: t("Select: drag a box for statistics and a flame graph of its events. Key: 1"),
  },
  pan: { name: t("Tool: pan, key 2"), icon: "pan", tip: t("Pan: drag to move. Key: 2") },
  zoom: { name: t("Tool: zoom, key 3"), icon: "zoom", tip: t("Zoom: drag up and down, or turn the wheel. Key: 3") },
  timing: {
    name: t("Tool: timing, key 4"),
    icon: "timing",
    tip: t("Timing: drag to measure an interval and mark it. Key: 4"),
  },
};

export interface SearchActions {
  readonly walk: (step: 1 | -1) => void;
  readonly close: () => void;
}

function Tools({ scene }: { scene: Scene }) {
  const { mode } = scene.state;
  return (
    <fieldset class="tl-tools" aria-label={t("Tool")}>
      {MODES.map((each, place) => (
        <button
          key={each}
          type="button"
          aria-pressed={mode.value === each}
          aria-label={TOOLS[each].name}
          data-tip={TOOLS[each].tip}
          onClick={() => {
            mode.value = each;
          }}
        >
          <Icon name={TOOLS[each].icon} />
          <small>{place + 1}</small>
        </button>
      ))}
    </fieldset>
  );
}

function Search({ scene, actions }: { scene: Scene; actions: SearchActions }) {
  const { find, regex, longest, listed, hits, hit } = scene.state;
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Enter") actions.walk(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") {
      actions.close();
      (event.currentTarget as HTMLElement).blur();
    } else return;
    event.preventDefault();
  };
  const found = hits.value;
  const matches =
    found &&
    (hit.value < 0 ? count(found.total) : t("{place} of {total}", { place: hit.value + 1, total: found.total }));
  return (
    <div class="tl-search">
      <input
        type="search"
        data-filter
        placeholder={t("Search names and stats")}
        aria-label={t("Search events by their names and stats")}
        value={find.value}
        onInput={(event) => {
          find.value = event.currentTarget.value;
        }}
        onKeyDown={onKey}
      />
      <button
        type="button"
        class="button"
        aria-pressed={regex.value}
        aria-label={t("Regular expression")}
        data-tip={t("Use a regular expression")}
        onClick={() => {
          regex.value = !regex.value;
        }}
      >
        .*
      </button>
      {/* Names on derived lanes stand out, and are no events to walk. */}
      {found && (found.total > 0 || !found.names.size) && (
        <>
          <output class="number">{found.total ? matches : t("none")}</output>
          <button
            type="button"
            class="button"
            aria-pressed={longest.value}
            data-tip={t("Sort matches by length, device events first; else by time")}
            onClick={() => {
              longest.value = !longest.value;
            }}
          >
            {t("longest first")}
          </button>
          <button
            type="button"
            class="button"
            aria-pressed={listed.value}
            data-tip={t("List all matches beside the lanes")}
            onClick={() => {
              listed.value = !listed.value;
            }}
          >
            {t("list")}
          </button>
          <button type="button" class="button" aria-label={t("Previous match")} onClick={() => actions.walk(-1)}>
            ‹
          </button>
          <button type="button" class="button" aria-label={t("Next match")} onClick={() => actions.walk(1)}>
            ›
          </button>
        </>
      )}
    </div>
  );
}

function Least({ scene }: { scene: Scene }) {
  const { least } = scene.state;
  return (
    <label class="param" data-tip={t("Dims shorter slices")}>
      <span>{t("Shortest duration, µs")}</span>
      <input
        type="number"
        min={0}
        step="any"
        value={least.value ? least.value / 1e6 : ""}
        onChange={(event) => {
          least.value = Math.max(0, Number(event.currentTarget.value) * 1e6 || 0);
        }}
      />
    </label>
  );
}

const COLOURS: Readonly<Record<Colouring, string>> = {
  kind: t("by kind of work"),
  name: t("by name"),
  library: t("by library, file or module"),
};

function Colours({ scene }: { scene: Scene }) {
  const { colouring } = scene.state;
  return (
    <label class="param">
      <span>{t("Colours")}</span>
      <select
        value={colouring.value}
        onChange={(event) => {
          colouring.value = event.currentTarget.value as Colouring;
        }}
      >
        {COLOURINGS.map((each) => (
          <option key={each} value={each}>
            {COLOURS[each]}
          </option>
        ))}
      </select>
    </label>
  );
}

/** The kinds that the capture has; those that a link chose stay, so that they can be taken off. */
function ArrowKinds({ scene }: { scene: Scene }) {
  const { arrowKinds } = scene.state;
  const [there, setThere] = useState<readonly string[]>([]);
  useEffect(() => {
    const gone = new AbortController();
    scene.api.arrows("", scene.whole.begin, scene.whole.end, gone.signal).then(
      ({ kinds }) => setThere(kinds),
      () => {
        // What was chosen can be taken off without them.
      },
    );
    return () => gone.abort();
  }, [scene]);
  const kinds = [...new Set([...there, ...arrowKinds.value])];
  return (
    <fieldset class="param">
      <span>{t("Arrows between all events in view")}</span>
      {kinds.length === 0 && <span class="quiet">{t("none in this capture")}</span>}
      {kinds.map((kind) => (
        <label key={kind} class="tl-check">
          <input
            type="checkbox"
            checked={arrowKinds.value.includes(kind)}
            onChange={() => {
              arrowKinds.value = [...toggled(new Set(arrowKinds.peek()), kind)];
            }}
          />{" "}
          {kind}
        </label>
      ))}
    </fieldset>
  );
}

function Export({ scene }: { scene: Scene }) {
  return (
    <Menu label={t("Export")} tip={t("The trace as a file for ui.perfetto.dev or chrome://tracing")} align="right">
      {(close) => {
        const { begin, end } = scene.view;
        return (
          <div class="items">
            <a href={scene.api.traceFile()} download="trace.json" onClick={close}>
              {t("Whole trace")} <span class="quiet">(.json)</span>
            </a>
            <a href={scene.api.traceFile(begin, end)} download="trace.json" onClick={close}>
              {t("Visible part")} <span class="quiet">(.json)</span>
            </a>
          </div>
        );
      }}
    </Menu>
  );
}

/** Selects what all threads did in the visible time. */
function CallsInView({ scene }: { scene: Scene }) {
  const { area, tab } = scene.state;
  const select = () => {
    const sections = scene.lanes.peek().sections.filter(({ kind }) => kind === "host");
    const lanes = sections.flatMap((section) => section.lanes.filter(({ kind }) => kind !== "counter"));
    const { begin, end } = scene.view;
    batch(() => {
      area.value = { begin, end, lanes: lanes.map(({ key }) => key) };
      if (tab.peek() === "statistics") tab.value = "flame";
    });
  };
  return (
    <button
      type="button"
      class="button"
      onClick={select}
      data-tip={t("The calls of all threads in the visible time, merged")}
    >
      {t("Flame graph")}
    </button>
  );
}

function Keys() {
  return (
    <Menu label={t("Keys")} align="right">
      {() => (
        <dl class="tl-keys">
          {KEYS.map(([key, what]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{what}</dd>
            </div>
          ))}
        </dl>
      )}
    </Menu>
  );
}

function Idle({ settings }: { settings: Signal<Settings> }) {
  const tip = t("Causes of idleness, busy share and launch queue of each device, memory, critical path. Remembered");
  return (
    <label class="param tl-check" data-tip={tip}>
      <input
        type="checkbox"
        checked={settings.value.idle}
        onChange={(event) => {
          settings.value = { ...settings.peek(), idle: event.currentTarget.checked };
        }}
      />{" "}
      {t("Why devices are idle")}
    </label>
  );
}

/** Whether the clocks of hosts are aligned, where it is known by how much they differ. */
function AlignedClocks({ store, clocks }: { store: Store; clocks: NonNullable<Lanes["clocks"]> }) {
  const [apart, error] = [time(clocks.apart, "ps"), time(clocks.error, "ps")];
  const tip = t("Collectives show that clocks are {apart} apart. Unaligned times are those recorded", { apart });
  const choose = (isAligned: boolean) => {
    const { clocks: _, ...others } = store.view.peek().options;
    store.go({ options: isAligned ? others : { ...others, clocks: "raw" } });
  };
  return (
    <label class="param tl-check" data-tip={tip}>
      <input
        type="checkbox"
        checked={clockChoice(store.view.value.options) === ""}
        onChange={(event) => choose(event.currentTarget.checked)}
      />{" "}
      {t("Align clocks, ± {error}", { error })}
    </label>
  );
}

/** The colours of the lanes that tell why devices are idle. */
function Legend() {
  return (
    <ul class="tl-legend">
      {CATEGORIES.map(({ id, label }) => (
        <li key={id}>
          <Swatch id={id} />
          {label}
        </li>
      ))}
    </ul>
  );
}

interface TopBarProps {
  readonly scene: Scene;
  readonly store: Store;
  readonly actions: SearchActions;
}

export function TopBar({ scene, store, actions }: TopBarProps) {
  const { settings } = store;
  const { clocks } = scene.lanes.value;
  const isAligned = clocks !== null && clockChoice(store.view.value.options) === "";
  const { least, arrowKinds, colouring } = scene.state;
  const set = [least.value > 0, arrowKinds.value.length > 0, colouring.value !== "kind"].filter(Boolean).length;
  return (
    <div class="tl-bar">
      <Tools scene={scene} />
      <Search scene={scene} actions={actions} />
      <Menu label={set ? t("Show ({set})", { set }) : t("Show")} tip={t("Filter by duration; arrows; idle devices")}>
        {() => (
          <>
            <Idle settings={settings} />
            <Colours scene={scene} />
            <Least scene={scene} />
            <ArrowKinds scene={scene} />
          </>
        )}
      </Menu>
      <CallsInView scene={scene} />
      {!isAligned && <Doubt of={["clocks"]} />}
      {clocks && <AlignedClocks store={store} clocks={clocks} />}
      <span class="spring" />
      <Export scene={scene} />
      <Keys />
      {settings.value.idle && <Legend />}
    </div>
  );
}
