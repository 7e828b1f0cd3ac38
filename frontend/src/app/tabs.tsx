/** The way to every page: groups, the pages of the shown group, and what this capture cannot show. */

import { joinNames, t } from "../base/messages";
import type { ToolEntry } from "../base/schema";
import { groupsOf, MISSING_PAGES, missingByReason, type PageGroup } from "../state/pages";
import { ALL_HOSTS, type Store } from "../state/store";
import { LabelledSelect } from "../view/select";
import { onPlainClick } from "../view/viewlink";
import { groupLetters } from "./keys";

interface TabProps {
  readonly store: Store;
  readonly tool: string;
  readonly label: string;
  readonly tip: string;
  /** Whether its page is shown, or one of its pages. */
  readonly current: "page" | "true" | undefined;
  readonly quiet?: boolean;
}

function Tab({ store, tool, label, tip, current, quiet }: TabProps) {
  return (
    <a
      href={store.href({ tool })}
      target="_top"
      class={quiet ? "quiet" : undefined}
      aria-current={current}
      data-tip={tip}
      onClick={onPlainClick(() => store.go({ tool }))}
    >
      {label}
    </a>
  );
}

function questionOf(tool: ToolEntry): string {
  return tool.doc.split("\n")[0] ?? "";
}

function GroupTab({ store, group, letter }: { store: Store; group: PageGroup; letter: string }) {
  const { id, title, pages, first } = group;
  const hasSeveralPages = pages.length > 1;
  const about = hasSeveralPages ? joinNames(pages.map((page) => page.title)) : questionOf(first);
  const shown = store.tool.value?.group === id;
  const current = hasSeveralPages ? "true" : "page";
  const tip = letter ? `${about}\n${t("Keys: {keys}", { keys: `g ${letter}` })}` : about;
  return <Tab store={store} tool={first.name} label={title} tip={tip} current={shown ? current : undefined} />;
}

/** The second row: the pages of the shown group, where there are several. */
function GroupPageTabs({ store, group, letter }: { store: Store; group: PageGroup; letter: string }) {
  return (
    <nav class="tabs pages" aria-label={group.title}>
      {group.pages.map((page, index) => (
        <Tab
          key={page.name}
          store={store}
          tool={page.name}
          label={page.title}
          tip={`${questionOf(page)}\n${t("Keys: {keys}", { keys: `g ${letter} ${index + 1}` })}`}
          current={page === store.tool.value ? "page" : undefined}
        />
      ))}
    </nav>
  );
}

export function GroupTabs({ store }: { store: Store }) {
  const tools = store.tools.state.value.value ?? [];
  const groups = groupsOf(tools);
  const letters = groupLetters(groups.map(({ id }) => id));
  const missing = missingByReason(tools).flat().length;
  const showsMissing = store.view.value.tool === MISSING_PAGES;
  return (
    <nav class="tabs" aria-label={t("Pages")}>
      {groups.map((group, index) => (
        <GroupTab key={group.id} store={store} group={group} letter={letters[index] ?? ""} />
      ))}
      {missing > 0 && (
        <Tab
          store={store}
          tool={MISSING_PAGES}
          label={t("Not in this capture ({count})", { count: missing })}
          tip={t("Pages without data in this capture, and what to record for them")}
          current={showsMissing ? "page" : undefined}
          quiet
        />
      )}
    </nav>
  );
}

export function PageTabs({ store }: { store: Store }) {
  const groups = groupsOf(store.tools.state.value.value ?? []);
  const letters = groupLetters(groups.map(({ id }) => id));
  const index = groups.findIndex(({ id }) => id === store.tool.value?.group);
  const group = groups[index];
  return group && group.pages.length > 1 ? (
    <GroupPageTabs store={store} group={group} letter={letters[index] ?? ""} />
  ) : null;
}

export function HostSelect({ store }: { store: Store }) {
  const hosts = store.session.value?.hosts ?? [];
  const tool = store.tool.value;
  if (!tool || hosts.length < 2) return null;
  const chosen = store.host.value;
  const isKnown = chosen === ALL_HOSTS || hosts.includes(chosen);
  return (
    <LabelledSelect
      class="hosts"
      label={t("Host")}
      value={chosen}
      options={[
        ...(tool.all_hosts ? [[ALL_HOSTS, t("all {count}", { count: hosts.length })] as const] : []),
        ...hosts.map((host) => [host, host] as const),
        ...(isKnown ? [] : [[chosen, t("{host} (not here)", { host: chosen })] as const]),
      ]}
      choose={(host) => store.go({ host })}
    />
  );
}
