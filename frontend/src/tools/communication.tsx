/** What do workers exchange, how fast, and who do they wait for? Collectives as rows, an arrival of each worker on them. */

import { largest, smallest } from "../base/extent";
import { formatTime } from "../base/format";
import { groupBy } from "../base/group";
import { joinNames, t } from "../base/messages";
import type { Row, Table } from "../base/table";
import { linkToTimeOnHosts } from "../state/links";
import type { Store } from "../state/store";
import { MissingRanks } from "../view/problems";
import { useOpDialog } from "./card/opcard";
import GenericPage from "./generic";
import type { PageProps } from "./page";

interface Collective {
  readonly number: string;
  readonly kind: string;
  readonly transferUs: number;
  /** After the first arrival. */
  readonly lastArrivalUs: number;
  readonly arrivals: readonly { readonly worker: string; readonly atUs: number; readonly isLate: boolean }[];
  /** When it began anywhere, and until when it took, in ms since the session's first event. */
  readonly beginMs: number;
  readonly endMs: number;
  /** Hosts of the first and the last to arrive. */
  readonly hosts: readonly string[];
}

function collectivesOf(table: Table): Collective[] {
  const rowsByCollective = groupBy(table.rows, (row) => table.text(row, "collective"));
  return [...rowsByCollective].map(([number, workerRows]) => {
    const [first = []] = workerRows;
    const arrivals = workerRows.map((row) => ({
      worker: table.text(row, "worker"),
      atUs: table.numberOrZero(row, "arrives_us"),
      isLate: table.cell(row, "late") === true,
    }));
    const byArrival = workerRows.toSorted(
      (a, b) => table.numberOrZero(a, "arrives_us") - table.numberOrZero(b, "arrives_us"),
    );
    return {
      beginMs: smallest(workerRows.map((row) => table.numberOrZero(row, "begin_ms"))),
      endMs: largest(workerRows.map((row) => table.numberOrZero(row, "end_ms"))),
      hosts: [...new Set([byArrival[0], byArrival.at(-1)].map((row) => table.text(row ?? [], "host")))],
      number,
      kind: table.text(first, "kind"),
      transferUs: table.numberOrZero(first, "transfer_us"),
      lastArrivalUs: largest(arrivals.map(({ atUs }) => atUs)),
      arrivals,
    };
  });
}

interface CollectiveRowProps {
  readonly collective: Collective;
  readonly longestUs: number;
  readonly store: Store;
}

function CollectiveRow({ collective, longestUs, store }: CollectiveRowProps) {
  const { number, kind, arrivals, lastArrivalUs, transferUs, beginMs, endMs, hosts } = collective;
  const link = linkToTimeOnHosts(store, beginMs, endMs - beginMs, hosts);
  const percentOfLongest = (us: number) => `${(100 * us) / longestUs}%`;
  const lateWorkers = arrivals.filter(({ isLate }) => isLate).map(({ worker }) => worker);
  return (
    <tr>
      <th scope="row">
        {link ? (
          <a href={link.href} data-tip={t("Timeline of the first and the last worker to arrive")}>
            {number} {kind}
          </a>
        ) : (
          `${number} ${kind}`
        )}
      </th>
      <td class="workers-arrive">
        <span class="waits" style={{ width: percentOfLongest(lastArrivalUs) }} />
        <span class="moves" style={{ left: percentOfLongest(lastArrivalUs), width: percentOfLongest(transferUs) }} />
        {arrivals.map(({ worker, atUs, isLate }) => (
          <i
            key={worker}
            class={isLate ? "worker-arrives late" : "worker-arrives"}
            style={{ left: percentOfLongest(atUs) }}
            data-tip={
              isLate
                ? t("{worker} arrives {time} after the first, and last", { worker, time: formatTime(atUs, "us") })
                : t("{worker} arrives {time} after the first", { worker, time: formatTime(atUs, "us") })
            }
          />
        ))}
      </td>
      <td>{joinNames(lateWorkers)}</td>
      <td class="number">{formatTime(lastArrivalUs, "us")}</td>
      <td class="number">{formatTime(transferUs, "us")}</td>
    </tr>
  );
}

function ArrivalChart({ table, store }: { table: Table; store: Store }) {
  const collectives = collectivesOf(table);
  const longestUs = largest(collectives.map(({ lastArrivalUs, transferUs }) => lastArrivalUs + transferUs)) || 1;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the scroll area must be reachable by keyboard
    <div class="scroller" tabIndex={0}>
      <table class="arrival-chart">
        <thead>
          <tr>
            <th scope="col">{t("Collective")}</th>
            <th scope="col">{t("Dots: workers arrive; hatched: others wait; solid: data moves")}</th>
            <th scope="col">{t("Last")}</th>
            <th scope="col" class="number">
              {t("Late by")}
            </th>
            <th scope="col" class="number">
              {t("Transfer")}
            </th>
          </tr>
        </thead>
        <tbody>
          {collectives.map((collective) => (
            <CollectiveRow key={collective.number} collective={collective} longestUs={longestUs} store={store} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

export default function CommunicationPage(props: PageProps) {
  const { store } = props;
  const [open, dialog] = useOpDialog(store);
  const openCard = (_id: string, table: Table, row: Row) => {
    const event = table.number(row, "event");
    if (event === null) return undefined;
    const [name, host] = [table.text(row, "kind"), table.text(row, "host")];
    return { go: () => open({ table, row, name, program: "", eventName: "", event: { host, event } }) };
  };
  return (
    <>
      <GenericPage
        {...props}
        belowHeadline={<MissingRanks notes={props.answer.notes} />}
        linkRow={openCard}
        drawTable={{ arrivals: (table) => <ArrivalChart table={table} store={store} /> }}
      />
      {dialog}
    </>
  );
}
