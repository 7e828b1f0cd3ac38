/** A frame in which a drawing is moved by dragging and enlarged with Ctrl and the wheel or with buttons. */

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { clamp } from "../base/clamp";
import { t } from "../base/messages";
import styles from "./style/graph.css?inline";
import { addStyles } from "./styles";

addStyles(styles);

export interface DrawingView {
  readonly x: number;
  readonly y: number;
  readonly scale: number;
}

interface PanZoomProps {
  readonly label: string;
  /** Size of the drawing. */
  readonly width: number;
  readonly height: number;
  /** What is shown at first in a frame of this width, and how high the frame is; keep it stable while the drawing stays. */
  readonly start: (room: number) => { readonly view: DrawingView; readonly height: number };
  readonly legend?: ComponentChildren;
  /** What SVG draws. */
  readonly children: ComponentChildren;
}

function zoomedView(view: DrawingView, factor: number, at: { x: number; y: number }): DrawingView {
  const scale = clamp(view.scale * factor, 0.1, 3);
  const ratio = scale / view.scale;
  return { scale, x: at.x - (at.x - view.x) * ratio, y: at.y - (at.y - view.y) * ratio };
}

export function PanZoom({ label, width, height, start, legend, children }: PanZoomProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [frameWidth, setFrameWidth] = useState(900);
  const [movedView, setMovedView] = useState<DrawingView | null>(null);
  const initial = start(frameWidth);
  const view = movedView ?? initial.view;
  const fittedView: DrawingView = { x: 0, y: 0, scale: Math.min(1, frameWidth / width, initial.height / height) };

  useEffect(() => setMovedView(null), [start]);
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const sizes = new ResizeObserver(() => setFrameWidth(element.clientWidth));
    sizes.observe(element);
    return () => sizes.disconnect();
  }, []);
  const currentView = useRef(view);
  currentView.current = view;
  useEffect(() => {
    const element = frame.current;
    // Only with Ctrl: the page scrolls over the drawing as over anything else.
    const wheel = (event: WheelEvent) => {
      if (!event.ctrlKey || !element) return;
      event.preventDefault();
      const bounds = element.getBoundingClientRect();
      const at = { x: event.clientX - bounds.left, y: event.clientY - bounds.top };
      setMovedView(zoomedView(currentView.current, Math.exp(-event.deltaY / 300), at));
    };
    element?.addEventListener("wheel", wheel, { passive: false });
    return () => element?.removeEventListener("wheel", wheel);
  }, []);

  const zoom = (factor: number) => setMovedView(zoomedView(view, factor, { x: frameWidth / 2, y: initial.height / 2 }));
  const drag = (event: PointerEvent) => {
    if ((event.target as Element).closest("[role=button]")) return;
    const from = { x: event.clientX - view.x, y: event.clientY - view.y };
    const element = event.currentTarget as HTMLElement;
    element.setPointerCapture(event.pointerId);
    const move = (to: PointerEvent) =>
      setMovedView({ scale: currentView.current.scale, x: to.clientX - from.x, y: to.clientY - from.y });
    element.addEventListener("pointermove", move);
    element.addEventListener("pointerup", () => element.removeEventListener("pointermove", move), { once: true });
  };
  return (
    <div class="graph">
      <div class="graph-bar">
        {legend}
        <span class="graph-zoom">
          <button type="button" class="button" aria-label={t("Zoom out")} onClick={() => zoom(1 / 1.3)}>
            −
          </button>
          <button type="button" class="button" aria-label={t("Zoom in")} onClick={() => zoom(1.3)}>
            +
          </button>
          <button
            type="button"
            class="button"
            onClick={() => setMovedView(fittedView)}
            disabled={view.scale <= fittedView.scale}
          >
            {t("Fit")}
          </button>
        </span>
      </div>
      <div class="graph-frame" ref={frame} style={{ height: `${Math.max(initial.height, 80)}px` }} onPointerDown={drag}>
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset cannot hold what SVG draws. */}
        <svg role="group" aria-label={label}>
          <g transform={`translate(${view.x} ${view.y}) scale(${view.scale})`}>{children}</g>
        </svg>
      </div>
    </div>
  );
}

interface SvgButtonProps {
  readonly class?: string;
  readonly label: string;
  readonly tip?: string;
  /** Whether it is chosen, of buttons that choose. */
  readonly pressed?: boolean;
  readonly transform?: string;
  readonly act: () => void;
  readonly onDblClick?: () => void;
  readonly children: ComponentChildren;
}

/** What SVG draws as a button, also for the keyboard. */
export function SvgButton({ class: className, label, tip, pressed, act, ...others }: SvgButtonProps) {
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    act();
  };
  return (
    // biome-ignore lint/a11y/useSemanticElements: SVG has no button.
    <g
      class={className}
      role="button"
      tabindex={0} // In SVG the names of attributes are case-sensitive.
      aria-pressed={pressed}
      aria-label={label}
      data-tip={tip}
      onClick={act}
      onKeyDown={onKeyDown}
      {...others}
    />
  );
}
