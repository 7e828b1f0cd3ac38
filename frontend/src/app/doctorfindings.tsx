/** What the server's checks of itself found, for someone whose capture does not appear. */

import { useEffect, useState } from "preact/hooks";
import { captureApi } from "../api/capture";
import { t } from "../base/messages";
import type { Problem } from "../base/schema";
import { ProblemLine } from "../view/problems";

/** That there is no capture is what the page says anyway. */
const ON_PAGE_ALREADY: ReadonlySet<string> = new Set(["no_captures", "near_miss"]);

export function DoctorFindings() {
  const [findings, setFindings] = useState<readonly Problem[]>([]);
  useEffect(() => {
    captureApi.doctor().then(setFindings, () => {
      // The rest of the page says what to do without them.
    });
  }, []);
  const shown = findings.filter((finding) => finding.severity !== "info" && !ON_PAGE_ALREADY.has(finding.code));
  if (!shown.length) return null;
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
