/** Least and largest of many values, for drawing; not by spreading, since a call takes only so many arguments. */

export function largest(values: Iterable<number>, atLeast = 0): number {
  let most = atLeast;
  for (const value of values) if (value > most) most = value;
  return most;
}

export function smallest(values: Iterable<number>, atMost = Number.POSITIVE_INFINITY): number {
  let least = atMost;
  for (const value of values) if (value < least) least = value;
  return least;
}
