/** Keys of the keyboard with what they do. */

import type { KeyHelp } from "../state/pagekeys";

export function KeyList({ keys, class: className }: { keys: KeyHelp; class?: string }) {
  return (
    <dl class={className}>
      {keys.map(([key, what]) => (
        <div key={key}>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  );
}
