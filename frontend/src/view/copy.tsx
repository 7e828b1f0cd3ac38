/** Putting text on the clipboard, and a button that does and says so. */

import { useState } from "preact/hooks";
import { t } from "../base/messages";
import { Icon, type IconName } from "./icons";

/** Browsers give a page that came over plain HTTP no clipboard: it has only the older way. */
export async function copyText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const fill = (event: ClipboardEvent) => {
    event.clipboardData?.setData("text/plain", text);
    event.preventDefault();
  };
  document.addEventListener("copy", fill, { once: true });
  if (!document.execCommand("copy")) throw new Error("copy");
}

type Outcome = "waiting" | "copied" | "failed";

const ICONS: Readonly<Record<Outcome, IconName>> = { waiting: "copy", copied: "ok", failed: "error" };
const OUTCOME_SHOWN_MS = 1500;

interface CopyButtonProps {
  /** Asked for when it is wanted. */
  readonly text: () => string | Promise<string>;
  readonly label: string;
  /** What it copies, where the label does not say. */
  readonly name?: string;
  readonly tip?: string;
}

export function CopyButton({ text, label, name, tip }: CopyButtonProps) {
  const [outcome, setOutcome] = useState<Outcome>("waiting");
  const copy = async () => {
    try {
      await copyText(await text());
      setOutcome("copied");
    } catch {
      setOutcome("failed");
    }
    setTimeout(() => setOutcome("waiting"), OUTCOME_SHOWN_MS);
  };
  const words = { waiting: label, copied: t("Copied"), failed: t("Copying failed") };
  return (
    <button type="button" class="button" onClick={copy} aria-label={name} data-tip={tip}>
      <Icon name={ICONS[outcome]} /> {words[outcome]}
    </button>
  );
}
