/** Trees of calls as flame graphs or bottom up, with what they are weighed by, and as files for other tools. */

import { useMemo } from "preact/hooks";
import { isReport } from "../api/client";
import { type CallTree, callName, pathTo, type WeightedCalls } from "../base/calltree";
import { t } from "../base/messages";
import type { Answer } from "../base/table";
import type { Store } from "../state/store";
import { CallTable, weightText } from "./calltable";
import { useChoice } from "./choices";
import { FlameGraph } from "./flamegraph";
import { Menu } from "./menu";
import { ProblemLine } from "./problems";
import { Select } from "./select";
import { withElements } from "./slots";
import { useResource } from "./useresource";

const FILE_FORMATS = [
  ["speedscope", "speedscope", ".json"],
  ["pprof", "pprof", ".pb.gz"],
  ["collapsed", t("Collapsed stacks"), ".txt"],
] as const;

/** Ways to show a table's rows as calls: what the address says, and what it is called. */
export const CALL_VIEWS = [
  ["flame", t("as a flame graph")],
  ["callers", t("bottom-up")],
] as const;

interface CallControlsProps {
  readonly calls: WeightedCalls | null;
  readonly weight: string;
  readonly setWeight: (weight: string) => void;
  readonly fileAddress: (weight: string, format: string) => string;
  /** The session that colours compare with; empty where they do not. */
  readonly base: string;
}

export function CallControls({ calls, weight, setWeight, fileAddress, base }: CallControlsProps) {
  const weights = calls?.weights ?? [];
  return (
    <>
      {weights.length > 1 && (
        <Select
          label={t("Weigh calls by")}
          value={weight}
          options={weights.map(({ id, label }) => [id, label])}
          choose={setWeight}
        />
      )}
      {!isReport() && <SaveMenu href={(format) => fileAddress(weight, format)} />}
      {base && calls?.delta && (
        <span class="quiet">{withElements(t("red: more than {run}, blue: less"), { run: <b>{base}</b> })}</span>
      )}
    </>
  );
}

function SaveMenu({ href }: { href: (format: string) => string }) {
  return (
    <Menu label={t("Save")} tip={t("The calls as a file for other tools")}>
      {(close) => (
        <div class="items">
          {FILE_FORMATS.map(([format, title, suffix]) => (
            <a key={format} href={href(format)} download onClick={close}>
              {title} <span class="quiet">({suffix})</span>
            </a>
          ))}
        </div>
      )}
    </Menu>
  );
}

interface CallViewProps {
  readonly calls: WeightedCalls | null;
  readonly inverted: boolean;
  readonly label: string;
  readonly find?: string;
  readonly dark: boolean;
}

export function CallView({ calls, inverted, label, find = "", dark }: CallViewProps) {
  if (!calls) return <p class="quiet">{t("Merging the calls …")}</p>;
  const weight = calls.weights.find(({ id }) => id === calls.weight)?.label ?? calls.weight;
  if (!calls.parent.length) return <p class="quiet">{t("Nothing here has this weight: {weight}.", { weight })}</p>;
  if (inverted) return <CallTable tree={calls} label={label} find={find} weight={weight} />;
  return (
    <>
      <FlameGraph tree={calls} label={label} find={find} dark={dark} />
      <BaseOnlyCalls tree={calls} weight={weight} />
    </>
  );
}

/** What the baseline alone has, which has no width in the flame graph: the heaviest, the others, and the sum. */
function BaseOnlyCalls({ tree, weight }: { tree: CallTree; weight: string }) {
  const baseOnly = tree.base_only;
  if (!baseOnly?.nodes.length) return null;
  return (
    <table class="legend base-calls">
      <thead>
        <tr>
          <th scope="col">{t("Only in the baseline")}</th>
          <th scope="col" class="number">
            {weight}
          </th>
        </tr>
      </thead>
      <tbody>
        {baseOnly.nodes.map((node) => (
          <tr key={node}>
            <th
              scope="row"
              data-tip={pathTo(tree, node)
                .map((ancestor) => callName(tree, ancestor))
                .join("\n")}
            >
              {callName(tree, node)}
            </th>
            <td class="number">{weightText(tree, tree.base_total?.[node] ?? 0)}</td>
          </tr>
        ))}
        {baseOnly.others > 0 && (
          <tr>
            <th scope="row">{t("+{count} more", { count: baseOnly.others })}</th>
            <td class="number">{weightText(tree, baseOnly.others_total)}</td>
          </tr>
        )}
        <tr class="sum">
          <th scope="row">{t("Sum")}</th>
          <td class="number">{weightText(tree, baseOnly.total)}</td>
        </tr>
      </tbody>
    </table>
  );
}

interface TableCallsProps {
  readonly answer: Answer;
  /** Its id. */
  readonly table: string;
  /** One of `CALL_VIEWS`. */
  readonly view: string;
  readonly store: Store;
}

/** The rows of a table that lie within each other. */
export function TableCalls({ answer, table, view, store }: TableCallsProps) {
  const [chosenWeight, setWeight] = useChoice(`${table}.weight`);
  const source = useMemo(() => answer.source(table), [answer, table]);
  const inverted = view === "callers";
  const { value: calls, problem } = useResource(
    source && ((signal) => source.calls({ weight: chosenWeight, inverted }, signal)),
    [source, chosenWeight, inverted],
  );
  if (!source) return null;
  if (problem) return <ProblemLine problem={problem} />;
  return (
    <>
      <div class="call-controls">
        <CallControls
          calls={calls}
          weight={calls?.weight ?? chosenWeight}
          // The first is what is shown without a choice, also in reports.
          setWeight={(id) => setWeight(id === calls?.weights[0]?.id ? "" : id)}
          fileAddress={source.callsFile}
          base={inverted ? "" : store.view.value.base}
        />
      </div>
      <CallView
        calls={calls}
        inverted={inverted}
        label={answer.table(table).label}
        dark={store.theme.value === "dark"}
      />
    </>
  );
}
