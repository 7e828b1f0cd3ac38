/** What the server's checks of itself found, for someone whose capture does not appear. */

import { captureApi } from "../api/capture";
import { t } from "../base/messages";
import { ProblemLine } from "../view/problems";
import { useResource } from "../view/useresource";

/** That there is no capture is what the page says anyway. */
const ON_PAGE_ALREADY: ReadonlySet<string> = new Set(["no_captures", "near_miss"]);

export function DoctorFindings() {
  const { value: findings } = useResource(captureApi.doctor, []);
  const shown = findings?.filter((finding) => finding.severity !== "info" && !ON_PAGE_ALREADY.has(finding.code));
  // Where they do not come, the rest of the page says what to do without them.
  if (!shown?.length) return null;
  return (
    <>
      <h3>{t("Found on the machine of this server (tb-profile doctor)")}</h3>
      <ul class="problems">
        {shown.map((finding) => (
          <ProblemLine key={finding.code + finding.where + finding.message} problem={finding} />
        ))}
      </ul>
    </>
  );
}
