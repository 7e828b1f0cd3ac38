/** Drawing a component anew after what signals do not tell of. */

import { useReducer } from "preact/hooks";

export function useRedraw(): () => void {
  const [, redraw] = useReducer((count: number, _: undefined) => count + 1, 0);
  return () => redraw(undefined);
}
