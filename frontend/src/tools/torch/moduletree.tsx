/** The modules of a PyTorch model as a tree of rows that open, with the forward and the backward pass as one bar. */

import { useMemo } from "preact/hooks";
import { formatCount, formatPercent, formatTime } from "../../base/format";
import { groupBy } from "../../base/group";
import { t } from "../../base/messages";
import type { Row, Table } from "../../base/table";
import { DeltaCell, deltaMs } from "../../view/delta";
import { keysOpenAtFirst, NameCell, ShareCell, type TreeRows, TreeTable, useTreeRows } from "../../view/treerows";

const ROOT = "";
const SHARE = t("Share");
const TEXT_HEADS: ReadonlySet<string> = new Set([SHARE]);

interface ModuleTimes {
  readonly forwardUs: number;
  readonly backwardUs: number;
}

/** In µs, on devices where they recorded anything, else on the host. */
function moduleTimes(modules: Table): {
  readonly place: "device" | "host";
  readonly timesOf: (row: Row) => ModuleTimes;
} {
  const columns = ["device_total_us", "backward_device_us"];
  const onDevice = modules.rows.some((row) => columns.some((id) => modules.numberOrZero(row, id) > 0));
  const place = onDevice ? "device" : "host";
  const of = (row: Row) => ({
    forwardUs: modules.numberOrZero(row, `${place}_total_us`),
    backwardUs: modules.numberOrZero(row, `backward_${place}_us`),
  });
  return { place, timesOf: of };
}

/** The path of the innermost of the modules around one. */
function enclosingPath(path: string, paths: ReadonlySet<string>): string {
  let enclosing = path;
  do enclosing = enclosing.slice(0, Math.max(0, enclosing.lastIndexOf("/")));
  while (enclosing && !paths.has(enclosing));
  return enclosing;
}

/** Modules by the module around them. */
export function moduleTree(modules: Table): TreeRows<string> {
  const keyOf = (row: Row) => modules.text(row, "module");
  const paths = new Set(modules.rows.map(keyOf));
  const children = groupBy(modules.rows, (row) => enclosingPath(keyOf(row), paths));
  return { children, open: keysOpenAtFirst(modules, "share", keyOf), keyOf };
}

interface ModuleTreeProps {
  readonly modules: Table;
  readonly choose: (row: Row) => void;
}

export function ModuleTree({ modules, choose }: ModuleTreeProps) {
  const times = useMemo(() => moduleTimes(modules), [modules]);
  const tree = useMemo(() => moduleTree(modules), [modules]);
  const { rows, isOpen, toggle } = useTreeRows(tree, ROOT);
  const hasBackward = modules.rows.some((row) => times.timesOf(row).backwardUs > 0);
  const deltaColumn = `${times.place}_total_us`;
  const heads = [
    t("Forward"),
    ...(modules.has(`delta_${deltaColumn}`) ? [t("Δ per step")] : []),
    ...(hasBackward ? [t("Backward")] : []),
    SHARE,
    t("Forward self"),
    ...(times.place === "device" ? [t("Forward on host")] : []),
    t("Calls"),
  ];
  return (
    <div class="optree">
      <p class="quiet optree-legend">
        {times.place === "device" ? t("Time on the device:") : t("Time on the host:")} <i /> {t("forward")}{" "}
        {hasBackward && <BackwardLegend />}
        {modules.rest &&
          ` · ${t("the {count} largest of {all} modules", { count: modules.rows.length, all: modules.total })}`}
      </p>
      <TreeTable name={t("Module")} heads={heads} textHeads={TEXT_HEADS}>
        {rows.map((row) => {
          const path = tree.keyOf(row);
          const shared = { modules, row, deltaColumn, hasBackward, place: times.place, times: times.timesOf(row) };
          return (
            <ModuleRow
              key={path}
              {...shared}
              isOpen={isOpen(path)}
              toggle={() => toggle(path)}
              choose={() => choose(row)}
            />
          );
        })}
      </TreeTable>
    </div>
  );
}

function BackwardLegend() {
  return (
    <>
      <i class="backward" /> {t("backward")}
    </>
  );
}

interface ModuleRowProps {
  readonly modules: Table;
  readonly row: Row;
  readonly place: "device" | "host";
  /** The column whose difference from the baseline's is shown. */
  readonly deltaColumn: string;
  readonly hasBackward: boolean;
  readonly times: ModuleTimes;
  readonly isOpen: boolean | undefined;
  readonly toggle: () => void;
  readonly choose: () => void;
}

function ModuleRow({ modules, row, place, deltaColumn, hasBackward, times, isOpen, toggle, choose }: ModuleRowProps) {
  const path = modules.text(row, "module");
  const name = path.split("/").at(-1) ?? path;
  const match = modules.text(row, "match");
  const timeOf = (id: string) => modules.formatCell(row, id, (us) => formatTime(us, "us"));
  const share = modules.numberOrZero(row, "share");
  const delta = deltaMs(modules, row, deltaColumn);
  return (
    <tr class={match === "gone" ? "gone" : undefined}>
      <NameCell
        name={name}
        depth={path.split("/").length - 1}
        tip={path.replaceAll("/", " / ")}
        isOpen={isOpen}
        toggle={toggle}
        choose={choose}
        match={match}
      />
      <td class="number">{timeOf(`${place}_total_us`)}</td>
      {delta !== undefined && <DeltaCell delta={delta} show={(ms) => formatTime(ms)} />}
      {hasBackward && <td class="number">{timeOf(`backward_${place}_us`)}</td>}
      <ShareCell text={share > 0 ? formatPercent(share) : ""} length={share}>
        <i style={{ flexGrow: times.forwardUs }} />
        <i class="backward" style={{ flexGrow: times.backwardUs }} />
      </ShareCell>
      <td class="number">{timeOf(`${place}_self_us`)}</td>
      {place === "device" && <td class="number">{timeOf("host_total_us")}</td>}
      <td class="number">{modules.formatCell(row, "count", formatCount)}</td>
    </tr>
  );
}
