/** A titled part of a page, with room for controls beside the title. */

import type { ComponentChildren } from "preact";

export interface SectionProps {
  readonly title: string;
  readonly doc?: string | undefined;
  readonly note?: ComponentChildren;
  readonly controls?: ComponentChildren;
  readonly class?: string;
  readonly children: ComponentChildren;
}

export function Section({ title, doc, note, controls, class: className = "", children }: SectionProps) {
  return (
    <section class={`section ${className}`}>
      <header>
        <h2 class={doc ? "explained" : undefined} data-tip={doc}>
          {title}
        </h2>
        {note && <span class="quiet">{note}</span>}
        {controls && <div class="controls">{controls}</div>}
      </header>
      {children}
    </section>
  );
}
