/** The frame around every page. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { isReport } from "../api/client";
import type { ToolEntry } from "../api/types";
import { t } from "../base/messages";
import { createCapture } from "../state/capture";
import { type Doubts, doubtsOf } from "../state/doubts";
import { isInForeignPage } from "../state/frame";
import { addressOptions } from "../state/keeper";
import { groupsOf, MISSING_PAGES } from "../state/pages";
import { storageOf } from "../state/storage";
import type { Store } from "../state/store";
import { OptionStoreContext } from "../view/choices";
import { DoubtContext } from "../view/doubt";
import { Icon } from "../view/icons";
import { lazy } from "../view/lazy";
import { TipLayer } from "../view/tip";
import { Arrivals } from "./arrivals";
import { Baseline } from "./baseline";
import { CaptureButton } from "./capture";
import { Content } from "./content";
import { Health } from "./health";
import { listen } from "./keys";
import { LanguageMenu } from "./language";
import { Params } from "./params";
import { Picker } from "./picker";
import { ShareButton } from "./share";
import { HostSelect, PageTabs, Tabs } from "./tabs";

const CaptureDialog = lazy(async () => (await import("./dialogs")).CaptureDialog);
const Help = lazy(async () => (await import("./dialogs")).Help);

const THEMES = { auto: t("Theme: as the system"), light: t("Theme: light"), dark: t("Theme: dark") } as const;
const NEXT_THEME = { auto: "light", light: "dark", dark: "auto" } as const;

function ThemeButton({ store }: { store: Store }) {
  const { theme } = store.settings.value;
  const change = () => {
    store.settings.value = { ...store.settings.value, theme: NEXT_THEME[theme] };
  };
  return (
    <button type="button" class="button" onClick={change} aria-label={THEMES[theme]} data-tip={THEMES[theme]}>
      <Icon name="theme" />
    </button>
  );
}

function useDoubts(store: Store): Doubts {
  const problems = store.details.state.value.value?.problems;
  const hosts = store.session.value?.hosts;
  const host = store.host.value;
  const ownSteps = Boolean(store.view.value.options.step_event);
  return useMemo(() => doubtsOf(problems ?? [], host, hosts ?? [], ownSteps), [problems, hosts, host, ownSteps]);
}

function focusFilter(): void {
  const filter = document.querySelector<HTMLInputElement>("main [data-filter]");
  filter?.scrollIntoView({ block: "nearest" });
  filter?.focus();
}

export function Shell({ store }: { store: Store }) {
  const [help, setHelp] = useState(false);
  const keeper = useMemo(() => addressOptions(store), [store]);
  const capture = useMemo(() => createCapture(store, storageOf(window), isInForeignPage(window)), [store]);
  const groups = () => groupsOf(store.tools.state.peek().value ?? []);
  const open = (tool: ToolEntry | undefined) => tool && store.go({ tool: tool.name });
  useEffect(
    () =>
      listen(document, {
        groups: () => groups().map(({ id, pages }) => ({ id, pages: pages.length })),
        openGroup: (place) => open(groups()[place]?.first),
        openPage: (place) => {
          const shown = groups().find(({ id }) => id === store.tool.peek()?.group);
          open(shown?.pages[place]);
        },
        openPicker: () => document.querySelector<HTMLElement>('[data-menu="Session"]')?.click(),
        focusFilter,
        toggleHelp: () => setHelp((open) => !open),
      }),
    [store],
  );
  const shown = store.view.value.tool === MISSING_PAGES ? t("Not in this capture") : store.tool.value?.title;
  const about = [shown, store.view.value.run].filter(Boolean).join(" · ");
  const title = [about, t("Profile")].filter(Boolean).join(" · ");
  useEffect(() => {
    document.title = title;
  }, [title]);
  const doubts = useDoubts(store);
  const busy = store.answer.state.value.loading;
  const stale = store.sessions.state.value.problem && store.sessions.state.value.value;
  const main = useRef<HTMLElement>(null);
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        {t("Skip to the content")}
      </button>
      <header class="frame">
        <div class="strip">
          <Picker store={store} />
          <Baseline store={store} />
          <span class="spring" />
          <Arrivals store={store} />
          {stale && <span class="offline">{t("The server does not answer; what is shown may be old.")}</span>}
          <CaptureButton capture={capture} />
          {!isReport() && <ShareButton store={store} />}
          {!isReport() && <LanguageMenu store={store} />}
          {!store.frame.plugin && <ThemeButton store={store} />}
          <button
            type="button"
            class="button"
            onClick={() => setHelp(true)}
            aria-label={t("Help")}
            data-tip={t("Help. Key: ?")}
          >
            ?
          </button>
        </div>
        <div class="strip">
          <Tabs store={store} />
          <span class="spring" />
          <Health store={store} />
          <HostSelect store={store} />
          <Params store={store} />
        </div>
        <PageTabs store={store} />
      </header>
      <main ref={main} tabIndex={-1} aria-busy={busy} class={busy ? "busy" : undefined}>
        <h1 class="sr-only">{about || t("Profile")}</h1>
        <OptionStoreContext.Provider value={keeper}>
          <DoubtContext.Provider value={doubts}>
            <Content store={store} />
          </DoubtContext.Provider>
        </OptionStoreContext.Provider>
      </main>
      {help && <Help store={store} close={() => setHelp(false)} />}
      {capture.isOpen.value && (
        <CaptureDialog
          capture={capture}
          logdir={store.sessions.state.value.value?.searched[0] ?? ""}
          here={store.href({})}
        />
      )}
      <TipLayer />
    </>
  );
}
