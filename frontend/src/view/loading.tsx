/** What is being done and how far it is. */

import { formatPercent } from "../base/format";
import { joinNames, t } from "../base/messages";
import type { Progress } from "../base/schema";

interface LoadingProps {
  readonly what: string;
  readonly progress: Progress | null;
}

function Phases({ progress }: { progress: Progress }) {
  const unfinished = progress.hosts.filter((host) => host.fraction < 1);
  const visibleHosts = unfinished.length ? unfinished : progress.hosts;
  return (
    <>
      {visibleHosts.slice(0, 8).map(({ host, phase, fraction }) => (
        <div class="phase" key={host}>
          <span class="host">{host}</span>
          <span class="name">{phase}</span>
          <progress max={1} value={fraction} aria-label={`${host}: ${phase}`} />
          <span class="number">{formatPercent(fraction, 0)}</span>
        </div>
      ))}
      {visibleHosts.length > 8 && (
        <p class="quiet">{t("and {count} more hosts", { count: visibleHosts.length - 8 })}</p>
      )}
      {!unfinished.length && progress.computing.length > 0 && (
        <p>{t("Computing: {pages}", { pages: joinNames(progress.computing) })}</p>
      )}
    </>
  );
}

export function Loading({ what, progress }: LoadingProps) {
  return (
    <section class="state loading" role="status" aria-live="polite">
      <h2>
        <span class="spinner" aria-hidden="true" /> {what}
      </h2>
      {progress && <Phases progress={progress} />}
    </section>
  );
}
