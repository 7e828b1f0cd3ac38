/** Steps that figures do not cover. */

import { t } from "../../base/messages";

/** Why a step is not in the averages. */
export const LEFT_OUT_REASONS: Readonly<Record<string, string>> = {
  cut: t("incomplete"),
  warm_up: t("warming up"),
  unusual: t("unlike the others"),
  extreme: t("among the shortest or longest"),
  not_chosen: t("not chosen"),
};
