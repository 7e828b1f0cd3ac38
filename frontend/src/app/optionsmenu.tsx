/** The options of a tool, as the server declares them; what is set stands in the URL. */

import { t } from "../base/messages";
import type { Param } from "../base/schema";
import { isBaseline, type Store } from "../state/store";
import { Menu } from "../view/menu";

/** What options are called; of those of other distributions' tools the name says it. */
const OPTION_LABELS: Readonly<Record<string, string>> = {
  steps: t("Steps to average"),
  step_event: t("Events that are steps"),
  group_by: t("Grouping"),
  module_name: t("Program"),
  node_name: t("Instruction"),
  graph_width: t("Hops"),
  open: t("Opened instructions"),
  find: t("Words to find"),
  peak_tflops: t("Peak TFLOP/s"),
  peak_gbps: t("Peak GB/s"),
  memory_id: t("Memory"),
  memory_space: t("Memory space"),
  position: t("Position"),
  begin_ms: t("Start, ms"),
  end_ms: t("End, ms"),
  at_ms: t("Moment, ms"),
  calls: t("Slowest calls"),
  worker: t("Worker"),
  other: t("Compared with"),
  base_items: t("Items per step of the base"),
  new_items: t("Items per step of the new side"),
  bases: t("More captures of the base"),
  news: t("More captures of the new side"),
  match: t("Names of sessions"),
  read: t("Sessions to read"),
};

function labelOf(name: string): string {
  return OPTION_LABELS[name] ?? name.charAt(0).toUpperCase() + name.slice(1).replaceAll("_", " ");
}

/** Values that the answer lists for an option, without those that it lists twice. */
function candidateValues(store: Store, { candidates }: Param): string[] {
  const [name = "", column = ""] = candidates.split(".");
  const table = store.answer.state.value.value?.table(name);
  return table?.has(column) ? table.distinct(column) : [];
}

function OptionField({ store, param }: { store: Store; param: Param }) {
  const value = store.view.value.options[param.name] ?? param.default;
  const set = (text: string) => {
    const chosen = text === param.default ? "" : text;
    store.go({ options: { ...store.view.peek().options, [param.name]: chosen } });
  };
  const id = `param-${param.name}`;
  return (
    <div class="param">
      <label for={id}>{labelOf(param.name)}</label>
      {param.choices.length > 0 ? (
        <select id={id} value={value} onChange={(event) => set(event.currentTarget.value)}>
          {param.choices.map((choice) => (
            <option key={choice} value={choice}>
              {choice}
            </option>
          ))}
        </select>
      ) : (
        <>
          <input
            id={id}
            type="search"
            list={`${id}-candidates`}
            value={value}
            onChange={(event) => set(event.currentTarget.value.trim())}
          />
          <datalist id={`${id}-candidates`}>
            {candidateValues(store, param).map((candidate) => (
              <option key={candidate} value={candidate} />
            ))}
          </datalist>
        </>
      )}
      <small class="quiet">{param.doc}</small>
    </div>
  );
}

export function OptionsMenu({ store }: { store: Store }) {
  const tool = store.tool.value;
  // Options of streamed data are for scripts: the page shows what it moves to.
  if (!tool || tool.unavailable || tool.streamed) return null;
  // The baseline is chosen in the bar.
  const params = tool.params.filter((param) => !isBaseline(param));
  if (!params.length) return null;
  const setCount = params.filter((param) => store.view.value.options[param.name]).length;
  return (
    <Menu
      label={setCount ? t("Options ({set})", { set: setCount }) : t("Options")}
      tip={t("Options: {page}", { page: tool.title })}
      align="right"
    >
      {() => params.map((param) => <OptionField key={param.name} store={store} param={param} />)}
    </Menu>
  );
}
