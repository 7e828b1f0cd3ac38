/** Which kernels take the GPU's time, and do they use its tensor cores? */

import { useMemo } from "preact/hooks";
import { formatTime } from "../base/format";
import { t } from "../base/messages";
import type { Answer, Row } from "../base/table";
import { linkToDevice } from "../state/links";
import { useChoice, useChoices } from "../view/choices";
import { Grid } from "../view/grid";
import { type ColumnSpecs, columnSpecs } from "../view/gridmodel";
import { Section } from "../view/section";
import { Select } from "../view/select";
import { ShareLists } from "../view/sharebars";
import { useOpDialog } from "./card/opcard";
import { exportName, type PageProps } from "./page";
import { PageHead } from "./shared/pagehead";
import { TableSection } from "./shared/tablesection";

/** The columns that speak of tensor cores, in the vendor's word for them. */
function tensorCoreSpecs(answer: Answer): ColumnSpecs {
  const word = answer.text("cores") || t("tensor cores");
  const capitalized = `${word.slice(0, 1).toUpperCase()}${word.slice(1)}`;
  return {
    // "No" everywhere is an answer about them, not an empty column.
    eligible: { facet: true, hidden: false, label: t("{cores} possible", { cores: capitalized }) },
    tensor_core: { facet: true, hidden: false, label: t("{cores} used", { cores: capitalized }) },
    tensor_core_share: { label: t("On {cores}", { cores: word }) },
  };
}

const SPECS: ColumnSpecs = {
  share: { bar: true },
  short: { full: "full_name" },
  kernel: { full: "full_name" },
  ...columnSpecs("library dtype bound_by cost", { facet: true }),
  ...columnSpecs(
    "generation model_gflop_per_s program_id instruction occupancy_min_percent occupancy_max_percent full_name example",
    { hidden: true },
  ),
};
/** For single kernels, whose name in the capture stands beside the short one. */
const KERNEL_SPECS: ColumnSpecs = { ...SPECS, kernel: { hidden: true } };

/** What the address says, the table, and its name in the menu. */
const GROUPINGS: readonly (readonly [string, string, string])[] = [
  ["launch", "kernels", t("by kernel, size and op")],
  ["kernel_name", "by_kernel", t("by kernel")],
  ["op_name", "by_op", t("by op")],
  ["scope", "by_scope", t("by op, numbered scopes merged")],
];

function Kernels({ page }: { page: PageProps }) {
  const { store, answer } = page;
  const [groupChoice, setGroupChoice] = useChoice("by");
  const answerGrouping = GROUPINGS.find(([, table]) => table === answer.text("grouping"));
  const [by, id] = GROUPINGS.find(([value]) => value === groupChoice) ?? answerGrouping ?? ["launch", "kernels"];
  const kernels = answer.table(id);
  const specs = useMemo(
    () => ({ ...(id === "kernels" ? KERNEL_SPECS : SPECS), ...tensorCoreSpecs(answer) }),
    [answer, id],
  );
  const nameColumn = ["example", "kernel", "op"].find((column) => kernels.has(column)) ?? "op";
  const [open, dialog] = useOpDialog(store);
  const openCard = (row: Row) => {
    const events = kernels.text(row, nameColumn);
    const title =
      kernels.text(row, "instruction") || kernels.text(row, "short") || kernels.text(row, "kernel") || events;
    const op = { table: kernels, row, name: title, program: kernels.text(row, "program_id"), eventName: events };
    return id === "by_scope" || !events ? undefined : { go: () => open(op) };
  };
  return (
    <Section
      title={t("Kernels")}
      doc={kernels.doc}
      note={t("click a row for its source line, its launch and its figures")}
      controls={
        <Select
          label={t("Grouping")}
          value={by}
          options={GROUPINGS.map(([value, , name]) => [value, name])}
          choose={setGroupChoice}
        />
      }
    >
      <Grid key={id} table={kernels} specs={specs} hideEmpty name={exportName(page, id)} id={id} link={openCard} />
      {dialog}
    </Section>
  );
}

const DEVICE_SPECS = { host: { hidden: true }, event: { hidden: true } } as const;

function Copies({ page }: { page: PageProps }) {
  const copies = page.answer.table("copies");
  const [open, dialog] = useOpDialog(page.store);
  const openCard = (row: Row) => {
    const event = { host: copies.text(row, "host"), event: copies.numberOrZero(row, "event") };
    const name = copies.text(row, "kind") || copies.label;
    return { go: () => open({ table: copies, row, name, program: "", eventName: "", event }) };
  };
  return (
    <TableSection
      page={page}
      id="copies"
      specs={DEVICE_SPECS}
      note={t("click a row for its longest copy")}
      link={openCard}
    >
      {dialog}
    </TableSection>
  );
}

function Devices({ page }: { page: PageProps }) {
  const devices = page.answer.table("devices");
  return (
    <TableSection
      page={page}
      id="devices"
      specs={DEVICE_SPECS}
      link={(row) => linkToDevice(page.store, devices.text(row, "host"), devices.text(row, "device"))}
    />
  );
}

export default function KernelPage(props: PageProps) {
  const { answer } = props;
  const [, choose] = useChoices();
  const pick = (name: string, column: string) =>
    choose({ by: "launch", [column === "short" ? "kernels.find" : `kernels.only.${column}`]: name });
  const note = t("{count, plural, one {# launch} other {# launches}}, {time} in kernels.", {
    count: answer.number("launches") ?? 0,
    time: formatTime(answer.number("kernel_time_us") ?? 0, "us"),
  });
  return (
    <>
      <PageHead page={props} more={note} />
      <ShareLists shares={answer.table("shares")} times="total_us" pick={pick} />
      <Kernels page={props} />
      <Copies page={props} />
      <Devices page={props} />
    </>
  );
}
