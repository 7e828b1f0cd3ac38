/** Options of PyTorch that may save time: what to do, why, and code to copy. */

import type { Table } from "../../base/table";
import { Code } from "../../view/textparts";

export function Suggestions({ table }: { table: Table }) {
  return (
    <ul class="hints">
      {table.rows.map((row) => {
        const code = table.text(row, "code");
        return (
          <li key={table.text(row, "id")} class="hint">
            <div>
              <b>{table.text(row, "title")}</b>
              <div class="quiet">{table.text(row, "evidence")}</div>
              {code && (
                <details>
                  <summary>{table.column("code")?.label}</summary>
                  <Code text={code.trim()} />
                </details>
              )}
            </div>
          </li>
        );
      })}
    </ul>
  );
}
