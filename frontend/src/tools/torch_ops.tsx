/** Which operators of PyTorch take the time: by module, by name, by shapes, by line? Each row opens its card. */

import { t } from "../base/messages";
import type { Row, Table } from "../base/table";
import { useKept } from "../view/kept";
import { type Op, useOpDialog } from "./card/opcard";
import Generic from "./generic";
import type { PageProps } from "./page";
import { CallingLines } from "./torch/lines";
import { ModuleTree } from "./torch/modules";
import { Suggestions } from "./torch/suggestions";

/** What a row of one of the tables is about; null of what has no events. */
function opOf(id: string, table: Table, row: Row, lines: Table): Op | null {
  if (id === "modules") {
    const module = table.text(row, "module");
    return { table, row, name: module, program: "", events: `nn.Module: ${module.split("/").at(-1)}` };
  }
  const name = table.text(row, "name");
  const more = id === "operators" ? <CallingLines lines={lines} name={name} /> : undefined;
  return name ? { table, row, name, program: "", events: name, more } : null;
}

function ModulesView({ view, set }: { view: string; set: (view: string) => void }) {
  return (
    <select aria-label={t("Modules")} value={view} onChange={(event) => set(event.currentTarget.value)}>
      <option value="">{t("as a tree")}</option>
      <option value="table">{t("as a table")}</option>
    </select>
  );
}

export default function TorchOpsPage(props: PageProps) {
  const { answer, store } = props;
  const [open, dialog] = useOpDialog(store);
  const [view, setView] = useKept("modules");
  const openCard = (id: string, table: Table, row: Row) => {
    const op = opOf(id, table, row, answer.table("lines"));
    return op ? { go: () => open(op) } : undefined;
  };
  const modules = (table: Table) =>
    view === "table" ? undefined : (
      <ModuleTree modules={table} choose={(row) => openCard("modules", table, row)?.go()} />
    );
  return (
    <>
      <Generic
        {...props}
        link={openCard}
        drawn={{ modules, advice: (table) => <Suggestions table={table} /> }}
        controls={{ modules: <ModulesView view={view} set={setView} /> }}
      />
      {dialog}
    </>
  );
}
