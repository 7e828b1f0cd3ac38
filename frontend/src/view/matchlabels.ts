/** Labels of the values of the column `match` for rows that only the session or only its baseline has. */

import { t } from "../base/messages";

export const MATCH_LABELS: Readonly<Record<string, string>> = {
  new: t("only here"),
  gone: t("only in the baseline"),
};
