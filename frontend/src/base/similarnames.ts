/** Names which someone may have meant. */

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** Names from so many characters on, which only a link can hold, are compared with none. */
const TOO_LONG = 1000;

/** Up to `limit` names, nearest first; ones that share nothing with the wanted name are left out. */
export function similarNames(wanted: string, names: readonly string[], limit = 5): string[] {
  if (wanted.length >= TOO_LONG) return [];
  const low = wanted.toLowerCase();
  return names
    .map((name) => {
      const other = name.toLowerCase();
      const contained = other.includes(low) || low.includes(other);
      return { name, far: contained ? 0 : editDistance(low, other) / Math.max(low.length, other.length, 1) };
    })
    .filter(({ far }) => far <= 0.6)
    .sort((a, b) => a.far - b.far)
    .slice(0, limit)
    .map(({ name }) => name);
}
