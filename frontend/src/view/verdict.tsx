/** The answer of a page in one sentence, with the way on. */

import { t } from "../base/messages";
import { withUnitsBesideFigures } from "../base/text";
import { Icon, type IconName } from "./icons";
import { onPlainClick } from "./plainclick";

export type Level = "ok" | "warn" | "bad" | "info" | "unknown";

const ICONS: Readonly<Record<Level, IconName>> = {
  ok: "ok",
  warn: "warning",
  bad: "error",
  info: "info",
  unknown: "info",
};
const LEVEL_NAMES: Readonly<Record<Level, string>> = {
  ok: t("Good"),
  warn: t("Could be better"),
  bad: t("Bottleneck"),
  info: t("Note"),
  unknown: t("Unknown"),
};

export function toLevel(text: string): Level {
  return Object.hasOwn(ICONS, text) ? (text as Level) : "unknown";
}

export function LevelMark({ level }: { level: Level }) {
  return (
    <span class={`mark ${level}`} role="img" aria-label={LEVEL_NAMES[level]} data-tip={LEVEL_NAMES[level]}>
      <Icon name={ICONS[level]} />
    </span>
  );
}

interface VerdictProps {
  readonly level: Level;
  readonly text: string;
  /** Why the sentence may be wrong; empty where nothing speaks against it. */
  readonly doubt?: string;
  /** Where to look next, e.g. the tool that shows the cause. */
  readonly next?: { readonly label: string; readonly href: string; readonly go: () => void } | undefined;
}

export function Verdict({ level, text, doubt, next }: VerdictProps) {
  return (
    <p class={`verdict ${level}`}>
      <LevelMark level={level} />
      <span>
        {withUnitsBesideFigures(text)}
        {doubt && (
          <span class="doubt">
            <Icon name="warning" /> {withUnitsBesideFigures(doubt)}
          </span>
        )}
      </span>
      {next && <GoLink {...next} />}
    </p>
  );
}

interface GoLinkProps {
  readonly label: string;
  readonly href: string;
  readonly go: () => void;
  readonly tip?: string | undefined;
}

/** A link that changes the view in place, and opens it in a new tab as other links do. */
export function GoLink({ label, href, go, tip }: GoLinkProps) {
  return (
    <a class="go" href={href} target="_top" data-tip={tip} onClick={onPlainClick(go)}>
      {label} <Icon name="arrow" />
    </a>
  );
}
