/** The menus of a table: which columns are shown, and taking the rows elsewhere. */

import { csv, fileName, json } from "../base/csv";
import type { Column, Row } from "../base/table";
import type { GridModel, Presented } from "./gridmodel";
import { Icon } from "./icons";
import { Menu } from "./menu";

export function ColumnMenu({ model, columns }: { model: GridModel; columns: readonly Presented[] }) {
  return (
    <Menu label={<Icon name="columns" />} name="Columns" tip="Choose the columns" align="right">
      {() => (
        <fieldset class="choices">
          <legend>Columns</legend>
          {columns.map((column) => (
            <label key={column.id}>
              <input
                type="checkbox"
                checked={model.getColumn(column.id)?.getIsVisible() ?? false}
                onChange={() => model.getColumn(column.id)?.toggleVisibility()}
              />
              {column.label}
            </label>
          ))}
        </fieldset>
      )}
    </Menu>
  );
}

function download(name: string, type: string, text: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

interface ExportMenuProps {
  readonly name: string;
  readonly columns: readonly Column[];
  /** The rows as they stand: filtered and in the shown order. */
  readonly rows: () => readonly Row[];
}

export function ExportMenu({ name, columns, rows }: ExportMenuProps) {
  const labels = columns.map((column) => column.label || column.id);
  const ids = columns.map((column) => column.id);
  const items: [string, () => void][] = [
    ["Export as CSV", () => download(fileName(`${name}.csv`), "text/csv", csv(labels, rows()))],
    ["Export as JSON", () => download(fileName(`${name}.json`), "application/json", json(ids, rows()))],
    ["Copy as CSV", () => void navigator.clipboard.writeText(csv(labels, rows()))],
  ];
  return (
    <Menu
      label={<Icon name="download" />}
      name="Export"
      tip="Export the rows as they are filtered and sorted, with all columns and full precision"
      align="right"
    >
      {(close) => (
        <ul class="items">
          {items.map(([text, act]) => (
            <li key={text}>
              <button
                type="button"
                onClick={() => {
                  act();
                  close();
                }}
              >
                {text}
              </button>
            </li>
          ))}
        </ul>
      )}
    </Menu>
  );
}
