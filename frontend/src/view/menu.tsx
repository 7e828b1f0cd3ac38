/** A button that opens a panel below itself; closes on Escape, on a click elsewhere and when the focus leaves. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

interface MenuProps {
  readonly label: ComponentChildren;
  readonly class?: string;
  readonly tip?: string;
  /** What it is called where its label is no text. */
  readonly name?: string;
  /** By which a key finds it. */
  readonly id?: string;
  /** Which edge of the button the panel is aligned with. */
  readonly align?: "left" | "right";
  readonly children: (close: () => void) => ComponentChildren;
}

export function Menu({ label, class: className = "button", tip, name, id, align = "left", children }: MenuProps) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  useEffect(() => {
    if (!open) return;
    const leave = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener("pointerdown", leave);
    document.addEventListener("focusin", leave);
    return () => {
      document.removeEventListener("pointerdown", leave);
      document.removeEventListener("focusin", leave);
    };
  }, [open]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && open) {
      event.stopPropagation();
      close();
    }
  };
  return (
    <div class="menu" role="presentation" ref={root} onKeyDown={onKeyDown}>
      <button
        type="button"
        class={className}
        ref={button}
        aria-haspopup="true"
        aria-expanded={open}
        aria-label={name}
        data-menu={id}
        data-tip={open ? undefined : tip}
        onClick={() => setOpen(!open)}
      >
        {label}
      </button>
      {open && <div class={`menu-panel ${align}`}>{children(close)}</div>}
    </div>
  );
}
