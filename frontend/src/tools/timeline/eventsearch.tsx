/** The search for events: its field, how it looks, and the way from match to match. */

import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { formatCount } from "../../base/format";
import { t } from "../../base/messages";
import type { Engine } from "./engine";
import { walkHits } from "./navigation";

/** How far the search is: how many events match, or which of them is shown. */
function matchesText(total: number, hit: number): string {
  if (!total) return t("none");
  return hit < 0 ? formatCount(total) : t("{place} of {total}", { place: hit + 1, total });
}

interface ToggleButtonProps {
  readonly value: Signal<boolean>;
  readonly doc: string;
  /** What it is called where its content is a sign. */
  readonly name?: string;
  readonly children: ComponentChildren;
}

function ToggleButton({ value, doc, name, children }: ToggleButtonProps) {
  const toggle = () => {
    value.value = !value.value;
  };
  return (
    <button type="button" class="button" aria-pressed={value.value} aria-label={name} data-tip={doc} onClick={toggle}>
      {children}
    </button>
  );
}

export function EventSearch({ engine }: { engine: Engine }) {
  const { find, regex, longest, listed, hits, hit } = engine.scene.state;
  const onKey = (event: KeyboardEvent) => {
    if (event.key === "Enter") walkHits(engine, event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") {
      find.value = "";
      (event.currentTarget as HTMLElement).blur();
    } else return;
    event.preventDefault();
  };
  const matches = hits.value;
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
      <ToggleButton value={regex} name={t("Regular expression")} doc={t("Use a regular expression")}>
        .*
      </ToggleButton>
      {/* Names on derived lanes stand out, and are no events to walk. */}
      {matches && (matches.total > 0 || !matches.names.size) && (
        <>
          <output class="number">{matchesText(matches.total, hit.value)}</output>
          <ToggleButton value={longest} doc={t("Sort matches by length, device events first; else by time")}>
            {t("longest first")}
          </ToggleButton>
          <ToggleButton value={listed} doc={t("List all matches beside the lanes")}>
            {t("list")}
          </ToggleButton>
          <button type="button" class="button" aria-label={t("Previous match")} onClick={() => walkHits(engine, -1)}>
            ‹
          </button>
          <button type="button" class="button" aria-label={t("Next match")} onClick={() => walkHits(engine, 1)}>
            ›
          </button>
        </>
      )}
    </div>
  );
}
