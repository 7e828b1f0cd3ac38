/** The lanes of a session, and how far the server is with them. */

import { useEffect, useState } from "preact/hooks";
import { api as serverApi } from "../../api/client";
import type { Lanes, TimelineApi } from "../../api/timeline";
import type { Progress } from "../../base/schema";
import { useResource } from "../../view/useresource";

const POLL_MS = 400;

export function useLanes(api: TimelineApi, run: string) {
  const { value: lanes, problem, loading } = useResource<Lanes>((signal) => api.lanes(signal), [api, run]);
  const [progress, setProgress] = useState<Progress | null>(null);
  useEffect(() => {
    if (!loading) return;
    const controller = new AbortController();
    const poll = setInterval(() => serverApi.progress(run, controller.signal).then(setProgress, () => {}), POLL_MS);
    return () => {
      clearInterval(poll);
      controller.abort();
    };
  }, [api, run, loading]);
  return { lanes, problem, progress };
}
