/** The heads of a grid's columns, which sort it. */

import { joinSentences } from "../base/messages";
import { breakableParts } from "../base/text";
import { Doubt, useDoubt } from "./doubt";
import type { GridModel, PresentedColumn } from "./gridmodel";

interface HeadProps {
  readonly column: PresentedColumn;
  readonly sorted: false | "asc" | "desc" | undefined;
  /** `isFurther` sorts by this column where those before leave rows equal. */
  readonly toggle: (isFurther: boolean) => void;
}

function HeadButton({ column, sorted, toggle }: HeadProps) {
  const tip = joinSentences(column.doc, useDoubt(column.depends));
  return (
    <button
      type="button"
      class={column.doc ? "explained" : undefined}
      data-tip={tip || undefined}
      onClick={(event) => toggle(event.shiftKey)}
    >
      {breakableParts(column.label).flatMap((phrase) => [phrase, <wbr key={phrase} />])}
      {column.unit && <small> {column.unit}</small>}
      <Doubt depends={column.depends} inButton />
      <span class="direction" aria-hidden="true">
        {sorted === "asc" ? "▲" : sorted === "desc" ? "▼" : ""}
      </span>
    </button>
  );
}

export function GridHead({ model, columns }: { model: GridModel; columns: readonly PresentedColumn[] }) {
  return (
    <thead>
      <tr>
        {columns.map((column) => {
          const sorted = model.getColumn(column.id)?.getIsSorted();
          const direction = sorted === "asc" ? "ascending" : sorted === "desc" ? "descending" : "none";
          return (
            <th key={column.id} class={column.numeric ? "number" : undefined} aria-sort={direction} scope="col">
              <HeadButton
                column={column}
                sorted={sorted}
                toggle={(isFurther) => model.getColumn(column.id)?.toggleSorting(undefined, isFurther)}
              />
            </th>
          );
        })}
      </tr>
    </thead>
  );
}
