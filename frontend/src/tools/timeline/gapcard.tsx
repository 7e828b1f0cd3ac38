/** Why a device does nothing for a while: what is waited for, what comes next, and how late that was launched. */

import type { Gap } from "../../api/timeline";
import { formatPercent } from "../../base/format";
import { t } from "../../base/messages";
import { displayName, partById } from "../../base/parts";
import { lengthLabel } from "../../canvas/timeaxis";
import { Swatch } from "../../view/stackbar";

/** The next work, and how late it was launched. */
function nextWorkText({ next: work, launched_by, late_ps }: Gap): string {
  if (!launched_by || late_ps === null) return t("Next: {work}.", { work });
  const of = { work, call: launched_by, time: lengthLabel(Math.abs(late_ps)) };
  return late_ps >= 0
    ? t("Next: {work}, launched by {call} {time} after the gap began.", of)
    : t("Next: {work}, launched by {call} {time} before the gap.", of);
}

export function GapCard({ gap, goToGap }: { gap: Gap; goToGap: (step: 1 | -1) => void }) {
  const length = gap.end - gap.begin;
  return (
    <div class="tl-gap">
      <h3 aria-live="polite">{t("{device} idle for {time}", { device: gap.device, time: lengthLabel(length) })}</h3>
      <div class="stackbar" aria-hidden="true">
        {gap.parts.map(({ state, name, share }) => (
          <span
            key={`${state} ${name}`}
            class={`piece pattern-${partById(state).pattern}`}
            style={{ flexGrow: share, backgroundColor: `var(--part-${state})` }}
          />
        ))}
      </div>
      {gap.next && <p>{nextWorkText(gap)}</p>}
      <table class="legend">
        <tbody>
          {gap.parts.map(({ state, name, ps, share }) => (
            <tr key={`${state} ${name}`}>
              <th scope="row">
                <Swatch id={state} />
                {displayName(name)}
              </th>
              <td class="number">{lengthLabel(ps)}</td>
              <td class="number">{formatPercent(share)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="tl-buttons">
        <button type="button" class="button" disabled={!gap.before} data-tip={t("Key: [")} onClick={() => goToGap(-1)}>
          {t("‹ Previous gap")}
        </button>
        <button type="button" class="button" disabled={!gap.after} data-tip={t("Key: ]")} onClick={() => goToGap(1)}>
          {t("Next gap ›")}
        </button>
      </p>
    </div>
  );
}
