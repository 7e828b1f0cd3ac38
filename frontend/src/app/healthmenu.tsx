/** Capture health: what is missing from or odd about the capture, behind a button that says how much there is. */

import { t } from "../base/messages";
import { worstFirst } from "../state/doubts";
import type { Store } from "../state/store";
import { Icon } from "../view/icons";
import { Menu } from "../view/menu";
import { Findings } from "../view/problems";

export function HealthMenu({ store }: { store: Store }) {
  const problems = store.details.state.value.value?.problems ?? [];
  const first = worstFirst(problems)[0];
  if (!first) return null;
  const error = first.severity === "error";
  const count = problems.length;
  return (
    <Menu
      class={`button health ${first.severity}`}
      align="right"
      tip={first.message}
      label={
        <>
          <Icon name={error ? "error" : first.severity} />{" "}
          <span class="narrow">{t("{count, plural, one {# note} other {# notes}}", { count })}</span>
          <span class="wide">{t("{count, plural, one {# note} other {# notes}} on this capture", { count })}</span>
        </>
      }
    >
      {() => <Findings problems={problems} />}
    </Menu>
  );
}
