/** A small mark beside a figure that a finding about the capture makes doubtful. */

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { joinSentences, t } from "../base/messages";
import type { Doubts } from "../state/doubts";
import { Icon } from "./icons";

export const DoubtContext = createContext<Doubts>(new Map());

/** Why a figure that rests on these is doubtful, in sentences; "" where nothing speaks against it. */
export function useDoubt(depends: readonly string[]): string {
  const doubts = useContext(DoubtContext);
  const findings = new Set(depends.flatMap((name) => doubts.get(name) ?? []));
  return joinSentences(...[...findings].map(({ message }) => message));
}

interface DoubtProps {
  /** What the figure rests on. */
  readonly depends: readonly string[];
  /** Inside of a button, which takes the focus and tells the reason itself. */
  readonly inButton?: boolean;
}

export function Doubt({ depends, inButton }: DoubtProps) {
  const reason = useDoubt(depends);
  if (!reason) return null;
  const caution = t("Caution: {reason}", { reason });
  return (
    <span class="doubtful" role="img" aria-label={caution} data-tip={caution} tabIndex={inButton ? undefined : 0}>
      <Icon name="warning" />
    </span>
  );
}
