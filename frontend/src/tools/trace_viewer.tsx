/** The timeline: what happened when, on every thread and device; a baseline's below, step over step. */

import { useMemo, useState } from "preact/hooks";
import { clockChoice, type Lanes, TimelineApi } from "../api/timeline";
import { t } from "../base/messages";
import { readTimelineView, VIEW_OPTIONS } from "../base/timelinecodec";
import { TIMELINE } from "../state/links";
import type { Store } from "../state/store";
import { Loading } from "../view/loading";
import { ProblemPage } from "../view/problems";
import styles from "../view/style/timeline.css?inline";
import details from "../view/style/timelinedetails.css?inline";
import { addStyles } from "../view/styles";
import type { PageProps } from "./page";
import { BaselineTimeline } from "./timeline/baselinepane";
import type { Engine } from "./timeline/engine";
import type { AddressOptions } from "./timeline/followstate";
import { TimelinePane } from "./timeline/pane";
import { createState } from "./timeline/state";
import { TopBar } from "./timeline/topbar";
import { useLanes } from "./timeline/uselanes";

addStyles(styles);
addStyles(details);

export default function TraceViewer({ store, session }: PageProps) {
  const host = store.host.value;
  const { idle } = store.settings.value;
  const clocks = clockChoice(store.view.value.options);
  const identity = `${session.run}\n${host}\n${clocks}\n${session.modified}\n${idle}`;
  const api = useMemo(() => new TimelineApi(session.run, host, clocks), [identity]);
  const { lanes, problem, progress } = useLanes(api, session.run);
  if (problem) return <ProblemPage problem={problem} />;
  if (!lanes) return <Loading what={t("Arranging the events")} progress={progress} />;
  return <Timeline key={identity} store={store} api={api} lanes={lanes} />;
}

/** The page's options that the view of the timeline knows; the others, e.g. which steps count, stay as they are. */
function addressOf(store: Store): AddressOptions {
  const isShown = () => store.view.value.tool === TIMELINE;
  const optionsWhere = (ofTimeline: boolean) =>
    Object.fromEntries(
      Object.entries(store.view.value.options).filter(([name]) => VIEW_OPTIONS.includes(name) === ofTimeline),
    );
  return {
    read: () => (isShown() ? optionsWhere(true) : {}),
    write: (options) => isShown() && store.replace({ options: { ...optionsWhere(false), ...options } }),
  };
}

interface TimelineProps {
  readonly store: Store;
  readonly api: TimelineApi;
  readonly lanes: Lanes;
}

function Timeline({ store, api, lanes }: TimelineProps) {
  const [engine, setEngine] = useState<Engine | null>(null);
  return (
    <div class="timeline">
      {engine && <TopBar engine={engine} store={store} />}
      <TimelinePane
        store={store}
        api={api}
        lanes={lanes}
        label={t("Timeline")}
        isMain
        createInitialState={() => createState(readTimelineView(store.view.peek().options))}
        address={useMemo(() => addressOf(store), [store])}
        setEngine={setEngine}
      />
      {engine && store.view.value.base && <BaselineTimeline store={store} main={engine} api={api} />}
    </div>
  );
}
