/** The lanes of a session, and how far the server is with them. */

import { useEffect, useState } from "preact/hooks";
import { api as serverApi } from "../../api/client";
import type { Lanes, TimelineApi } from "../../api/timeline";
import type { Problem, Progress } from "../../base/schema";
import { toProblem } from "../../state/resource";

const POLL_MS = 400;

export function useLanes(api: TimelineApi, run: string) {
  const [lanes, setLanes] = useState<{ api: TimelineApi; lanes: Lanes | null; problem: Problem | null } | null>(null);
  const [progress, setProgress] = useState<Progress | null>(null);
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    const poll = setInterval(() => serverApi.progress(run, signal).then(setProgress, () => {}), POLL_MS);
    api
      .lanes(signal)
      .then(
        (loaded) => setLanes({ api, lanes: loaded, problem: null }),
        (error: unknown) => !signal.aborted && setLanes({ api, lanes: null, problem: toProblem(error) }),
      )
      .finally(() => clearInterval(poll));
    return () => {
      clearInterval(poll);
      controller.abort();
    };
  }, [api, run]);
  return { ...(lanes?.api === api ? lanes : { lanes: null, problem: null }), progress };
}
