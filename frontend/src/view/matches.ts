/** What the values are called by which a row says that only one of the session and its baseline has it. */

import { t } from "../base/messages";

export const MATCHES: Readonly<Record<string, string>> = {
  new: t("only here"),
  gone: t("only in the baseline"),
};
