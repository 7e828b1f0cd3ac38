/** A tool's named answer, and a reader of its tables that pages use instead of digging in them. */

import type { CallSource } from "./calltree";
import { largest } from "./extent";
import type { GridChoice } from "./gridcodec";
import type * as schema from "./schema";

export type Value = string | number | boolean | null;
export type Column = Omit<schema.Column, "values">;
export type Row = readonly Value[];

/** Which rows of a table, and in which order. */
export interface RowChoice extends Pick<GridChoice, "sort" | "find" | "only"> {
  /** Column → a text that its rows do not have. */
  readonly without: Readonly<Record<string, string>>;
}

/** Where the rows are of a table that is here in part. */
export interface RowSource {
  /** Some of the chosen rows; `rows` says how many there are. */
  rows(choice: RowChoice, first: number, count: number, signal: AbortSignal): Promise<schema.Table>;
  /** The address of all chosen rows as a file. */
  file(choice: RowChoice, format: "csv" | "json"): string;
  /** All chosen rows as CSV. */
  csv(choice: RowChoice): Promise<string>;
}

/** A source, what all of its rows fulfil, and how many they are. */
interface RemainingRows {
  readonly source: RowSource;
  readonly without: RowChoice["without"];
  readonly total: number;
}

/** Columns, and rows as plain arrays: all of them, or the first of a `rest`. Every look-up of something absent gives "" or null. */
export class Table {
  readonly label: string;
  readonly doc: string;
  readonly rest: RemainingRows | null;
  private readonly indexById: ReadonlyMap<string, number>;

  constructor(
    readonly columns: readonly Column[],
    readonly rows: readonly Row[],
    { label = "", doc = "", rest = null }: Partial<Pick<Table, "label" | "doc" | "rest">> = {},
  ) {
    this.label = label;
    this.doc = doc;
    this.rest = rest;
    this.indexById = new Map(columns.map(({ id }, index) => [id, index]));
  }

  /** The answer's table, whose rows may be the first of those that a source has. */
  static fromAnswer({ columns, rows: total, label, doc }: schema.Table, source: RowSource | null = null): Table {
    const count = columns[0]?.values.length ?? 0;
    const loadedRows = Array.from({ length: count }, (_, row) => columns.map(({ values }) => values[row] ?? null));
    const declared = columns.map(({ values, ...column }) => column);
    const rest = source && count < total ? { source, without: {}, total } : null;
    return new Table(declared, loadedRows, { label, doc, rest });
  }

  /** How many rows it has, here and elsewhere. */
  get total(): number {
    return this.rest?.total ?? this.rows.length;
  }

  /** A table of the same columns with these of the rows that are here, and no others. */
  withRows(rows: readonly Row[]): Table {
    return new Table(this.columns, rows, { ...this, rest: null });
  }

  filter(keep: (row: Row) => boolean): Table {
    return this.withRows(this.rows.filter(keep));
  }

  /** The rows that hold these values. */
  where(wanted: Readonly<Record<string, string>>): Table {
    const wants = Object.entries(wanted);
    return this.filter((row) => wants.every(([id, value]) => this.text(row, id) === value));
  }

  /** The rows in which a column has any other text. */
  withoutText(id: string, text: string): Table {
    const remaining = this.filter((row) => this.text(row, id) !== text);
    if (!this.rest) return remaining;
    const removedCount = this.column(id)?.summary?.choices.find(({ value }) => value === text)?.rows ?? 0;
    const rest = { ...this.rest, without: { ...this.rest.without, [id]: text }, total: this.rest.total - removedCount };
    const removedRows = this.where({ [id]: text }).rows;
    const columns = this.columns.map((column, index) => {
      if (!column.summary) return column;
      const sizes = (rows: readonly Row[]) => rows.map((row) => Math.abs(Number(row[index] ?? 0)) || 0);
      const { summary } = column;
      // Where the largest of all is left out, that of the rows that are here stands for the next one.
      const isLargestRemoved = sizes(removedRows).includes(summary.largest);
      const choices = summary.choices.filter(({ value }) => column.id !== id || value !== text);
      return {
        ...column,
        summary: { ...summary, choices, ...(isLargestRemoved && { largest: largest(sizes(remaining.rows)) }) },
      };
    });
    return new Table(columns, remaining.rows, { ...this, rest });
  }

  /** Rows of the rest as they are chosen there, and how many are; null of a table that is here. */
  async loadRows(choice: GridChoice, first: number, count: number, signal: AbortSignal) {
    if (!this.rest) return null;
    const { source, without } = this.rest;
    const raw = await source.rows({ ...choice, without }, first, count, signal);
    return { rows: Table.fromAnswer(raw).pickColumns(this.columns.map(({ id }) => id)).rows, total: raw.rows };
  }

  /** The values of a column as texts, in the order of the table. */
  distinct(id: string): string[] {
    return [...new Set(this.rows.map((row) => this.text(row, id)))];
  }

  /** All columns but these. */
  withoutColumns(ids: readonly string[]): Table {
    return this.pickColumns(this.columns.map(({ id }) => id).filter((id) => !ids.includes(id)));
  }

  /** Some of the columns, in this order. */
  pickColumns(ids: readonly string[]): Table {
    const indices = ids.flatMap((id) => this.indexById.get(id) ?? []);
    const columns = indices.flatMap((index) => this.columns[index] ?? []);
    const rows = this.rows.map((row) => indices.map((index) => row[index] ?? null));
    return new Table(columns, rows, this);
  }

  has(id: string): boolean {
    return this.indexById.has(id);
  }

  column(id: string): Column | undefined {
    return this.columns[this.indexById.get(id) ?? -1];
  }

  cell(row: Row, id: string): Value {
    return row[this.indexById.get(id) ?? -1] ?? null;
  }

  /** The cell as a number; null where it is unknown. */
  number(row: Row, id: string): number | null {
    const value = this.cell(row, id);
    return typeof value === "number" ? value : null;
  }

  /** The cell as a number to draw or to add up: 0 where it is unknown. What is printed is `number`. */
  numberOrZero(row: Row, id: string): number {
    return this.number(row, id) ?? 0;
  }

  /** The cell as a number is printed; empty where it is unknown. */
  formatCell(row: Row, id: string, print: (value: number) => string): string {
    const value = this.number(row, id);
    return value === null ? "" : print(value);
  }

  text(row: Row, id: string): string {
    const value = this.cell(row, id);
    return value === null ? "" : String(value);
  }
}

const NO_FACT: schema.Fact = { label: "", kind: "string", unit: "", doc: "", depends: [], value: null };

/** What a page reads its figures from: by name, never by place. */
export class Answer {
  private readonly tableById = new Map<string, Table>();

  /** `source` tells where the rest of a table is that is not here whole. */
  constructor(
    private readonly raw: schema.Answer,
    readonly source: (table: string) => (RowSource & CallSource) | null = () => null,
  ) {}

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
    const existing = this.tableById.get(id);
    if (existing) return existing;
    const raw = this.raw.tables[id];
    const table = raw ? Table.fromAnswer(raw, this.source(id)) : new Table([], []);
    this.tableById.set(id, table);
    return table;
  }
}
