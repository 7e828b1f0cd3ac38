/** The recommendation tables hold scraps of html in text. They become plain segments here; markup never reaches the page. */

export interface Segment {
  readonly text: string;
  readonly href?: string;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: "\u00a0" };
const TOKEN = /<\/?([a-z][a-z0-9]*)\b([^<>]*)>/gi;
const HREF = /\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>]+))/i;

function decodeEntities(text: string): string {
  return text.replace(/&(#x?[0-9a-f]+|[a-z]+);/gi, (whole, name: string) => {
    if (!name.startsWith("#")) return ENTITIES[name.toLowerCase()] ?? whole;
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** Only links to the web are kept; a script: or data: address is not one. */
export function safeHref(address: string): string | undefined {
  return /^https?:\/\/[^\s]+$/i.test(address) ? address : undefined;
}

/** Text and links in order; all other tags vanish, their content stays. */
export function segments(html: string): Segment[] {
  const found: Segment[] = [];
  let href: string | undefined;
  let from = 0;
  const push = (raw: string) => {
    const text = decodeEntities(raw);
    if (text) found.push(href === undefined ? { text } : { text, href });
  };
  for (const token of html.matchAll(TOKEN)) {
    push(html.slice(from, token.index));
    from = token.index + token[0].length;
    if (token[1]?.toLowerCase() !== "a") continue;
    const address = HREF.exec(token[2] ?? "");
    href = token[0].startsWith("</")
      ? undefined
      : safeHref(decodeEntities(address?.[1] ?? address?.[2] ?? address?.[3] ?? ""));
  }
  push(html.slice(from));
  return found;
}
