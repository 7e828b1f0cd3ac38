/** The value, or the bound that it lies beyond; `high` where the bounds exclude each other. */
export function clamp(value: number, low: number, high: number): number {
  return Math.min(high, Math.max(low, value));
}
