/** Google's DataTable as the server writes it, and a reader that pages use instead of digging in cells. */

export type CellValue = string | number | boolean | null;

export interface RawColumn {
  readonly id: string;
  readonly label: string;
  readonly type: string;
  readonly p?: { readonly doc?: string; readonly unit?: string; readonly role?: string };
}

export interface RawTable {
  readonly cols?: readonly RawColumn[];
  readonly rows?: readonly { readonly c: readonly ({ readonly v?: CellValue } | null)[] }[];
  readonly p?: Readonly<Record<string, string>>;
  readonly docs?: Readonly<Record<string, string>>;
}

export interface Column {
  readonly id: string;
  readonly label: string;
  readonly type: "number" | "string" | "boolean";
  readonly unit: string;
  readonly doc: string;
  readonly role: string;
}

export type Row = readonly CellValue[];

/** Columns, rows as plain arrays, and properties; every lookup of something absent gives "" or null. */
export class Table {
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  private readonly properties: Readonly<Record<string, string>>;
  private readonly docs: Readonly<Record<string, string>>;
  private readonly places: ReadonlyMap<string, number>;

  constructor(raw: RawTable) {
    this.columns = (raw.cols ?? []).map((column) => ({
      id: column.id,
      label: column.label,
      type: column.type === "number" || column.type === "boolean" ? column.type : "string",
      unit: column.p?.unit ?? "",
      doc: column.p?.doc ?? "",
      role: column.p?.role ?? "",
    }));
    this.rows = (raw.rows ?? []).map((row) => this.columns.map((_, place) => row.c[place]?.v ?? null));
    this.properties = raw.p ?? {};
    this.docs = raw.docs ?? {};
    this.places = new Map(this.columns.map((column, place) => [column.id, place]));
  }

  has(id: string): boolean {
    return this.places.has(id);
  }

  column(id: string): Column | undefined {
    return this.columns[this.places.get(id) ?? -1];
  }

  cell(row: Row, id: string): CellValue {
    return row[this.places.get(id) ?? -1] ?? null;
  }

  /** The cell as a number; 0 where it is absent or not a number. */
  number(row: Row, id: string): number {
    const value = this.cell(row, id);
    return typeof value === "number" && Number.isFinite(value) ? value : 0;
  }

  text(row: Row, id: string): string {
    const value = this.cell(row, id);
    return value === null ? "" : String(value);
  }

  property(name: string): string {
    return this.properties[name] ?? "";
  }

  /** A property as a number, with or without a percent sign behind it; null where it is none. */
  figure(name: string): number | null {
    const text = this.property(name).replace("%", "").trim();
    const value = text === "" ? Number.NaN : Number(text);
    return Number.isFinite(value) ? value : null;
  }

  doc(name: string): string {
    return this.docs[name] ?? "";
  }

  get propertyNames(): string[] {
    return Object.keys(this.properties);
  }
}

export function isRawTable(value: unknown): value is RawTable {
  return typeof value === "object" && value !== null && ("cols" in value || "p" in value) && !Array.isArray(value);
}

/** The tables of a tool's answer, whatever it is wrapped in; placeholders without any content are skipped. */
export function tablesOf(answer: unknown): Table[] {
  const parts = Array.isArray(answer) ? answer : [answer];
  return parts.filter(isRawTable).map((part) => new Table(part));
}

/** The table at a place of a tool's answer; an empty one where there is none. */
export function tableAt(answer: unknown, place: number): Table {
  const part: unknown = Array.isArray(answer) ? answer[place] : undefined;
  return new Table(isRawTable(part) ? part : {});
}

/** How many rows the tables of an answer have that is too large to be read. */
export async function rowsIn(body: Blob): Promise<number> {
  const begin = '{"c":[';
  const reader = body.stream().pipeThrough(new TextDecoderStream()).getReader();
  let count = 0;
  let left = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    const pieces = (left + part.value).split(begin);
    count += pieces.length - 1;
    left = pieces.at(-1)?.slice(1 - begin.length) ?? "";
  }
  return count;
}
