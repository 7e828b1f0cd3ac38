/** Small pieces of text: figures with their explanation, code to copy, a way to a guide. */

import { t } from "../base/messages";
import { CopyButton } from "./copy";
import { Doubt } from "./doubt";

/** A page of the web to read more on; nothing where the address is another kind, which could be a script. */
export function Guide({ url, text = t("Guide") }: { url: string; text?: string }) {
  if (!url.startsWith("https://")) return null;
  return (
    <a class="guide" href={url} target="_blank" rel="noreferrer">
      {text}
    </a>
  );
}

interface FigureProps {
  readonly label: string;
  readonly value: string;
  readonly doc?: string | undefined;
  readonly note?: string | undefined;
  /** What it rests on, which findings may make doubtful. */
  readonly depends?: readonly string[];
}

/** One figure: its name, its value with the unit, and how it comes about on hover. */
export function Figure({ label, value, doc, note, depends = [] }: FigureProps) {
  return (
    <div class="figure">
      <dt class={doc ? "explained" : undefined} data-tip={doc} tabIndex={doc ? 0 : undefined}>
        {label}
      </dt>
      <dd>
        {value}
        {note && <small> {note}</small>}
        <Doubt depends={depends} />
      </dd>
    </div>
  );
}

export function Code({ text }: { text: string }) {
  return (
    <div class="code">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys */}
      <pre tabIndex={0}>{text}</pre>
      <CopyButton text={() => text} label={t("Copy")} name={t("Copy this code")} />
    </div>
  );
}
