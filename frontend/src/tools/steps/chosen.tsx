/** Which steps figures go over, on every page: the typical ones, all, or a range of places. */

import { t } from "../../base/messages";
import { useChoice } from "../../view/choices";

export function StepChoice({ any }: { any: boolean }) {
  const [steps, choose] = useChoice("steps");
  if (!any) return null;
  const known = ["", "all"];
  return (
    <label data-tip={t("Steps that figures cover, on all pages.")}>
      {t("Over")}{" "}
      <select value={steps} onChange={(event) => choose(event.currentTarget.value)}>
        <option value="">{t("typical steps")}</option>
        <option value="all">{t("all complete steps")}</option>
        {!known.includes(steps) && <option value={steps}>{t("steps {steps}", { steps })}</option>}
      </select>
    </label>
  );
}
