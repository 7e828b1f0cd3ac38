/** The view's address: which session, tool and host, and the tool's options, as part of a URL's hash. */

import { decodeAddressPart, encodeAddressPart } from "./text";

export interface View {
  readonly run: string;
  readonly tool: string;
  readonly host: string;
  /** The session that figures are held against, on every page that can; "" for none. */
  readonly base: string;
  /** Code of the language; "" for the one that was chosen before, or the browser's. */
  readonly lang: string;
  /** Options of the tool, by name; they never hold the keys above. */
  readonly options: Readonly<Record<string, string>>;
}

export const EMPTY_VIEW: View = { run: "", tool: "", host: "", base: "", lang: "", options: {} };

/** Written into every link; a link of an older version passes through the upgraders that follow its number. */
export const URL_VERSION = 1;

type Query = Record<string, string>;

/** `UPGRADERS[n]` turns a query of version n into one of version n + 1. Version 0 is what xprof's pages wrote. */
const UPGRADERS: readonly ((query: Query) => Query)[] = [
  ({ tag, ...query }) => (tag === undefined ? query : { tool: tag.replace(/[@^]+$/, ""), ...query }),
];

/** `/` and `:` are legal in a hash and make links of nested sessions readable. */
function encodeHashPart(text: string): string {
  return encodeAddressPart(text).replaceAll("%2F", "/").replaceAll("%3A", ":");
}

function hashEntries(hash: string): (readonly [string, string | undefined])[] {
  return hash
    .replace(/^[#?]/, "")
    .split("&")
    .filter(Boolean)
    .map((part) => {
      const at = part.indexOf("=");
      return at < 0 ? [part, undefined] : [part.slice(0, at), part.slice(at + 1)];
    });
}

/** Reads a view from a hash (or a query string); inside TensorBoard only keys that begin with `prefix` are ours. */
export function parseView(hash: string, prefix = ""): View {
  let query: Query = {};
  for (const [key, value] of hashEntries(hash)) {
    if (key.startsWith(prefix) && value !== undefined)
      query[decodeAddressPart(key.slice(prefix.length))] = decodeAddressPart(value);
  }
  const version = Number(query.v ?? 0);
  for (const upgrade of UPGRADERS.slice(Number.isInteger(version) ? Math.max(0, version) : UPGRADERS.length)) {
    query = upgrade(query);
  }
  const { run = "", tool = "", host = "", base = "", lang = "", v: _, ...options } = query;
  return { run, tool, host, base, lang, options };
}

/** The pairs of a view, version first, empty ones left out. */
function hashParts(view: View, prefix: string): string[] {
  const { run, tool, host, base, lang, options } = view;
  const named = { v: String(URL_VERSION), run, tool, host, base, lang, ...options };
  return Object.entries(named)
    .filter(([, value]) => value !== "")
    .map(([key, value]) => `${prefix}${encodeHashPart(key)}=${encodeHashPart(value)}`);
}

export function standaloneHash(view: View): string {
  return `#${hashParts(view, "").join("&")}`;
}

/** TensorBoard's hash with our keys replaced: `#<plugin>` stays first, keys of others stay where they are. */
export function tensorBoardHash(hash: string, plugin: string, view: View): string {
  const prefix = keyPrefix(plugin);
  const others = hashEntries(hash)
    .filter(([key], index) => !key.startsWith(prefix) && !(index === 0 && key === plugin))
    .map(([key, value]) => (value === undefined ? key : `${key}=${value}`));
  return `#${[plugin, ...hashParts(view, prefix), ...others].join("&")}`;
}

export function keyPrefix(plugin: string): string {
  return `p.${plugin}.`;
}

/** The plugin that TensorBoard shows, which is the first key of its hash; "" where it has not chosen yet. */
export function activePlugin(hash: string): string {
  const [first] = hashEntries(hash);
  return first && first[1] === undefined ? decodeAddressPart(first[0]) : "";
}

export function sameView(a: View, b: View): boolean {
  return standaloneHash(a) === standaloneHash(b);
}
