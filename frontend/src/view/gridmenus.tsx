/** The menus of a table: which columns are shown, and taking the rows elsewhere. */

import { csv, fileName, json } from "../base/csv";
import { formatCount } from "../base/format";
import type { GridChoice } from "../base/gridcodec";
import { t } from "../base/messages";
import type { Row, Table } from "../base/table";
import { copyText } from "./copy";
import type { GridModel, PresentedColumn } from "./gridmodel";
import { Icon } from "./icons";
import { Menu } from "./menu";
import { Select } from "./select";
import { Switch } from "./switch";

export function ColumnMenu({ model, columns }: { model: GridModel; columns: readonly PresentedColumn[] }) {
  return (
    <Menu label={<Icon name="columns" />} name={t("Columns")} tip={t("Choose the columns")} align="right">
      {() => (
        <fieldset class="choices">
          <legend>{t("Columns")}</legend>
          {columns.map((column) => (
            <Switch
              key={column.id}
              label={column.label}
              on={model.getColumn(column.id)?.getIsVisible() ?? false}
              set={(on) => model.getColumn(column.id)?.toggleVisibility(on)}
            />
          ))}
        </fieldset>
      )}
    </Menu>
  );
}

/** A choice of rows for each column with few values. */
export function FacetMenus({ model, columns }: { model: GridModel; columns: readonly PresentedColumn[] }) {
  return (
    <>
      {columns.map((column) => {
        if (column.choices.length < 2) return null;
        const chosen = String(model.getColumn(column.id)?.getFilterValue() ?? "");
        return (
          <Select
            key={column.id}
            label={t("Only: {column}", { column: column.label })}
            value={chosen}
            options={[
              ["", t("{column}: all", { column: column.label })],
              ...column.choices.map(
                ([value, rowCount]) =>
                  [value, `${column.show(value) || t("(none)")} (${formatCount(rowCount)})`] as const,
              ),
            ]}
            choose={(value) => model.getColumn(column.id)?.setFilterValue(value || undefined)}
          />
        );
      })}
    </>
  );
}

function download(name: string, address: string): void {
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
}

export function saveFile(name: string, type: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type }));
  download(name, address);
  URL.revokeObjectURL(address);
}

interface ExportMenuProps {
  readonly name: string;
  readonly table: Table;
  readonly choice: GridChoice;
  /** The rows of a table that is here as they stand: filtered and in the shown order. */
  readonly rows: () => readonly { readonly original: Row }[];
}

/** What the menu offers; the rest of a table comes from where it is. */
function exportActions({ name, table, choice, rows }: ExportMenuProps): [string, () => void][] {
  const files = { csv: fileName(`${name}.csv`), json: fileName(`${name}.json`) };
  if (table.rest) {
    const { source, without } = table.rest;
    const chosen = { ...choice, without };
    return [
      [t("Export as CSV"), () => download(files.csv, source.file(chosen, "csv"))],
      [t("Export as JSON"), () => download(files.json, source.file(chosen, "json"))],
      [t("Copy as CSV"), () => void source.csv(chosen).then((text) => copyText(text))],
    ];
  }
  const { columns } = table;
  const visibleRows = () => rows().map((row) => row.original);
  const asCsv = () =>
    csv(
      columns.map((column) => column.label || column.id),
      visibleRows(),
    );
  const asJson = () =>
    json(
      columns.map((column) => column.id),
      visibleRows(),
    );
  return [
    [t("Export as CSV"), () => saveFile(files.csv, "text/csv", asCsv())],
    [t("Export as JSON"), () => saveFile(files.json, "application/json", asJson())],
    [t("Copy as CSV"), () => void copyText(asCsv())],
  ];
}

export function ExportMenu(props: ExportMenuProps) {
  return (
    <Menu
      label={<Icon name="download" />}
      name={t("Export")}
      tip={t("Export the filtered and sorted rows, with all columns in full precision")}
      align="right"
    >
      {(close) => (
        <ul class="items">
          {exportActions(props).map(([text, act]) => (
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
