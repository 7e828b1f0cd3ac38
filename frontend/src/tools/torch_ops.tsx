/** Which operators of PyTorch take the time: by module, by name, by shapes, by line? Each row opens its card. */

import { t } from "../base/messages";
import type { Row, Table } from "../base/table";
import { CALL_VIEWS, TableCalls } from "../view/calls";
import { useChoice } from "../view/choices";
import { Select } from "../view/select";
import { type CardOp, useOpDialog } from "./card/opcard";
import GenericPage from "./generic";
import type { PageProps } from "./page";
import { CallingLines } from "./torch/callinglines";
import { ModuleTree } from "./torch/moduletree";
import { Suggestions } from "./torch/suggestions";

/** What a row of one of the tables is about; null of what has no events. */
function cardOpOfRow(id: string, table: Table, row: Row, lines: Table): CardOp | null {
  if (id === "modules") {
    const module = table.text(row, "module");
    return { table, row, name: module, program: "", eventName: `nn.Module: ${module.split("/").at(-1)}` };
  }
  const name = table.text(row, "name");
  const extra = id === "operators" ? <CallingLines lines={lines} name={name} /> : undefined;
  return name ? { table, row, name, program: "", eventName: name, extra } : null;
}

const VIEWS = [["", t("as a tree")], ...CALL_VIEWS, ["table", t("as a table")]] as const;

export default function TorchOpsPage(props: PageProps) {
  const { answer, store } = props;
  const [open, dialog] = useOpDialog(store);
  const [view, setView] = useChoice("modules");
  const openCard = (id: string, table: Table, row: Row) => {
    const op = cardOpOfRow(id, table, row, answer.table("lines"));
    return op ? { go: () => open(op) } : undefined;
  };
  const modules = (table: Table) => {
    if (view === "table") return undefined;
    if (view) return <TableCalls answer={answer} table="modules" view={view} store={store} />;
    return <ModuleTree modules={table} choose={(row) => openCard("modules", table, row)?.go()} />;
  };
  return (
    <>
      <GenericPage
        {...props}
        linkRow={openCard}
        drawTable={{ modules, advice: (table) => <Suggestions table={table} /> }}
        controls={{ modules: <Select label={t("Modules")} value={view} options={VIEWS} choose={setView} /> }}
      />
      {dialog}
    </>
  );
}
