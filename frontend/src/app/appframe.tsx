/** The frame around every page. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { isReport } from "../api/client";
import { t } from "../base/messages";
import type { ToolEntry } from "../base/schema";
import { Capture } from "../state/capture";
import { type Doubts, doubtsOf } from "../state/doubts";
import { isInForeignPage } from "../state/frame";
import { addressOptions } from "../state/optionstore";
import { groupsOf, MISSING_PAGES } from "../state/pages";
import { storageOf } from "../state/storage";
import type { Store } from "../state/store";
import { OptionStoreContext } from "../view/choices";
import { DoubtContext } from "../view/doubt";
import { Icon } from "../view/icons";
import { lazy } from "../view/lazy";
import { TipLayer } from "../view/tip";
import { ArrivalNotice } from "./arrivalnotice";
import { BaselineMenu } from "./baselinemenu";
import { CaptureButton } from "./capturebutton";
import { Content } from "./content";
import { HealthMenu } from "./healthmenu";
import { listenToKeys } from "./keys";
import { LanguageMenu } from "./languagemenu";
import { OptionsMenu } from "./optionsmenu";
import { SessionPicker } from "./sessionpicker";
import { ShareButton } from "./sharebutton";
import { GroupTabs, HostSelect, PageTabs } from "./tabs";

const CaptureDialog = lazy(async () => (await import("./dialogs")).CaptureDialog);
const HelpDialog = lazy(async () => (await import("./dialogs")).HelpDialog);

const THEME_LABELS = { auto: t("Theme: as the system"), light: t("Theme: light"), dark: t("Theme: dark") } as const;
const NEXT_THEME = { auto: "light", light: "dark", dark: "auto" } as const;

function ThemeButton({ store }: { store: Store }) {
  const { theme } = store.settings.value;
  const change = () => {
    store.settings.value = { ...store.settings.value, theme: NEXT_THEME[theme] };
  };
  return (
    <button
      type="button"
      class="button"
      onClick={change}
      aria-label={THEME_LABELS[theme]}
      data-tip={THEME_LABELS[theme]}
    >
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

function useKeys(store: Store, toggleHelp: () => void): void {
  const groups = () => groupsOf(store.tools.state.peek().value ?? []);
  const openPage = (tool: ToolEntry | undefined) => tool && store.go({ tool: tool.name });
  useEffect(
    () =>
      listenToKeys(document, {
        groups: () => groups().map(({ id, pages }) => ({ id, pages: pages.length })),
        openGroup: (place) => openPage(groups()[place]?.first),
        openPage: (place) => {
          const shown = groups().find(({ id }) => id === store.tool.peek()?.group);
          openPage(shown?.pages[place]);
        },
        openPicker: () => document.querySelector<HTMLElement>('[data-menu="Session"]')?.click(),
        focusFilter,
        toggleHelp,
      }),
    [store],
  );
}

function FrameHeader({ store, capture, openHelp }: { store: Store; capture: Capture; openHelp: () => void }) {
  const { problem, value } = store.sessions.state.value;
  return (
    <header class="frame">
      <div class="strip">
        <SessionPicker store={store} />
        <BaselineMenu store={store} />
        <span class="spring" />
        <ArrivalNotice store={store} />
        {problem && value && <span class="offline">{t("The server does not answer; what is shown may be old.")}</span>}
        <CaptureButton capture={capture} />
        {!isReport() && <ShareButton store={store} />}
        {!isReport() && <LanguageMenu store={store} />}
        {!store.frame.plugin && <ThemeButton store={store} />}
        <button type="button" class="button" onClick={openHelp} aria-label={t("Help")} data-tip={t("Help. Key: ?")}>
          ?
        </button>
      </div>
      <div class="strip">
        <GroupTabs store={store} />
        <span class="spring" />
        <HealthMenu store={store} />
        <HostSelect store={store} />
        <OptionsMenu store={store} />
      </div>
      <PageTabs store={store} />
    </header>
  );
}

export function AppFrame({ store }: { store: Store }) {
  const [isHelpOpen, setHelpOpen] = useState(false);
  const optionStore = useMemo(() => addressOptions(store), [store]);
  const capture = useMemo(() => new Capture(store, storageOf(window), isInForeignPage(window)), [store]);
  useKeys(store, () => setHelpOpen((open) => !open));
  const pageTitle = store.view.value.tool === MISSING_PAGES ? t("Not in this capture") : store.tool.value?.title;
  const heading = [pageTitle, store.view.value.run].filter(Boolean).join(" · ");
  const title = [heading, t("Profile")].filter(Boolean).join(" · ");
  useEffect(() => {
    document.title = title;
  }, [title]);
  const doubts = useDoubts(store);
  const busy = store.answer.state.value.loading;
  const main = useRef<HTMLElement>(null);
  return (
    <>
      <button type="button" class="skip" onClick={() => main.current?.focus()}>
        {t("Skip to the content")}
      </button>
      <FrameHeader store={store} capture={capture} openHelp={() => setHelpOpen(true)} />
      <main ref={main} tabIndex={-1} aria-busy={busy} class={busy ? "busy" : undefined}>
        <h1 class="sr-only">{heading || t("Profile")}</h1>
        <OptionStoreContext.Provider value={optionStore}>
          <DoubtContext.Provider value={doubts}>
            <Content store={store} />
          </DoubtContext.Provider>
        </OptionStoreContext.Provider>
      </main>
      {isHelpOpen && <HelpDialog store={store} close={() => setHelpOpen(false)} />}
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
