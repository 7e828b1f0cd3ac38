/** A value that a component loads, as long as it is mounted. */

import { useEffect, useMemo } from "preact/hooks";
import { type ResourceState, resource } from "../state/resource";

/** What `load` answers, from the start anew whenever one of the `inputs` changes; nothing is loaded where it is null. */
export function useResource<T>(
  load: ((signal: AbortSignal) => Promise<T>) | null,
  inputs: readonly unknown[],
): ResourceState<T> {
  const loaded = useMemo(
    () =>
      resource(
        () => (load ? "" : null),
        (signal) => (load as NonNullable<typeof load>)(signal),
      ),
    inputs,
  );
  useEffect(() => loaded.dispose, [loaded]);
  return loaded.state.value;
}
