/** One horizontal bar of parts, drawn in their colours and patterns. */

import { percent, time } from "../base/format";
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
