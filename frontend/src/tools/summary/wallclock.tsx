/** What the wall clock went into: every moment of the capture once, by place and by what was done there. */

import { formatPercent, formatTime, MS_PER_PS } from "../../base/format";
import { t } from "../../base/messages";
import { partById, sortByCategory } from "../../base/parts";
import type { Answer } from "../../base/table";
import { Section } from "../../view/section";
import { StackBar } from "../../view/stackbar";

export function WallClock({ answer }: { answer: Answer }) {
  const table = answer.table("accounting");
  const places = answer.table("places");
  const totalMs = (answer.number("window_ps") ?? 0) * MS_PER_PS;
  const coverage = answer.number("coverage");
  const note = coverage === null ? "" : t("steps cover {share}", { share: formatPercent(coverage, 0) });
  return (
    <Section title={table.label} doc={table.doc} note={note}>
      <table class="legend wallclock">
        <tbody>
          {places.rows.map((place) => {
            const id = places.text(place, "place");
            const placeMs = places.numberOrZero(place, "time_ps") * MS_PER_PS;
            const pieces = sortByCategory(table.where({ place: id }), "id").map((row) => ({
              part: partById(table.text(row, "id")),
              label: table.text(row, "label"),
              ms: table.numberOrZero(row, "time_ps") * MS_PER_PS,
            }));
            return (
              <tr key={id}>
                <th scope="row">{places.text(place, "label")}</th>
                <td class="number">{formatTime(placeMs)}</td>
                <td class="number">{places.formatCell(place, "share", (share) => formatPercent(share))}</td>
                <td class="bar">
                  <StackBar pieces={pieces} totalMs={placeMs} />
                </td>
              </tr>
            );
          })}
          <tr class="sum">
            <th scope="row">{t("Recorded")}</th>
            <td class="number">{formatTime(totalMs)}</td>
            <td class="number">{formatPercent(1)}</td>
            <td />
          </tr>
        </tbody>
      </table>
    </Section>
  );
}
