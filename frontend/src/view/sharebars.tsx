/** Bars of the largest shares with their names and figures, as one list for each way to divide; the rest is one grey bar. */

import { useMemo } from "preact/hooks";
import { largest } from "../base/extent";
import { formatPercent, formatTime } from "../base/format";
import { t } from "../base/messages";
import { nameColour } from "../base/namecolour";
import type { Table } from "../base/table";
import { PathName } from "./pathname";

interface Share {
  readonly name: string;
  /** In microseconds. */
  readonly us: number;
  /** The column of the table beside it that holds the name; "" for its first one, undefined for none. */
  readonly column?: string | undefined;
}

/** From here on it is the rest. */
const MOST_NAMES = 8;

function barColour(share: Share, index: number, dark: boolean): string {
  return index >= MOST_NAMES ? (dark ? "#6d7480" : "#a3a9b2") : nameColour(share.name, dark);
}

type PickShare = (name: string, column: string) => void;

interface ShareListsProps {
  readonly shares: Table;
  /** The column of the shares' times. */
  readonly times: string;
  /** What a click on a share's name does. */
  readonly pick: PickShare;
}

/** A list for each division that the column `of` names. */
export function ShareLists({ shares, times, pick }: ShareListsProps) {
  const lists = useMemo(
    () =>
      shares.distinct("of").map((of) => {
        const ofDivision = shares.where({ of });
        return {
          of,
          bars: ofDivision.rows.map((row) => ({
            name: ofDivision.text(row, "name"),
            us: ofDivision.numberOrZero(row, times),
            column: ofDivision.has("column") ? ofDivision.text(row, "column") || undefined : "",
          })),
        };
      }),
    [shares, times],
  );
  return (
    <div class="share-lists">
      {lists.map(({ of, bars }) => (
        <ShareBars key={of} title={of} shares={bars} pick={pick} />
      ))}
    </div>
  );
}

interface ShareBarsProps {
  readonly title: string;
  readonly shares: readonly Share[];
  readonly pick: PickShare;
}

function ShareBars({ title, shares, pick }: ShareBarsProps) {
  const sumUs = shares.reduce((total, { us }) => total + us, 0);
  const longest = largest(shares.map(({ us }) => us)) || 1;
  const [first] = shares;
  return (
    <figure class="share-bars">
      <figcaption class="cut">
        {title}
        {first && sumUs > 0 && (
          <span class="quiet">
            {": "}
            {t("{name} {share} of {time}", {
              name: first.name,
              share: formatPercent(first.us / sumUs),
              time: formatTime(sumUs, "us"),
            })}
          </span>
        )}
      </figcaption>
      <ol>
        {shares.map((share, index) => (
          <li key={share.name} data-tip={`${share.name}: ${formatTime(share.us, "us")}`}>
            {share.column !== undefined && index < MOST_NAMES ? (
              <button type="button" class="bare cut pick" onClick={() => pick(share.name, share.column ?? "")}>
                <PathName text={share.name} />
              </button>
            ) : (
              <span class="cut">
                <PathName text={share.name} />
              </span>
            )}
            <span class="track" aria-hidden="true">
              <i
                class="swatch both"
                style={{
                  width: `${(100 * share.us) / longest}%`,
                  "--on-light": barColour(share, index, false),
                  "--on-dark": barColour(share, index, true),
                }}
              />
            </span>
            <span class="number quiet">{formatTime(share.us, "us")}</span>
            <span class="number">{sumUs > 0 && formatPercent(share.us / sumUs)}</span>
          </li>
        ))}
      </ol>
    </figure>
  );
}
