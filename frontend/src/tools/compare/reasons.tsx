/** What explains the difference, the largest first. */

import { partById } from "../../base/parts";
import type { Table } from "../../base/table";
import { Swatch } from "../../view/stackbar";

export function Reasons({ table }: { table: Table }) {
  if (!table.rows.length) return null;
  return (
    <ul class="reasons">
      {table.rows.map((row) => (
        <li key={table.text(row, "text")}>
          <Swatch id={partById(table.text(row, "part")).id} /> {table.text(row, "text")}
        </li>
      ))}
    </ul>
  );
}
