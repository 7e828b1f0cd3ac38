/** Whether the window is as narrow as a phone's: 700 px, as the styles have it. */

import { useEffect, useMemo, useState } from "preact/hooks";

export function useNarrow(): boolean {
  const query = useMemo(() => matchMedia("(max-width: 700px)"), []);
  const [isNarrow, setNarrow] = useState(query.matches);
  useEffect(() => {
    const change = () => setNarrow(query.matches);
    query.addEventListener("change", change);
    return () => query.removeEventListener("change", change);
  }, [query]);
  return isNarrow;
}
