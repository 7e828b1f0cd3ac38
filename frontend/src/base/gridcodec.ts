/** What a reader chose in a table, as options of the URL: `<table>.sort`, `.find`, `.cols`, and `.only.<column>`. */

export interface SortedColumn {
  readonly id: string;
  readonly desc: boolean;
}

export interface GridChoice {
  readonly sort: readonly SortedColumn[];
  readonly find: string;
  /** Column → the only value to show. */
  readonly only: Readonly<Record<string, string>>;
  /** Columns that are shown or hidden other than usual. */
  readonly columns: Readonly<Record<string, boolean>>;
}

type Options = Readonly<Record<string, string>>;

/** Stands for a table that is not sorted although it usually is. */
const UNSORTED = "~";

/** As the address and the server read it. */
export function writeSort(sort: readonly SortedColumn[]): string {
  return sort.map(({ id, desc }) => (desc ? `-${id}` : id)).join("~") || UNSORTED;
}

function readSort(text: string, known: ReadonlySet<string>): SortedColumn[] {
  return text
    .split("~")
    .map((part) => (known.has(part) ? { id: part, desc: false } : { id: part.slice(1), desc: part.startsWith("-") }))
    .filter(({ id }) => known.has(id));
}

/** The choice for the table `name`, whose columns are `ids`; what a link says of other columns is passed over. */
export function readGridChoice(
  options: Options,
  name: string,
  ids: readonly string[],
  usual: readonly SortedColumn[],
): GridChoice {
  const known = new Set(ids);
  const sort = options[`${name}.sort`];
  const only = ids.flatMap((id) => {
    const value = options[`${name}.only.${id}`];
    return value ? [[id, value] as const] : [];
  });
  const columns = (options[`${name}.cols`] ?? "")
    .split("~")
    .map((part) => (part.startsWith("!") ? ([part.slice(1), false] as const) : ([part, true] as const)))
    .filter(([id]) => known.has(id));
  return {
    sort: sort ? readSort(sort, known) : usual,
    find: options[`${name}.find`] ?? "",
    only: Object.fromEntries(only),
    columns: Object.fromEntries(columns),
  };
}

/** The options with this choice in place of the table's former one; what is as usual takes no room. */
export function writeGridChoice(options: Options, name: string, choice: GridChoice, usual: readonly SortedColumn[]) {
  const ownKey = /^(sort|find|cols|only\..*)$/;
  const start = `${name}.`;
  const others = Object.entries(options).filter(
    ([key]) => !(key.startsWith(start) && ownKey.test(key.slice(start.length))),
  );
  const sort = writeSort(choice.sort);
  const columns = Object.entries(choice.columns).map(([id, shown]) => (shown ? id : `!${id}`));
  const written = {
    [`${name}.sort`]: sort === writeSort(usual) ? "" : sort,
    [`${name}.find`]: choice.find,
    [`${name}.cols`]: columns.join("~"),
    ...Object.fromEntries(Object.entries(choice.only).map(([id, value]) => [`${name}.only.${id}`, value])),
  };
  return Object.fromEntries([...others, ...Object.entries(written)].filter(([, value]) => value !== ""));
}
