/** The lines of Python that call an operator, those with most time first. */

import { formatCount, formatTime } from "../../base/format";
import type { Row, Table } from "../../base/table";
import { useResource } from "../../view/useresource";

const MOST_LINES = 5;
const TIME_COLUMNS = ["device_total_us", "host_total_us"] as const;
const SORT_BY_TIME = TIME_COLUMNS.map((id) => ({ id, desc: true }));

/** None where the capture has none, and where they do not come: the card tells the rest without them. */
function useLines(lines: Table, name: string): readonly Row[] {
  const { value: rows } = useResource(
    async (signal) => {
      const choice = { sort: SORT_BY_TIME, find: "", only: { name }, columns: {} };
      const loaded = await lines.loadRows(choice, 0, MOST_LINES + 1, signal);
      const ofName = loaded?.rows ?? lines.where({ name }).rows;
      return ofName.filter((row) => lines.text(row, "line")).slice(0, MOST_LINES);
    },
    [lines, name],
  );
  return rows ?? [];
}

export function CallingLines({ lines, name }: { lines: Table; name: string }) {
  const rows = useLines(lines, name);
  if (!rows.length) return null;
  const timeColumns = TIME_COLUMNS.filter((id) => rows.some((row) => lines.number(row, id) !== null));
  return (
    <table class="legend calling-lines">
      <thead>
        <tr>
          {["line", "count", ...timeColumns].map((id, index) => (
            <th key={id} scope="col" class={index ? "number" : undefined}>
              {lines.column(id)?.label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={lines.text(row, "line")}>
            <th scope="row">{lines.text(row, "line")}</th>
            <td class="number">{lines.formatCell(row, "count", formatCount)}</td>
            {timeColumns.map((id) => (
              <td key={id} class="number">
                {lines.formatCell(row, id, (us) => formatTime(us, "us"))}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
