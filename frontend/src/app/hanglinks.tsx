/** Links to what dumps of PyTorch's flight recorder tell of hangs. */

import { isReport, routeAddress } from "../api/client";
import { t } from "../base/messages";
import type { SessionList } from "../base/schema";

export function HangLinks({ list }: { list: SessionList }) {
  const { dumps } = list.found;
  if (!dumps.length || isReport()) return null;
  return (
    <section class="hangs" aria-label={t("Hangs")}>
      <h3>{t("Hangs")}</h3>
      <ul>
        {dumps.map((folder) => (
          <li key={folder}>
            <a href={routeAddress("hang", { folder })} target="_blank" rel="noopener">
              {folder}
            </a>
          </li>
        ))}
      </ul>
    </section>
  );
}
