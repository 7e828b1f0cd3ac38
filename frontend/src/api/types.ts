/** What the server answers; `tb_profile_plugin/docs/http.md` describes the routes. */

import type { Problem } from "../base/table";

export type { Problem };

export interface SessionFacts {
  readonly device?: string;
  readonly steps?: number;
  readonly duration_ms?: number;
}

export interface SessionEntry {
  readonly run: string;
  readonly folder: string;
  /** Seconds since the epoch. */
  readonly modified: number;
  readonly hosts: readonly string[];
  /** Bytes. */
  readonly size: number;
  /** Null until something has decoded the session. */
  readonly facts: SessionFacts | null;
}

export interface SessionDetails extends SessionEntry {
  /** The tracer levels that were in effect, by host; of hosts that say. */
  readonly recorded?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly problems: readonly Problem[];
}

/** What the capture of a host tells about the machines and people it comes from. */
export interface Contents {
  readonly host: string;
  /** What the host is called where it is redacted. */
  readonly alias: string;
  /** Bytes. */
  readonly size: number;
  /** Since the epoch; 0 where the capture does not say. */
  readonly recorded_ns: number;
  readonly hosts: readonly string[];
  readonly users: readonly string[];
  readonly addresses: readonly string[];
  readonly source_stats: number;
  readonly programs: readonly string[];
  readonly events: number;
  readonly damaged: boolean;
}

export interface SessionList {
  readonly logdir: string;
  readonly searched: readonly string[];
  readonly found: { readonly event_files: number; readonly captures: number; readonly near_misses: readonly string[] };
  /** Newest first. */
  readonly sessions: readonly SessionEntry[];
}

export interface ToolParam {
  readonly name: string;
  readonly default: string;
  readonly doc: string;
  readonly choices: readonly string[];
}

export interface ToolEntry {
  readonly name: string;
  readonly title: string;
  readonly doc: string;
  readonly order: number;
  readonly all_hosts: boolean;
  /** Its data are more than a page should hold: the page asks routes of its own. */
  readonly streamed?: boolean;
  readonly params: readonly ToolParam[];
  readonly unavailable: Problem | null;
}

export interface Progress {
  readonly busy: boolean;
  readonly hosts: readonly { readonly host: string; readonly phase: string; readonly fraction: number }[];
  /** Names of the tools being computed. */
  readonly computing: readonly string[];
}
