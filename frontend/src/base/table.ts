/** A tool's named answer, and a reader of its tables that pages use instead of digging in them. */

import type * as schema from "./schema";

export type Value = string | number | boolean | null;
export type Column = Omit<schema.Column, "values">;
export type Row = readonly Value[];

/** Columns, and rows as plain arrays; every look-up of something absent gives "" or null. */
export class Table {
  readonly label: string;
  readonly doc: string;
  readonly columns: readonly Column[];
  readonly rows: readonly Row[];
  private readonly places: ReadonlyMap<string, number>;

  constructor(columns: readonly Column[], rows: readonly Row[], label = "", doc = "") {
    this.label = label;
    this.doc = doc;
    this.columns = columns;
    this.rows = rows;
    this.places = new Map(columns.map(({ id }, place) => [id, place]));
  }

  static of({ columns, rows, label, doc }: schema.Table): Table {
    const lines = Array.from({ length: rows }, (_, row) => columns.map(({ values }) => values[row] ?? null));
    return new Table(columns, lines, label, doc);
  }

  /** The same columns with these of its rows. */
  of(rows: readonly Row[]): Table {
    return new Table(this.columns, rows, this.label, this.doc);
  }

  filter(keep: (row: Row) => boolean): Table {
    return this.of(this.rows.filter(keep));
  }

  /** The rows that hold these values. */
  where(wanted: Readonly<Record<string, string>>): Table {
    const wants = Object.entries(wanted);
    return this.filter((row) => wants.every(([id, value]) => this.text(row, id) === value));
  }

  /** The values of a column as texts, in the order of the table. */
  distinct(id: string): string[] {
    return [...new Set(this.rows.map((row) => this.text(row, id)))];
  }

  /** All columns but these. */
  without(ids: readonly string[]): Table {
    return this.pick(this.columns.map(({ id }) => id).filter((id) => !ids.includes(id)));
  }

  /** Some of the columns, in this order. */
  pick(ids: readonly string[]): Table {
    const places = ids.flatMap((id) => this.places.get(id) ?? []);
    const columns = places.flatMap((place) => this.columns[place] ?? []);
    return new Table(
      columns,
      this.rows.map((row) => places.map((place) => row[place] ?? null)),
      this.label,
      this.doc,
    );
  }

  has(id: string): boolean {
    return this.places.has(id);
  }

  column(id: string): Column | undefined {
    return this.columns[this.places.get(id) ?? -1];
  }

  cell(row: Row, id: string): Value {
    return row[this.places.get(id) ?? -1] ?? null;
  }

  /** The cell as a number; null where it is unknown. */
  number(row: Row, id: string): number | null {
    const value = this.cell(row, id);
    return typeof value === "number" ? value : null;
  }

  /** The cell as a length to draw: 0 where it is unknown. */
  length(row: Row, id: string): number {
    return this.number(row, id) ?? 0;
  }

  text(row: Row, id: string): string {
    const value = this.cell(row, id);
    return value === null ? "" : String(value);
  }
}

const NO_FACT: schema.Fact = { label: "", kind: "string", unit: "", doc: "", depends: [], value: null };

/** What a page reads its figures from: by name, never by place. */
export class Answer {
  private readonly made = new Map<string, Table>();

  constructor(private readonly raw: schema.Answer) {}

  get headline(): schema.Headline | null {
    return this.raw.headline;
  }

  /** A fact with its declaration; one without a value where there is none. */
  fact(id: string): schema.Fact {
    return this.raw.facts[id] ?? NO_FACT;
  }

  number(id: string): number | null {
    const { value } = this.fact(id);
    return typeof value === "number" ? value : null;
  }

  text(id: string): string {
    const { value } = this.fact(id);
    return value === null ? "" : String(value);
  }

  /** What the reader must know before trusting the figures. */
  get notes(): readonly schema.Problem[] {
    return this.raw.notes;
  }

  get factIds(): string[] {
    return Object.keys(this.raw.facts);
  }

  get tableIds(): string[] {
    return Object.keys(this.raw.tables);
  }

  /** A table; an empty one where there is none. Always the same object for the same name. */
  table(id: string): Table {
    const known = this.made.get(id);
    if (known) return known;
    const raw = this.raw.tables[id];
    const table = raw ? Table.of(raw) : new Table([], []);
    this.made.set(id, table);
    return table;
  }
}
