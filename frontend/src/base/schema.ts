/** What the server answers; scripts/schema writes this file from tools/answers/schema.py. */

/**
 * Messages behind a column's values, row by row; missing if none has arguments.
 */
export type ColumnMessages = (Message | null)[];

/**
 * Text with arguments, the same in every language.
 */
export interface Message {
  /**
   * English template with the arguments' names in braces; key of the catalogues.
   */
  template: string;
  /**
   * Arguments by name: numbers, pairs, names of the program, and further messages.
   */
  arguments: {
    [k: string]: unknown;
  };
}
/**
 * Problem or note, and what to do about it.
 */
export interface Problem {
  code: string;
  message: string;
  remedy: string;
  where: string;
  severity: "error" | "warning" | "info";
  /**
   * Aspects of the capture that the finding makes doubtful, in the terms of depends.
   */
  affects?: string[];
  /**
   * Messages behind the texts, by field; missing if none has arguments.
   */
  messages?: {
    [k: string]: Message;
  };
}
/**
 * Column of a table with its values; null means unknown.
 */
export interface Column {
  id: string;
  label: string;
  kind: "number" | "string" | "boolean";
  unit: string;
  /**
   * Explanation of the figure: its meaning and source.
   */
  doc: string;
  /**
   * Aspects of the capture that the figure depends on; findings that affect them make it doubtful.
   */
  depends: string[];
  /**
   * Whether the figure is a difference, shown with its sign; missing if it is not.
   */
  signed?: boolean;
  values: (string | number | boolean | null)[];
  messages?: ColumnMessages;
  summary?: Summary;
}
/**
 * Summary of all values of a column, for pages that hold only its first rows.
 */
export interface Summary {
  /**
   * Largest absolute value of the numbers.
   */
  largest: number;
  /**
   * Whether all numbers are whole.
   */
  whole: boolean;
  /**
   * Whether the column holds a value other than null, an empty text and false.
   */
  known: boolean;
  /**
   * Distinct texts or booleans with their counts, the most frequent first; none if there are too many.
   *
   * Items: A value, as a text.
   */
  choices: {
    value: string;
    rows: number;
  }[];
}
/**
 * Single figure; null if unknown.
 */
export interface Fact {
  label: string;
  kind: "number" | "string" | "boolean";
  unit: string;
  /**
   * Explanation of the figure: its meaning and source.
   */
  doc: string;
  /**
   * Aspects of the capture that the figure depends on; findings that affect them make it doubtful.
   */
  depends: string[];
  /**
   * Whether the figure is a difference, shown with its sign; missing if it is not.
   */
  signed?: boolean;
  value: string | number | boolean | null;
  message?: Message;
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
   * Tool that shows more; empty for none.
   */
  tool: string;
  /**
   * Reason to doubt the sentence; empty if there is none.
   */
  doubt: string;
  /**
   * Code of a diagnosis sentence, for scripts; else empty.
   */
  code: string;
  /**
   * Messages behind the texts, by field; missing if none has arguments.
   */
  messages?: {
    [k: string]: Message;
  };
}
/**
 * Answer of a tool.
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
   * Column that lists sensible values, as table.column; empty if there is none.
   */
  candidates: string;
}
/**
 * Tool, as the route tools lists it.
 */
export interface ToolEntry {
  name: string;
  title: string;
  doc: string;
  /**
   * Group of the tool in the navigation, the same in every language.
   */
  group: string;
  /**
   * Group's heading, in the reader's language.
   */
  heading: string;
  order: number;
  /**
   * Tool whose page also shows this answer; empty if it has its own page.
   */
  shown_on: string;
  /**
   * Whether all hosts can be shown together; else one is chosen.
   */
  all_hosts: boolean;
  /**
   * Whether its data is too large for a page.
   */
  streamed: boolean;
  params: Param[];
  /**
   * Address of the module that draws the tool; empty for built-in pages.
   */
  page: string;
  /**
   * Reason why the tool has nothing to show; null if it has something.
   */
  unavailable: Problem | null;
}
/**
 * Contents of a session.
 */
export interface SessionFacts {
  device: string;
  steps: number;
  duration_ms: number;
  events: number;
}
/**
 * Session, as the route sessions lists it.
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
   * Names of the sessions that it was joined from; it answers to these names, too.
   */
  parts: string[];
}
/**
 * Session with its known facts.
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
   * Names of the sessions that it was joined from; it answers to these names, too.
   */
  parts: string[];
  /**
   * Tracer levels in effect, by host, as far as recorded.
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
   * Other contents of the logdir.
   */
  found: {
    event_files: number;
    captures: number;
    near_misses: string[];
    /**
     * Folders with dumps of PyTorch's flight recorder, for the route hang.
     */
    dumps: string[];
  };
  sessions: SessionEntry[];
}
/**
 * Typical step with one device op faster or slower, in ps.
 */
export interface Scaled {
  /**
   * Recorded time per step in which a device runs the op, whatever else it runs then.
   */
  op_ps: number;
  /**
   * Recorded time from step to step.
   */
  period_ps: number;
  /**
   * Upper bound of the time saved from step to step; negative if it is longer.
   */
  gain_ps: number;
  text: string;
}
/**
 * Information in a host's capture about machines and people.
 */
export interface Contents {
  host: string;
  /**
   * Name of the host in the redacted capture.
   */
  alias: string;
  /**
   * Bytes.
   */
  size: number;
  /**
   * Time since the epoch; 0 if not recorded.
   */
  recorded_ns: number;
  hosts: string[];
  users: string[];
  addresses: string[];
  source_stats: number;
  programs: string[];
  events: number;
  /**
   * File name when shared without redaction.
   */
  file: string;
  /**
   * Reason why it cannot be redacted; empty if it can.
   */
  kept: string;
}
/**
 * Computations in progress for a session.
 */
export interface Progress {
  busy: boolean;
  /**
   * Items: Computation in progress.
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
