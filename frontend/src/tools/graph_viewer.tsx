/** What is around an instruction of an XLA program: what feeds it, what uses it, what is in it? */

import { routeAddress } from "../api/client";
import { joinSentences, t } from "../base/messages";
import type { Row } from "../base/table";
import { useChoice, useChoices } from "../view/choices";
import { Grid } from "../view/grid";
import { saveFile } from "../view/gridmenus";
import { type ColumnSpecs, columnSpecs } from "../view/gridmodel";
import { Menu } from "../view/menu";
import { Section } from "../view/section";
import { Select } from "../view/select";
import { Switch } from "../view/switch";
import { OpCard } from "./card/opcard";
import { exportName, type PageProps } from "./page";
import { PageHead } from "./shared/pagehead";
import { TableSection } from "./shared/tablesection";
import { OpGraph } from "./xla/opgraph";
import { svgFile } from "./xla/svgfile";

const MOST_HOPS = 5;
const DEFAULT_HOPS = "2";
const ALL_FUSIONS = "all";
const NODE_SPECS: ColumnSpecs = {
  share: { bar: true },
  opcode: { facet: true },
  ...columnSpecs(
    "inside more_operands more_users opens opened stack expression config model_gflop_per_s hbm_gib_per_s gtranscendental_per_s total_us average_us self_average_us",
    { hidden: true },
  ),
};
const MATCH_SPECS: ColumnSpecs = {
  program: { facet: true },
  opcode: { facet: true },
  program_id: { hidden: true },
};

function SaveMenu({ page }: { page: PageProps }) {
  const { answer, session, store } = page;
  const { options, host } = store.view.value;
  const name = exportName(page, answer.text("node"));
  const programQuery = {
    run: session.run,
    tag: "graph_viewer",
    host,
    module_name: answer.text("program_id"),
    node_name: answer.text("node"),
  };
  const dotQuery = {
    ...programQuery,
    type: "graph",
    format: "dot",
    graph_width: options.graph_width ?? DEFAULT_HOPS,
    merge_fusion: "1",
  };
  const saveDrawing = () => {
    const drawn = document.querySelector<SVGSVGElement>(".graph-frame svg");
    if (drawn) saveFile(`${name}.svg`, "image/svg+xml", svgFile(drawn));
  };
  return (
    <Menu label={t("Save")} tip={t("Save the graph or the program")} align="right">
      {(close) => (
        <ul class="items">
          <li>
            <button
              type="button"
              onClick={() => {
                saveDrawing();
                close();
              }}
            >
              {t("The drawing as SVG")}
            </button>
          </li>
          <li>
            <a href={routeAddress("data", dotQuery)} download={`${name}.dot`} onClick={close}>
              {t("The graph for Graphviz")}
            </a>
          </li>
          <li>
            <a
              href={routeAddress("data", { ...programQuery, type: "long_txt" })}
              download={`${name}.txt`}
              onClick={close}
            >
              {t("The program as text")}
            </a>
          </li>
        </ul>
      )}
    </Menu>
  );
}

function GraphControls({ page }: { page: PageProps }) {
  const [options, ask] = useChoices();
  const programs = page.answer.table("programs");
  const width = options.graph_width ?? DEFAULT_HOPS;
  return (
    <>
      <Select
        label={t("Program")}
        value={page.answer.text("program_id")}
        options={programs.rows.map((row) => [programs.text(row, "program_id"), programs.text(row, "program")])}
        choose={(program) => ask({ module_name: program, node_name: "", open: "" })}
      />
      <label data-tip={t("Number of hops from the instruction in the center.")}>
        {t("Hops")}{" "}
        <input
          type="range"
          min="1"
          max={MOST_HOPS}
          value={width}
          onChange={(event) => ask({ graph_width: event.currentTarget.value })}
        />{" "}
        {width}
      </label>
      <Switch
        label={t("Open fusions")}
        doc={t("Shows the instructions inside fusions.")}
        on={options.open === ALL_FUSIONS}
        set={(on) => ask({ open: on ? ALL_FUSIONS : "" })}
      />
      <SaveMenu page={page} />
    </>
  );
}

function EnclosingPath({ page }: { page: PageProps }) {
  const [, ask] = useChoices();
  const { answer } = page;
  const path = answer.table("path");
  return (
    <p class="op-path">
      {answer.text("program")}
      {path.rows.map((row, place) => (
        <span key={place}>
          {path.text(row, "name") && (
            <>
              {" ▸ "}
              <button type="button" class="bare" onClick={() => ask({ node_name: path.text(row, "name"), open: "" })}>
                {path.text(row, "name")}
              </button>
            </>
          )}
          {" ▸ "}
          {path.text(row, "computation")}
        </span>
      ))}
    </p>
  );
}

function InstructionSearch({ page }: { page: PageProps }) {
  const [options, ask] = useChoices();
  const matches = page.answer.table("found");
  const words = options.find ?? "";
  const go = (row: Row) =>
    ask({ module_name: matches.text(row, "program_id"), node_name: matches.text(row, "name"), open: "" });
  return (
    <Section
      title={t("Find an instruction")}
      doc={joinSentences(matches.doc, t("All words must occur in its name, opcode, framework op or source line."))}
      controls={
        <input
          type="search"
          aria-label={t("Find an instruction")}
          placeholder={t("name, opcode, op or source line")}
          value={words}
          onChange={(event) => ask({ find: event.currentTarget.value.trim() })}
        />
      }
    >
      {matches.rows.length > 0 && (
        <Grid table={matches} specs={MATCH_SPECS} hideEmpty name={exportName(page, "found")} id="found" onRow={go} />
      )}
      {words && !matches.rows.length && <p class="nothing">{t("No instruction contains all these words.")}</p>}
    </Section>
  );
}

function Neighbourhood({ page }: { page: PageProps }) {
  const [, ask] = useChoices();
  const [selectedName, selectName] = useChoice("op");
  const { answer, store } = page;
  const [nodes, edges] = [answer.table("nodes"), answer.table("edges")];
  const names = nodes.rows.map((row) => nodes.text(row, "name"));
  const selected = Math.max(names.indexOf(selectedName), 0);
  const row = nodes.rows[selected];
  const name = names[selected] ?? "";
  const openFusions = nodes.rows
    .filter((row) => nodes.cell(row, "opened") === true)
    .map((row) => nodes.text(row, "name"));
  const toggleFusion = (place: number) => {
    const fusion = names[place] ?? "";
    const next = openFusions.includes(fusion)
      ? openFusions.filter((name) => name !== fusion)
      : [...openFusions, fusion];
    ask({ open: next.join(",") });
  };
  const center = (place: number) =>
    ask({ node_name: names[place] ?? "", module_name: answer.text("program_id"), op: "" });
  const [shown, all] = [answer.number("shown") ?? 0, answer.number("instructions") ?? 0];
  return (
    <Section
      title={t("Around {name}", { name: answer.text("node") })}
      doc={t("Values flow from top to bottom. Click an instruction for its figures; double-click to center it.")}
      note={t("{shown} of {all} instructions", { shown, all })}
      controls={<GraphControls page={page} />}
    >
      <EnclosingPath page={page} />
      <div class="op-graph">
        <OpGraph
          nodes={nodes}
          edges={edges}
          selected={selected}
          select={(place) => selectName(names[place] ?? "")}
          center={center}
          toggleFusion={toggleFusion}
        />
        {row && (
          <aside>
            <h3>{name}</h3>
            {selected > 0 && (
              <button type="button" class="button" onClick={() => center(selected)}>
                {t("Center it")}
              </button>
            )}
            <OpCard
              store={store}
              op={{ table: nodes, row, name, program: answer.text("program_id"), eventName: name }}
            />
          </aside>
        )}
      </div>
    </Section>
  );
}

export default function GraphViewerPage(props: PageProps) {
  const { answer } = props;
  const nodes = answer.table("nodes");
  const [, choose] = useChoice("op");
  return (
    <>
      <PageHead page={props} />
      {nodes.rows.length > 0 && <Neighbourhood page={props} />}
      <InstructionSearch page={props} />
      <TableSection page={props} id="nodes" specs={NODE_SPECS} onRow={(row) => choose(nodes.text(row, "name"))} />
    </>
  );
}
