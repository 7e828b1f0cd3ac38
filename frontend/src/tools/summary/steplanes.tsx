/** One typical step below the bar, on the same axis: why its devices were idle, what they and the busiest threads did. */

import type { ComponentChildren } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { isReport } from "../../api/client";
import { loadStepSlices as loadGlance, type StepLane, type StepSlices } from "../../api/timeline";
import { time } from "../../base/format";
import { t } from "../../base/messages";
import { displayName } from "../../base/parts";
import { sliceColour, textColour } from "../../base/slicecolour";
import { linkToTime } from "../../state/links";
import type { Theme } from "../../state/theme";
import { fontFamily } from "../../view/fonts";
import { GoLink } from "../../view/verdict";
import type { PageProps } from "../page";

const PS_PER_MS = 1e9;
const ROW_PX = 13;
/** Narrower slices show no name, px. */
const NARROWEST_NAMED_PX = 36;
const PADDING_PX = 3;

/** Draws a lane's slices into its canvas, which is as wide as the bar above. */
function paintLane(canvas: HTMLCanvasElement, { begin, end, names }: StepSlices, lane: StepLane, dark: boolean): void {
  const context = canvas.getContext("2d");
  if (!context) return;
  const width = canvas.clientWidth;
  const ratio = devicePixelRatio;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(lane.rows * ROW_PX * ratio);
  context.scale(ratio, ratio);
  context.font = `10px ${fontFamily()}`;
  const x = (at: number) => ((at - begin) / (end - begin)) * width;
  for (const [at, from] of lane.begin.entries()) {
    const name = names[lane.name[at] ?? -1] ?? "";
    const [left, right] = [x(from), x(lane.end[at] ?? from)];
    const top = (lane.row[at] ?? 0) * ROW_PX;
    const colour = sliceColour(name, dark);
    const sliceWidth = Math.max(0.7, right - left - 0.5);
    context.fillStyle = `rgb(${colour.join(" ")})`;
    context.fillRect(left, top, sliceWidth, ROW_PX - 1);
    if (sliceWidth < NARROWEST_NAMED_PX) continue;
    context.save();
    context.beginPath();
    context.rect(left, top, sliceWidth - PADDING_PX, ROW_PX);
    context.clip();
    context.fillStyle = textColour(colour);
    context.fillText(displayName(name), left + PADDING_PX, top + ROW_PX - PADDING_PX - 1);
    context.restore();
  }
}

interface LaneProps {
  readonly slices: StepSlices;
  readonly lane: StepLane;
  readonly theme: Theme;
}

function Lane({ slices, lane, theme }: LaneProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useLayoutEffect(() => {
    const element = canvas.current;
    if (!element) return;
    const draw = () => paintLane(element, slices, lane, theme === "dark");
    const sizes = new ResizeObserver(draw);
    sizes.observe(element);
    return () => sizes.disconnect();
  }, [slices, lane, theme]);
  return (
    <>
      <span class="lane-name" data-tip={lane.title}>
        {lane.title}
      </span>
      <canvas ref={canvas} style={{ height: `${lane.rows * ROW_PX}px` }} />
    </>
  );
}

/** The typical step's slices; null until they are loaded, and without lanes where that fails. */
function useStepSlices({ answer, session }: PageProps): StepSlices | null {
  const [slices, setSlices] = useState<StepSlices | null>(null);
  const host = answer.text("example_host");
  const begin = answer.number("example_begin_ms");
  const length = answer.number("parts_ms") ?? 0;
  useEffect(() => {
    setSlices(null);
    if (begin === null || length <= 0 || isReport()) return;
    const controller = new AbortController();
    const [from, to] = [begin * PS_PER_MS, (begin + length) * PS_PER_MS];
    const none = { begin: from, end: to, lanes: [], names: [] };
    loadGlance(session.run, host, from, to, controller.signal).then(setSlices, () => setSlices(none));
    return () => controller.abort();
  }, [session.run, host, begin, length]);
  return slices;
}

/** `children` is the bar whose axis the lanes share. */
export function StepLanes({ page, children }: { page: PageProps; children: ComponentChildren }) {
  const { answer, store } = page;
  const slices = useStepSlices(page);
  const begin = answer.number("example_begin_ms");
  if (begin === null || isReport()) return children;
  const step = answer.text("example_step");
  const length = answer.number("parts_ms") ?? 0;
  const timelineLink = linkToTime(store, begin, length, answer.text("example_host"));
  return (
    <figure
      class={slices ? "axis" : "axis waiting"}
      aria-label={t("Typical step {step}, below the mean of all steps", { step })}
    >
      <span class="lane-name">{t("The mean step")}</span>
      {children}
      {slices?.lanes.map((lane, place) => (
        <Lane key={place} slices={slices} lane={lane} theme={store.theme.value} />
      ))}
      <figcaption>
        <span>0</span>
        <span>
          {t("Lanes: a typical step, {step}", { step })} {timelineLink && <GoLink {...timelineLink} />}
        </span>
        <span>{time(length)}</span>
      </figcaption>
    </figure>
  );
}
