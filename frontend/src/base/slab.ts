/** Slabs: typed arrays as the server sends them, read in place or from differences (see docs/http.md). */

export type TypedArray = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float32Array | Float64Array;

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
  readonly arrays: Readonly<Record<string, TypedArray>>;
}

interface ArrayEntry {
  readonly name: string;
  readonly dtype: keyof typeof TYPES;
  readonly length: number;
  readonly offset: number;
  /** How many bytes the differences take that whole numbers are written as; absent for plain arrays. */
  readonly bytes?: number;
}

/** Its header of JSON (`facts`), and its arrays by name. */
export function readSlab(buffer: ArrayBuffer): Slab {
  const size = new DataView(buffer).getUint32(0, true);
  const head = new TextDecoder().decode(new Uint8Array(buffer, 4, size));
  const { arrays: entries, ...facts } = JSON.parse(head) as { arrays: ArrayEntry[] } & Record<string, unknown>;
  const arrays: Record<string, TypedArray> = {};
  for (const { name, dtype, length, offset, bytes } of entries) {
    const type = TYPES[dtype];
    if (bytes === undefined) arrays[name] = new type(buffer, offset, length);
    else arrays[name] = decodeDifferences(new Uint8Array(buffer, offset, bytes), new type(length));
  }
  return { facts, arrays };
}

/** Fills in whole numbers: seven bits of a difference per byte, the lowest first; an odd one is below zero. */
function decodeDifferences(differences: Uint8Array, column: TypedArray): TypedArray {
  let at = 0;
  let value = 0;
  for (let place = 0; place < column.length; place++) {
    let doubled = 0;
    let scale = 1;
    let byte: number;
    do {
      byte = differences[at++] as number;
      doubled += (byte & 127) * scale;
      scale *= 128;
    } while (byte > 127);
    value += doubled % 2 ? -(doubled + 1) / 2 : doubled / 2;
    column[place] = value;
  }
  return column;
}
