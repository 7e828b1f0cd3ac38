/** Slabs: typed arrays as the server sends them, read in place (see docs/http.md). */

export type Column = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float32Array | Float64Array;

const TYPES = {
  uint8: Uint8Array,
  uint16: Uint16Array,
  uint32: Uint32Array,
  int32: Int32Array,
  float32: Float32Array,
  float64: Float64Array,
} as const;

export interface Slab {
  readonly facts: Readonly<Record<string, unknown>>;
  readonly arrays: Readonly<Record<string, Column>>;
}

interface Entry {
  readonly name: string;
  readonly dtype: keyof typeof TYPES;
  readonly length: number;
  readonly offset: number;
}

export function readSlab(buffer: ArrayBuffer): Slab {
  const size = new DataView(buffer).getUint32(0, true);
  const head = new TextDecoder().decode(new Uint8Array(buffer, 4, size));
  const { arrays: entries, ...facts } = JSON.parse(head) as { arrays: Entry[] } & Record<string, unknown>;
  const arrays: Record<string, Column> = {};
  for (const { name, dtype, length, offset } of entries) arrays[name] = new TYPES[dtype](buffer, offset, length);
  return { facts, arrays };
}
