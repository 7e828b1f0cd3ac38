/** One tooltip for the page: any element with `data-tip` explains itself on hover and on keyboard focus. */

import { useEffect, useRef, useState } from "preact/hooks";

interface ShownTip {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly above: boolean;
}

const DELAY_MS = 180;
const WIDTH_PX = 360;

function tipFor(target: Element, text: string): ShownTip {
  const box = target.getBoundingClientRect();
  const above = box.bottom > window.innerHeight * 0.65;
  const x = Math.max(8, Math.min(box.left, window.innerWidth - WIDTH_PX - 8));
  return { text, x, y: above ? window.innerHeight - box.top + 6 : box.bottom + 6, above };
}

export function TipLayer() {
  const [shown, setShown] = useState<ShownTip | null>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => {
    const show = (event: Event) => {
      clearTimeout(timer.current);
      const element = event.target as Element;
      // A click focuses as well, and whoever clicks a button does not ask what it does.
      if (event.type === "focusin" && !element.matches(":focus-visible")) return;
      const target = element.closest?.("[data-tip]");
      const text = target?.getAttribute("data-tip");
      if (!target || !text) setShown(null);
      else timer.current = setTimeout(() => setShown(tipFor(target, text)), DELAY_MS);
    };
    const hide = () => {
      clearTimeout(timer.current);
      setShown(null);
    };
    const hideOnEscape = (event: KeyboardEvent) => event.key === "Escape" && hide();
    const listeners = new AbortController();
    const { signal } = listeners;
    document.addEventListener("pointerover", show, { signal });
    document.addEventListener("focusin", show, { signal });
    document.addEventListener("focusout", hide, { signal });
    document.addEventListener("scroll", hide, { capture: true, signal });
    document.addEventListener("pointerdown", hide, { signal });
    document.addEventListener("keydown", hideOnEscape, { signal });
    return () => {
      hide();
      listeners.abort();
    };
  }, []);
  if (!shown) return null;
  const at = shown.above ? { bottom: `${shown.y}px` } : { top: `${shown.y}px` };
  return (
    <div class="tip" role="tooltip" style={{ left: `${shown.x}px`, maxWidth: `${WIDTH_PX}px`, ...at }}>
      {shown.text}
    </div>
  );
}
