/** A part of a page folded into one line that tells its result already; open ones stand in the address. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { useChoice } from "./choices";

interface FoldProps {
  /** Short and unique on its page. */
  readonly id: string;
  readonly title: string;
  /** What is inside, in a few words. */
  readonly line?: string | undefined;
  /** Whether the page was opened for it: then it is open, and in view. */
  readonly isTarget?: boolean;
  /** Made only once it is open. */
  readonly children: () => ComponentChildren;
}

const OPEN_OPTION = "open";

export function Fold({ id, title, line, isTarget = false, children }: FoldProps) {
  const [openIds, setOpenIds] = useChoice(OPEN_OPTION);
  const ids = openIds.split(",").filter(Boolean);
  const open = ids.includes(id) || isTarget;
  const element = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (isTarget) element.current?.scrollIntoView({ block: "start" });
  }, [isTarget]);
  const onToggle = (event: { currentTarget: HTMLDetailsElement }) => {
    const isOpen = event.currentTarget.open;
    if (isOpen !== ids.includes(id))
      setOpenIds((isOpen ? [...ids, id] : ids.filter((openId) => openId !== id)).join(","));
  };
  return (
    <details class="fold" ref={element} open={open} onToggle={onToggle}>
      <summary>
        <h2>{title}</h2>
        {line && <span class="cut quiet">{line}</span>}
      </summary>
      {open && <div class="inside">{children()}</div>}
    </details>
  );
}
