/** The answer of a page in one sentence, with the way on. */

import { t } from "../base/messages";
import type { Headline } from "../base/schema";
import { withUnitsBesideFigures } from "../base/text";
import type { Link } from "../state/links";
import { Icon, type IconName } from "./icons";
import { ViewLink } from "./viewlink";

export type Level = Headline["level"];

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
  readonly next?: Link | undefined;
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
      {next && <ViewLink {...next} />}
    </p>
  );
}
