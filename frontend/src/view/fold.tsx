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
  readonly asked?: boolean;
  /** Made only once it is open. */
  readonly children: () => ComponentChildren;
}

const KEY = "open";

export function Fold({ id, title, line, asked = false, children }: FoldProps) {
  const [kept, keep] = useChoice(KEY);
  const ids = kept.split(",").filter(Boolean);
  const open = ids.includes(id) || asked;
  const element = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    if (asked) element.current?.scrollIntoView({ block: "start" });
  }, [asked]);
  const onToggle = (event: { currentTarget: HTMLDetailsElement }) => {
    const now = event.currentTarget.open;
    if (now !== ids.includes(id)) keep((now ? [...ids, id] : ids.filter((each) => each !== id)).join(","));
  };
  return (
    <details class="fold" ref={element} open={open} onToggle={onToggle}>
      <summary>
        <h2>{title}</h2>
        {line && <span class="quiet">{line}</span>}
      </summary>
      {open && <div class="inside">{children()}</div>}
    </details>
  );
}
