/** Links that change the view in place; clicks for a new tab or window stay the browser's. */

import type { Link } from "../state/links";
import { Icon } from "./icons";

export function onPlainClick(go: () => void): (event: MouseEvent) => void {
  return (event) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    go();
  };
}

interface ViewLinkProps extends Link {
  readonly tip?: string | undefined;
}

export function ViewLink({ label, href, go, tip }: ViewLinkProps) {
  return (
    <a class="go" href={href} target="_top" data-tip={tip} onClick={onPlainClick(go)}>
      {label} <Icon name="arrow" />
    </a>
  );
}
