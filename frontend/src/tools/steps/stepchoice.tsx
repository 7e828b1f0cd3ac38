/** Which steps figures go over, on every page: the typical ones, all, or a range of places. */

import { t } from "../../base/messages";
import { useChoice } from "../../view/choices";
import { LabelledSelect } from "../../view/select";

export function StepChoice() {
  const [steps, choose] = useChoice("steps");
  const isRange = !["", "all"].includes(steps);
  return (
    <LabelledSelect
      label={t("Over")}
      tip={t("Steps that figures cover, on all pages.")}
      value={steps}
      options={[
        ["", t("typical steps")],
        ["all", t("all complete steps")],
        ...(isRange ? [[steps, t("steps {steps}", { steps })] as const] : []),
      ]}
      choose={choose}
    />
  );
}
