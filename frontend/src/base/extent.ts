/** Least and largest of many values, for drawing; not by spreading, since a call takes only so many arguments. */

/** `atLeast` where no value is larger. */
export function largest(values: Iterable<number>, atLeast = 0): number {
  let maximum = atLeast;
  for (const value of values) if (value > maximum) maximum = value;
  return maximum;
}

/** `atMost` where no value is smaller. */
export function smallest(values: Iterable<number>, atMost = Number.POSITIVE_INFINITY): number {
  let minimum = atMost;
  for (const value of values) if (value < minimum) minimum = value;
  return minimum;
}
