/** Binary search. */

/** The first index from `low` on for which a condition holds that holds for all after it; `high` where none does. */
export function firstIndex(low: number, high: number, holds: (index: number) => boolean): number {
  let [first, end] = [low, high];
  while (first < end) {
    const middle = (first + end) >> 1;
    if (holds(middle)) end = middle;
    else first = middle + 1;
  }
  return first;
}
