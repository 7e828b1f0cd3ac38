/** The state of the page: the view, the server's answers, and what follows from both. */

import { batch, computed, effect, type ReadonlySignal, type Signal, signal } from "@preact/signals";
import { api } from "../api/client";
import type { Param, Progress, SessionDetails, SessionEntry, SessionList, ToolEntry } from "../base/schema";
import type { Answer } from "../base/table";
import type { View } from "../base/urlcodec";
import { detectFrame, type Frame } from "./frame";
import { pageToolOf } from "./pages";
import { type Resource, resource } from "./resource";
import { createSettings, type Settings } from "./settings";
import { storageOf } from "./storage";
import { createTheme, type Theme } from "./theme";
import { createView, type ViewState } from "./view";

export const ALL_HOSTS = "ALL_HOSTS";
const FIRST_TOOL = "overview_page";
const POLL_SESSIONS_MS = 10_000;
const POLL_PROGRESS_MS = 400;

export interface Store extends Pick<ViewState, "view" | "go" | "replace" | "href"> {
  readonly frame: Frame;
  readonly settings: Signal<Settings>;
  readonly theme: ReadonlySignal<Theme>;
  readonly sessions: Resource<SessionList>;
  /** The chosen session in the list; undefined while unknown and when there is none of that name. */
  readonly session: ReadonlySignal<SessionEntry | undefined>;
  /** The chosen session with its facts and problems. */
  readonly details: Resource<SessionDetails>;
  readonly tools: Resource<ToolEntry[]>;
  /** The tool whose page is shown; undefined while unknown and where the address names none. */
  readonly tool: ReadonlySignal<ToolEntry | undefined>;
  /** The host that the data is asked for: a name, ALL_HOSTS, or "" before a tool is known. */
  readonly host: ReadonlySignal<string>;
  readonly answer: Resource<Answer>;
  /** Another tool's answer with the same options, for a page that shows both; the caller disposes of it. */
  readonly loadAnswerOf: (name: string) => Resource<Answer>;
  readonly progress: ReadonlySignal<Progress | null>;
  /** Looks for new sessions and for changes of the shown one. */
  reload(): void;
}

/** Whether an option names another session, which the reader chooses once for all tools. */
export function isBaseline({ kind }: Param): boolean {
  return kind === "session" || kind === "baseline";
}

function effectiveHost(tool: ToolEntry | undefined, session: SessionEntry | undefined, chosen: string): string {
  if (!tool || !session) return "";
  if (chosen !== "" && chosen !== ALL_HOSTS) return chosen;
  return tool.all_hosts ? ALL_HOSTS : (session.hosts[0] ?? "");
}

/** Asks how far the server is, as long as something is loading. */
function followProgress(
  loading: ReadonlySignal<boolean>,
  run: ReadonlySignal<string>,
): ReadonlySignal<Progress | null> {
  const progress = signal<Progress | null>(null);
  effect(() => {
    progress.value = null;
    if (!loading.value || !run.value) return;
    const name = run.value;
    const controller = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const ask = async () => {
      try {
        progress.value = await api.progress(name, controller.signal);
      } catch {
        // The request that is being waited for tells its own error.
      }
      if (!controller.signal.aborted) timer = setTimeout(ask, POLL_PROGRESS_MS);
    };
    timer = setTimeout(ask, POLL_PROGRESS_MS);
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  });
  return progress;
}

/** Sessions made while the page is open appear by themselves; a hidden page does not ask. */
function watchSessions(sessions: Resource<SessionList>, ownWindow: Window): void {
  const isVisible = () => !ownWindow.document.hidden && ownWindow.innerHeight > 0;
  setInterval(() => {
    if (isVisible() && !sessions.state.peek().loading) sessions.refresh();
  }, POLL_SESSIONS_MS);
}

interface AnswerRequest {
  readonly tool: string;
  readonly host: string;
  readonly options: Readonly<Record<string, string>>;
}

/** What is asked of a tool in a view; null where it has nothing to answer. */
function answerRequest(tool: ToolEntry | undefined, host: string, { options, base }: View): AnswerRequest | null {
  if (!tool || tool.unavailable || tool.streamed) return null;
  // Options that only the page knows (a slider's place) cost no new request.
  const names = new Set(tool.params.map((param) => param.name));
  const chosen = Object.entries(options).filter(([name]) => names.has(name));
  const baselines = tool.params.filter(isBaseline).map(({ name }) => [name, base] as const);
  return { tool: tool.name, host, options: Object.fromEntries([...chosen, ...baselines]) };
}

/** The change with the options that several tools take, e.g. which steps count: they go along to every page. */
function withSharedOptions(change: Partial<View>, view: View, tools: readonly ToolEntry[]): Partial<View> {
  if (change.tool === undefined || change.run !== undefined || change.tool === view.tool) return change;
  const all = tools.flatMap(({ params }) => params.map(({ name }) => name));
  const shared = Object.entries(view.options).filter(([name]) => all.indexOf(name) !== all.lastIndexOf(name));
  return { ...change, options: { ...Object.fromEntries(shared), ...change.options } };
}

/** Chooses the newest session and its first page where an address names none. */
function completeView({ view, replace }: ViewState, sessions: Resource<SessionList>): void {
  effect(() => {
    const newest = sessions.state.value.value?.sessions[0];
    const { run, tool, options } = view.value;
    if (!run && newest) replace({ run: newest.run, tool: tool || FIRST_TOOL, options });
    else if (run && !tool) replace({ tool: FIRST_TOOL, options });
  });
}

export function createStore(ownWindow: Window & typeof globalThis): Store {
  const frame = detectFrame(ownWindow);
  const settings = createSettings(storageOf(ownWindow));
  const theme = createTheme(frame, settings);
  const viewState = createView(frame);
  const { view, go, replace, href, restore } = viewState;

  const sessions = resource(() => "sessions", api.sessions);
  const run = computed(() => view.value.run);
  const session = computed(() => {
    const list = sessions.state.value.value?.sessions;
    return list?.find((entry) => entry.run === run.value) ?? list?.find((entry) => entry.parts.includes(run.value));
  });
  // A session whose files changed is another one to the caches.
  const sessionVersion = computed(() => {
    const entry = session.value;
    return entry ? `${entry.run}\n${entry.modified}\n${entry.size}` : null;
  });
  const details = resource(
    () => sessionVersion.value,
    (signal) => api.session(run.peek(), signal),
  );
  const tools = resource(
    () => sessionVersion.value,
    (signal) => api.tools(run.peek(), signal),
  );
  const tool = computed(() => pageToolOf(tools.state.value.value ?? [], view.value.tool));
  const host = computed(() => effectiveHost(tool.value, session.value, view.value.host));
  const answerOfTool = (chosenTool: () => ToolEntry | undefined) => {
    const request = computed(() => sessionVersion.value && answerRequest(chosenTool(), host.value, view.value));
    const key = computed(() => request.value && `${sessionVersion.value}\n${JSON.stringify(request.value)}`);
    return resource(
      () => key.value,
      (signal) => {
        const { tool, host, options } = request.peek() as AnswerRequest;
        return api.answer(run.peek(), tool, host, options, signal);
      },
    );
  };
  const answer = answerOfTool(() => tool.value);
  const withShared = (change: Partial<View>) => withSharedOptions(change, view.value, tools.state.value.value ?? []);
  const loading = computed(() => answer.state.value.loading || tools.state.value.loading);
  const progress = followProgress(loading, run);
  completeView(viewState, sessions);

  const reload = () =>
    batch(() => {
      sessions.refresh();
      if (details.state.peek().problem) details.refresh();
      if (tools.state.peek().problem) tools.refresh();
      if (answer.state.peek().problem) answer.refresh();
    });
  watchSessions(sessions, ownWindow);
  if (frame.element) frame.element.reload = reload;
  // TensorBoard only hides the frames of other plugins: its address is another plugin's until we are shown again.
  if (frame.plugin) ownWindow.addEventListener("resize", restore);

  return {
    frame,
    settings,
    theme,
    view,
    go: (change) => go(withShared(change)),
    replace,
    href: (change) => href(withShared(change)),
    sessions,
    session,
    details,
    tools,
    tool,
    host,
    answer,
    loadAnswerOf: (name) => answerOfTool(() => tools.state.value.value?.find((entry) => entry.name === name)),
    progress,
    reload,
  };
}
