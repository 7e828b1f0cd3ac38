/** One horizontal bar of parts, drawn in their colours and patterns. */

import { finer, percent, scaled, time, timeScale } from "../base/format";
import { t } from "../base/messages";
import { type Part, part } from "../base/parts";
import type { Link } from "../state/links";
import { DeltaCell, DeltaHead } from "./delta";
import { GoLink } from "./verdict";

export interface Piece {
  readonly part: Part;
  readonly label: string;
  /** In ms. */
  readonly value: number;
  readonly doc?: string;
  /** From the baseline's, in ms; undefined without one, null where it is unknown. */
  readonly delta?: number | null | undefined;
}

/** A patch of a part's colour with its pattern, as in every chart's legend. */
export function Swatch({ id }: { id: string }) {
  const of = part(id);
  return (
    <i class={`swatch pattern-${of.pattern}`} style={{ backgroundColor: `var(--part-${of.id})` }} aria-hidden="true" />
  );
}

interface StackBarProps {
  readonly pieces: readonly Piece[];
  /** What the pieces sum to, in ms. */
  readonly total: number;
}

export function StackBar({ pieces, total }: StackBarProps) {
  if (total <= 0) return null;
  const text = (piece: Piece) => `${piece.label}: ${time(piece.value)} (${percent(piece.value / total)})`;
  return (
    <div
      class="stackbar"
      role="img"
      aria-label={pieces
        .filter((piece) => piece.value > 0)
        .map(text)
        .join("; ")}
    >
      {pieces
        .filter((piece) => piece.value > 0)
        .map((piece) => (
          <span
            key={piece.part.id}
            class={`piece pattern-${piece.part.pattern}`}
            style={{ flexGrow: piece.value / total, backgroundColor: `var(--part-${piece.part.id})` }}
            data-tip={piece.doc ? `${text(piece)}\n${piece.doc}` : text(piece)}
          >
            {piece.value / total > 0.06 && <b>{percent(piece.value / total, 0)}</b>}
          </span>
        ))}
    </div>
  );
}

/** The bar's twin: one row per piece with its time and share, and the sum. */
interface StackLegendProps extends StackBarProps {
  readonly sumLabel: string;
  /** From the baseline's total, in ms. */
  readonly delta?: number | null | undefined;
  /** Where a part can be seen, by its id. */
  readonly link?: (part: string) => Link | undefined;
}

export function StackLegend({ pieces, total, sumLabel, delta, link }: StackLegendProps) {
  const scale = finer(timeScale(total));
  const held = pieces.some(({ delta }) => delta !== undefined);
  return (
    <table class="legend">
      <thead>
        <tr>
          <th scope="col">{t("Part")}</th>
          <th scope="col" class="number">
            {t("Time")} <small>{scale.unit}</small>
          </th>
          <th scope="col" class="number">
            {t("Share")}
          </th>
          {held && <DeltaHead unit={scale.unit} />}
        </tr>
      </thead>
      <tbody>
        {pieces
          .filter((piece) => piece.value > 0 || piece.delta)
          .map((piece) => {
            const to = link?.(piece.part.id);
            return (
              <tr key={piece.part.id}>
                <th scope="row">
                  <Swatch id={piece.part.id} />
                  {to ? (
                    <GoLink {...to} label={piece.label} tip={piece.doc} />
                  ) : (
                    <span class={piece.doc ? "explained" : undefined} data-tip={piece.doc}>
                      {piece.label}
                    </span>
                  )}
                </th>
                <td class="number">{scaled(piece.value, scale)}</td>
                <td class="number">{percent(total > 0 ? piece.value / total : 0)}</td>
                {held && <DeltaCell ms={piece.delta} scale={scale} />}
              </tr>
            );
          })}
        <tr class="sum">
          <th scope="row">{sumLabel}</th>
          <td class="number">{scaled(total, scale)}</td>
          <td class="number">{percent(total > 0 ? 1 : 0)}</td>
          {held && <DeltaCell ms={delta} scale={scale} />}
        </tr>
      </tbody>
    </table>
  );
}
