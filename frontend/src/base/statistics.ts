/** A few values in a few figures. */

export interface Summary {
  readonly average: number;
  /** Sample standard deviation; 0 for a single value. */
  readonly sdv: number;
  readonly low: number;
  readonly high: number;
}

/** Zeros for no values. */
export function summarize(values: readonly number[]): Summary {
  if (!values.length) return { average: 0, sdv: 0, low: 0, high: 0 };
  const average = values.reduce((sum, value) => sum + value, 0) / values.length;
  const squares = values.reduce((sum, value) => sum + (value - average) ** 2, 0);
  const sdv = values.length > 1 ? Math.sqrt(squares / (values.length - 1)) : 0;
  // Not by spreading: a capture may hold more steps than a call takes arguments.
  const low = values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const high = values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
  return { average, sdv, low, high };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? 0;
  return sorted.length % 2 ? upper : ((sorted[middle - 1] ?? 0) + upper) / 2;
}
