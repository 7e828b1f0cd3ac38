/** What do workers exchange, how fast, and who do they wait for? Collectives as rows, an arrival of each worker on them. */

import { largest, smallest } from "../base/extent";
import { time } from "../base/format";
import { joinNames, t } from "../base/messages";
import type { Row, Table } from "../base/table";
import { linkToTimeOnHosts } from "../state/links";
import type { Store } from "../state/store";
import { MissingRanks } from "../view/problems";
import { useOpDialog } from "./card/opcard";
import Generic from "./generic";
import type { PageProps } from "./page";

interface Collective {
  readonly number: string;
  readonly kind: string;
  /** In µs, as all that follows. */
  readonly transfer: number;
  readonly last: number;
  readonly arrivals: readonly { readonly worker: string; readonly at: number; readonly late: boolean }[];
  /** When it began anywhere, and until when it took, in ms since the session's first event. */
  readonly begin: number;
  readonly end: number;
  /** Of the first and the last to arrive. */
  readonly hosts: readonly string[];
}

function collectivesOf(table: Table): Collective[] {
  const rows = new Map<string, Row[]>();
  for (const row of table.rows) {
    const number = table.text(row, "collective");
    rows.set(number, [...(rows.get(number) ?? []), row]);
  }
  return [...rows].map(([number, mine]) => {
    const [first = []] = mine;
    const arrivals = mine.map((row) => ({
      worker: table.text(row, "worker"),
      at: table.length(row, "arrives_us"),
      late: table.cell(row, "late") === true,
    }));
    const byArrival = mine.toSorted((a, b) => table.length(a, "arrives_us") - table.length(b, "arrives_us"));
    return {
      begin: smallest(mine.map((row) => table.length(row, "begin_ms"))),
      end: largest(mine.map((row) => table.length(row, "end_ms"))),
      hosts: [...new Set([byArrival[0], byArrival.at(-1)].map((row) => table.text(row ?? [], "host")))],
      number,
      kind: table.text(first, "kind"),
      transfer: table.length(first, "transfer_us"),
      last: largest(arrivals.map(({ at }) => at)),
      arrivals,
    };
  });
}

interface LineProps {
  readonly collective: Collective;
  readonly whole: number;
  readonly store: Store;
}

function Line({ collective, whole, store }: LineProps) {
  const { number, kind, arrivals, last, transfer, begin, end, hosts } = collective;
  const link = linkToTimeOnHosts(store, begin, end - begin, hosts);
  const share = (ms: number) => `${(100 * ms) / whole}%`;
  const late = arrivals.filter(({ late }) => late).map(({ worker }) => worker);
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
        <span class="waits" style={{ width: share(last) }} />
        <span class="moves" style={{ left: share(last), width: share(transfer) }} />
        {arrivals.map(({ worker, at, late }) => (
          <i
            key={worker}
            class={late ? "worker-arrives late" : "worker-arrives"}
            style={{ left: share(at) }}
            data-tip={
              late
                ? t("{worker} arrives {time} after the first, and last", { worker, time: time(at, "us") })
                : t("{worker} arrives {time} after the first", { worker, time: time(at, "us") })
            }
          />
        ))}
      </td>
      <td>{joinNames(late)}</td>
      <td class="number">{time(last, "us")}</td>
      <td class="number">{time(transfer, "us")}</td>
    </tr>
  );
}

function Arrivals({ table, store }: { table: Table; store: Store }) {
  const collectives = collectivesOf(table);
  const whole = largest(collectives.map(({ last, transfer }) => last + transfer)) || 1;
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
            <Line key={collective.number} collective={collective} whole={whole} store={store} />
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
    return { go: () => open({ table, row, name, program: "", events: "", event: { host, event } }) };
  };
  return (
    <>
      <Generic
        {...props}
        below={<MissingRanks notes={props.answer.notes} />}
        link={openCard}
        drawn={{ arrivals: (table) => <Arrivals table={table} store={store} /> }}
      />
      {dialog}
    </>
  );
}
