/** One horizontal bar of parts, drawn in their colours and patterns. */

import { formatPercent, formatScaled, formatTime, timeScale, withMoreDecimals } from "../base/format";
import { t } from "../base/messages";
import { type Part, partById } from "../base/parts";
import type { Link } from "../state/links";
import { DeltaCell, DeltaHead } from "./delta";
import { ViewLink } from "./viewlink";

export interface BarPiece {
  readonly part: Part;
  readonly label: string;
  readonly ms: number;
  readonly doc?: string;
  /** From the baseline's, in ms; undefined without one, null where it is unknown. */
  readonly delta?: number | null | undefined;
}

/** A patch of a part's colour with its pattern, as in every chart's legend. */
export function Swatch({ id }: { id: string }) {
  const shownPart = partById(id);
  return (
    <i
      class={`swatch pattern-${shownPart.pattern}`}
      style={{ backgroundColor: `var(--part-${shownPart.id})` }}
      aria-hidden="true"
    />
  );
}

interface StackBarProps {
  readonly pieces: readonly BarPiece[];
  /** What the pieces sum to, in ms. */
  readonly totalMs: number;
}

export function StackBar({ pieces, totalMs }: StackBarProps) {
  if (totalMs <= 0) return null;
  const text = (piece: BarPiece) => `${piece.label}: ${formatTime(piece.ms)} (${formatPercent(piece.ms / totalMs)})`;
  return (
    <div
      class="stackbar"
      role="img"
      aria-label={pieces
        .filter((piece) => piece.ms > 0)
        .map(text)
        .join("; ")}
    >
      {pieces
        .filter((piece) => piece.ms > 0)
        .map((piece) => (
          <span
            key={piece.part.id}
            class={`piece pattern-${piece.part.pattern}`}
            style={{ flexGrow: piece.ms / totalMs, backgroundColor: `var(--part-${piece.part.id})` }}
            data-tip={piece.doc ? `${text(piece)}\n${piece.doc}` : text(piece)}
          >
            {piece.ms / totalMs > 0.06 && <b>{formatPercent(piece.ms / totalMs, 0)}</b>}
          </span>
        ))}
    </div>
  );
}

interface StackTableProps extends StackBarProps {
  readonly sumLabel: string;
  /** From the baseline's total, in ms. */
  readonly delta?: number | null | undefined;
  /** Where a part can be seen, by its id. */
  readonly link?: (part: string) => Link | undefined;
}

/** The bar's figures: one row per piece with its time and share, and the sum. */
export function StackTable({ pieces, totalMs, sumLabel, delta, link }: StackTableProps) {
  const scale = withMoreDecimals(timeScale(totalMs));
  const hasBaseline = pieces.some(({ delta }) => delta !== undefined);
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
          {hasBaseline && <DeltaHead unit={scale.unit} />}
        </tr>
      </thead>
      <tbody>
        {pieces
          .filter((piece) => piece.ms > 0 || piece.delta)
          .map((piece) => {
            const to = link?.(piece.part.id);
            return (
              <tr key={piece.part.id}>
                <th scope="row">
                  <Swatch id={piece.part.id} />
                  {to ? (
                    <ViewLink {...to} label={piece.label} tip={piece.doc} />
                  ) : (
                    <span class={piece.doc ? "explained" : undefined} data-tip={piece.doc}>
                      {piece.label}
                    </span>
                  )}
                </th>
                <td class="number">{formatScaled(piece.ms, scale)}</td>
                <td class="number">{formatPercent(totalMs > 0 ? piece.ms / totalMs : 0)}</td>
                {hasBaseline && <DeltaCell delta={piece.delta} show={(ms) => formatScaled(ms, scale)} />}
              </tr>
            );
          })}
        <tr class="sum">
          <th scope="row">{sumLabel}</th>
          <td class="number">{formatScaled(totalMs, scale)}</td>
          <td class="number">{formatPercent(totalMs > 0 ? 1 : 0)}</td>
          {hasBaseline && <DeltaCell delta={delta} show={(ms) => formatScaled(ms, scale)} />}
        </tr>
      </tbody>
    </table>
  );
}
