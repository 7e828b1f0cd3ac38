/** What fills the frame: the tool's page, or the reason why there is none. */

import { Component, type ComponentChildren } from "preact";
import { t } from "../base/messages";
import { errorProblem } from "../base/problem";
import type { Problem, ToolEntry } from "../base/schema";
import { Answer } from "../base/table";
import { MISSING_PAGES } from "../state/pages";
import { toProblem } from "../state/resource";
import type { Store } from "../state/store";
import { Loading } from "../view/loading";
import { ProblemPage } from "../view/problems";
import { useResource } from "../view/useresource";
import { loadPage } from "./loadpage";
import { MissingPages } from "./missingpages";
import { NoSessions, NoSuchSession } from "./nosession";

/** With the titles of the pages that are worked out. */
function progressWithTitles(store: Store) {
  const progress = store.progress.value;
  const titles = new Map((store.tools.state.value.value ?? []).map(({ name, title }) => [name, title]));
  return progress && { ...progress, computing: progress.computing.map((name) => titles.get(name) ?? name) };
}

/** A fault in one tool's page must not take the frame with it. */
class PageErrorBoundary extends Component<{ children: ComponentChildren }, { problem: Problem | null }> {
  override state = { problem: null };

  static override getDerivedStateFromError(error: unknown) {
    return { problem: toProblem(error) };
  }

  render() {
    return this.state.problem ? <ProblemPage problem={this.state.problem} /> : this.props.children;
  }
}

function RetryButton({ act }: { act: () => void }) {
  return (
    <button type="button" class="button" onClick={act}>
      {t("Try again")}
    </button>
  );
}

/** What pages of streamed tools get: they ask for what they show themselves. */
const EMPTY_ANSWER = new Answer({ tool: "", headline: null, facts: {}, tables: {}, notes: [] });

function ToolContent({ store, tool }: { store: Store; tool: ToolEntry }) {
  const { value: Page, problem } = useResource(() => loadPage(tool), [tool.name]);
  const session = store.session.value;
  const answer = store.answer.state.value;
  if (tool.unavailable) return <MissingPages store={store} wanted={tool} />;
  if (problem) return <ProblemPage problem={problem} />;
  if (answer.problem && answer.value === null) {
    return (
      <ProblemPage problem={answer.problem}>
        <RetryButton act={store.answer.refresh} />
      </ProblemPage>
    );
  }
  if (!Page || !session || (answer.value === null && !tool.streamed)) {
    return (
      <Loading what={t("Reading the capture: {page}", { page: tool.title })} progress={progressWithTitles(store)} />
    );
  }
  return (
    <PageErrorBoundary key={`${session.run}\n${tool.name}`}>
      <Page answer={answer.value ?? EMPTY_ANSWER} tool={tool} session={session} store={store} />
    </PageErrorBoundary>
  );
}

function unknownTool(name: string): Problem {
  return errorProblem("no_such_tool", t("There is no page “{name}”.", { name }), t("Choose a page above."));
}

export function Content({ store }: { store: Store }) {
  const sessions = store.sessions.state.value;
  const tools = store.tools.state.value;
  if (!sessions.value) {
    if (!sessions.problem) return <Loading what={t("Looking for sessions")} progress={null} />;
    return (
      <ProblemPage problem={sessions.problem}>
        <RetryButton act={store.reload} />
      </ProblemPage>
    );
  }
  if (!sessions.value.sessions.length) return <NoSessions list={sessions.value} />;
  if (!store.session.value && store.view.value.run) return <NoSuchSession store={store} list={sessions.value} />;
  if (!tools.value) {
    if (!tools.problem) return <Loading what={t("Opening the session")} progress={store.progress.value} />;
    return (
      <ProblemPage problem={tools.problem}>
        <RetryButton act={store.tools.refresh} />
      </ProblemPage>
    );
  }
  const tool = store.tool.value;
  if (store.view.value.tool === MISSING_PAGES) return <MissingPages store={store} />;
  return tool ? (
    <ToolContent store={store} tool={tool} />
  ) : (
    <ProblemPage problem={unknownTool(store.view.value.tool)} />
  );
}
