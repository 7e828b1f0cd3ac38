/** One horizontal bar of parts, drawn in their colours and patterns. */

import { finer, percent, scaled, time, timeScale } from "../base/format";
import { type Part, part } from "../base/parts";

export interface Piece {
  readonly part: Part;
  /** In ms. */
  readonly value: number;
  readonly doc?: string;
}

/** A patch of a part's colour with its pattern, as in every chart's legend. */
export function Swatch({ id }: { id: string }) {
  const of = part(id);
  return (
    <i class={`swatch pattern-${of.pattern}`} style={{ backgroundColor: `var(--part-${of.id})` }} aria-hidden="true" />
  );
}

export function StackBar({ pieces }: { pieces: readonly Piece[] }) {
  const sum = pieces.reduce((total, piece) => total + piece.value, 0);
  if (sum <= 0) return null;
  const text = (piece: Piece) => `${piece.part.label}: ${time(piece.value)} (${percent(piece.value / sum)})`;
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
            style={{ flexGrow: piece.value / sum, backgroundColor: `var(--part-${piece.part.id})` }}
            data-tip={piece.doc ? `${text(piece)}\n${piece.doc}` : text(piece)}
          >
            {piece.value / sum > 0.06 && <b>{percent(piece.value / sum, 0)}</b>}
          </span>
        ))}
    </div>
  );
}

/** The bar's twin: one row per piece with its time and share, and the sum. */
export function StackLegend({ pieces, sumLabel }: { pieces: readonly Piece[]; sumLabel: string }) {
  const sum = pieces.reduce((total, piece) => total + piece.value, 0);
  const scale = finer(timeScale(sum));
  return (
    <table class="legend">
      <thead>
        <tr>
          <th scope="col">Part</th>
          <th scope="col" class="number">
            Time <small>{scale.unit}</small>
          </th>
          <th scope="col" class="number">
            Share
          </th>
        </tr>
      </thead>
      <tbody>
        {pieces
          .filter((piece) => piece.value > 0)
          .map((piece) => (
            <tr key={piece.part.id}>
              <th scope="row">
                <Swatch id={piece.part.id} />
                <span class={piece.doc ? "explained" : undefined} data-tip={piece.doc}>
                  {piece.part.label}
                </span>
              </th>
              <td class="number">{scaled(piece.value, scale)}</td>
              <td class="number">{percent(sum > 0 ? piece.value / sum : 0)}</td>
            </tr>
          ))}
        <tr class="sum">
          <th scope="row">{sumLabel}</th>
          <td class="number">{scaled(sum, scale)}</td>
          <td class="number">{percent(sum > 0 ? 1 : 0)}</td>
        </tr>
      </tbody>
    </table>
  );
}
