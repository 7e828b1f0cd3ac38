/** What the server answers; scripts/schema writes this file from tools/answers/schema.py. */

/**
 * What went wrong or what to know, and what to do about it.
 */
export interface Problem {
  code: string;
  message: string;
  remedy: string;
  where: string;
  severity: "error" | "warning" | "info";
  /**
   * What of the capture it makes doubtful, as figures say what they depend on.
   */
  affects?: string[];
}
/**
 * A column of a table with its values; what is unknown is null.
 */
export interface Column {
  id: string;
  label: string;
  kind: "number" | "string" | "boolean";
  unit: string;
  /**
   * What the figure is, its formula, its source.
   */
  doc: string;
  /**
   * What of a capture it rests on; findings that affect it make it doubtful.
   */
  depends: string[];
  /**
   * Whether it is a difference, which is shown with its sign; missing where it is not.
   */
  signed?: boolean;
  values: (string | number | boolean | null)[];
  summary?: Summary;
}
/**
 * What a page must know of all values of a column where it has only those of the first rows.
 */
export interface Summary {
  /**
   * Of the numbers, whatever their sign.
   */
  largest: number;
  /**
   * Whether all of them are whole numbers.
   */
  whole: boolean;
  /**
   * Whether anything is known in it: neither null, nor an empty text, nor false.
   */
  known: boolean;
  /**
   * How often each text or truth occurs, the most frequent first; none where there are too many.
   *
   * Items: A value, as a text.
   */
  choices: {
    value: string;
    rows: number;
  }[];
}
/**
 * A single figure; null where it is unknown.
 */
export interface Fact {
  label: string;
  kind: "number" | "string" | "boolean";
  unit: string;
  /**
   * What the figure is, its formula, its source.
   */
  doc: string;
  /**
   * What of a capture it rests on; findings that affect it make it doubtful.
   */
  depends: string[];
  /**
   * Whether it is a difference, which is shown with its sign; missing where it is not.
   */
  signed?: boolean;
  value: string | number | boolean | null;
}
/**
 * A table, column by column.
 */
export interface Table {
  label: string;
  doc: string;
  rows: number;
  columns: Column[];
}
/**
 * The answer in one sentence.
 */
export interface Headline {
  text: string;
  level: "ok" | "info" | "warn" | "bad" | "unknown";
  /**
   * The tool that shows more; empty for none.
   */
  tool: string;
  /**
   * Why the sentence may be wrong; empty where nothing speaks against it.
   */
  doubt: string;
  /**
   * Of a sentence of the diagnosis, for scripts; empty for others.
   */
  code: string;
}
/**
 * What a tool answers.
 */
export interface Answer {
  tool: string;
  headline: Headline | null;
  facts: {
    [k: string]: Fact;
  };
  tables: {
    [k: string]: Table;
  };
  notes: Problem[];
}
/**
 * An option of a tool.
 */
export interface Param {
  name: string;
  default: string;
  doc: string;
  choices: string[];
  kind: "text" | "count" | "session" | "baseline" | "sessions";
  /**
   * Where the answer lists values worth choosing: table.column; empty for nowhere.
   */
  candidates: string;
}
/**
 * A tool, as the route tools lists it.
 */
export interface ToolEntry {
  name: string;
  title: string;
  doc: string;
  /**
   * The heading in the navigation under which it stands.
   */
  group: string;
  order: number;
  /**
   * The tool whose page shows its answer, too; empty where it has its own page.
   */
  shown_on: string;
  /**
   * Whether hosts can be shown together; otherwise one is chosen.
   */
  all_hosts: boolean;
  /**
   * Whether its data is more than a page should hold.
   */
  streamed: boolean;
  params: Param[];
  /**
   * Address of the module that draws it; empty where the pages know how.
   */
  page: string;
  /**
   * Why it has nothing to show; null where it has.
   */
  unavailable: Problem | null;
}
/**
 * What a session holds.
 */
export interface SessionFacts {
  device: string;
  steps: number;
  duration_ms: number;
  events: number;
}
/**
 * A session, as the route sessions lists it.
 */
export interface SessionEntry {
  run: string;
  folder: string;
  /**
   * Seconds since the epoch.
   */
  modified: number;
  hosts: string[];
  /**
   * Bytes.
   */
  size: number;
  facts: SessionFacts | null;
  /**
   * Names of the sessions that it was joined of, which it answers to, too; empty for most.
   */
  parts: string[];
}
/**
 * A session with what is known of it.
 */
export interface SessionDetails {
  run: string;
  folder: string;
  /**
   * Seconds since the epoch.
   */
  modified: number;
  hosts: string[];
  /**
   * Bytes.
   */
  size: number;
  facts: SessionFacts | null;
  /**
   * Names of the sessions that it was joined of, which it answers to, too; empty for most.
   */
  parts: string[];
  /**
   * The tracer levels that were in effect, by host; of hosts that say.
   */
  recorded: {
    [k: string]: {
      [k: string]: number;
    };
  };
  problems: Problem[];
}
/**
 * All sessions of a logdir.
 */
export interface SessionList {
  logdir: string;
  searched: string[];
  /**
   * What else lies there.
   */
  found: {
    event_files: number;
    captures: number;
    near_misses: string[];
  };
  sessions: SessionEntry[];
}
/**
 * The typical step with one op of the devices faster or slower, in ps.
 */
export interface Scaled {
  /**
   * What the op takes of a step, as recorded.
   */
  op_ps: number;
  /**
   * From step to step, as recorded.
   */
  period_ps: number;
  /**
   * What that would be shorter, at most; negative where longer.
   */
  gain_ps: number;
  text: string;
}
/**
 * What a host's capture tells about the machines and people it comes from.
 */
export interface Contents {
  host: string;
  /**
   * What the host is called where it is redacted.
   */
  alias: string;
  /**
   * Bytes.
   */
  size: number;
  /**
   * Since the epoch; 0 where the capture does not say.
   */
  recorded_ns: number;
  hosts: string[];
  users: string[];
  addresses: string[];
  source_stats: number;
  programs: string[];
  events: number;
  /**
   * What the file as it is is called where it is given away.
   */
  file: string;
  /**
   * Why it is not redacted; empty where it can be.
   */
  kept: string;
}
/**
 * What is being worked out for a session.
 */
export interface Progress {
  busy: boolean;
  /**
   * Items: One of them.
   */
  hosts: {
    host: string;
    phase: string;
    fraction: number;
  }[];
  /**
   * Names of tools.
   */
  computing: string[];
}
