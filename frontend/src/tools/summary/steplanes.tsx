/** One typical step below the bar, on the same axis: why its devices were idle, what they and the busiest threads did. */

import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { isReport } from "../../api/client";
import { loadStepSlices, type StepLane, type StepSlices } from "../../api/timeline";
import { formatTime, PS_PER_MS } from "../../base/format";
import { t } from "../../base/messages";
import { displayName } from "../../base/parts";
import { sliceColour, textColour } from "../../base/slicecolour";
import { linkToTime } from "../../state/links";
import type { Theme } from "../../state/theme";
import { fontFamily } from "../../view/fonts";
import { useResource } from "../../view/useresource";
import { ViewLink } from "../../view/viewlink";
import type { PageProps } from "../page";

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
  const x = (timePs: number) => ((timePs - begin) / (end - begin)) * width;
  for (const [index, beginPs] of lane.begin.entries()) {
    const name = names[lane.name[index] ?? -1] ?? "";
    const left = x(beginPs);
    const right = x(lane.end[index] ?? beginPs);
    const top = (lane.row[index] ?? 0) * ROW_PX;
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
      <span class="cut lane-name" data-tip={lane.title}>
        {lane.title}
      </span>
      <canvas ref={canvas} style={{ height: `${lane.rows * ROW_PX}px` }} />
    </>
  );
}

/** The typical step's slices; null while they are loaded, and without lanes where it takes no time or loading fails. */
function useStepSlices({ answer, session }: PageProps): StepSlices | null {
  const host = answer.text("example_host");
  const beginMs = answer.number("example_begin_ms");
  const lengthMs = answer.number("parts_ms") ?? 0;
  const isLoadable = beginMs !== null && lengthMs > 0 && !isReport();
  const range = { begin: (beginMs ?? 0) * PS_PER_MS, end: ((beginMs ?? 0) + lengthMs) * PS_PER_MS };
  const { value, problem } = useResource(
    isLoadable ? (signal) => loadStepSlices(session.run, host, range, signal) : null,
    [session.run, host, beginMs, lengthMs],
  );
  return isLoadable && !problem ? value : { ...range, lanes: [], names: [] };
}

/** `children` is the bar whose axis the lanes share. */
export function StepLanes({ page, children }: { page: PageProps; children: ComponentChildren }) {
  const { answer, store } = page;
  const slices = useStepSlices(page);
  const beginMs = answer.number("example_begin_ms");
  if (beginMs === null || isReport()) return children;
  const step = answer.text("example_step");
  const lengthMs = answer.number("parts_ms") ?? 0;
  const host = answer.text("example_host");
  const lanesText =
    page.session.hosts.length > 1
      ? t("Lanes: typical step {step} of {host}", { step, host })
      : t("Lanes: typical step {step}", { step });
  const hasLanes = slices !== null && slices.lanes.length > 0;
  const timelineLink = linkToTime(store, { beginMs, lengthMs, host });
  return (
    <figure
      class={slices ? "axis" : "axis waiting"}
      aria-label={t("Typical step {step}, below the mean of all steps", { step })}
    >
      <span class="cut lane-name">{t("The mean step")}</span>
      {children}
      {slices?.lanes.map((lane, index) => (
        <Lane key={index} slices={slices} lane={lane} theme={store.theme.value} />
      ))}
      <figcaption>
        <span>0</span>
        <span>
          {hasLanes && lanesText} {timelineLink && <ViewLink {...timelineLink} />}
        </span>
        <span>{formatTime(lengthMs)}</span>
      </figcaption>
    </figure>
  );
}
