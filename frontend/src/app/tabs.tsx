/** The tools as tabs, and the host selector beside them. */

import type { ToolEntry } from "../api/types";
import { ALL_HOSTS, type Store } from "../state/store";
import { assignKeys } from "./keys";

function tipOf(tool: ToolEntry, key: string | undefined, digit: number): string {
  const keys = [...(key ? [`g ${key}`] : []), ...(digit <= 9 ? [`g ${digit}`] : [])];
  const first = tool.doc.split("\n")[0] ?? "";
  const reason = tool.unavailable
    ? `Not for this capture: ${tool.unavailable.message} ${tool.unavailable.remedy}`
    : first;
  return keys.length ? `${reason}\nKey: ${keys.join(" or ")}` : reason;
}

export function Tabs({ store }: { store: Store }) {
  const tools = store.tools.state.value.value ?? [];
  const keys = assignKeys(tools.map((tool) => tool.title));
  const onClick = (event: MouseEvent, name: string) => {
    if (event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    store.go({ tool: name });
  };
  return (
    <nav class="tabs" aria-label="Tools">
      {tools.map((tool, place) => (
        <a
          key={tool.name}
          href={store.href({ tool: tool.name })}
          target="_top"
          class={tool.unavailable ? "unavailable" : undefined}
          aria-current={tool.name === store.view.value.tool ? "page" : undefined}
          data-tip={tipOf(tool, keys[place], place + 1)}
          onClick={(event) => onClick(event, tool.name)}
        >
          {tool.title}
        </a>
      ))}
    </nav>
  );
}

export function HostSelect({ store }: { store: Store }) {
  const hosts = store.session.value?.hosts ?? [];
  const tool = store.tool.value;
  if (!tool || hosts.length < 2) return null;
  const chosen = store.host.value;
  return (
    <label class="hosts">
      Host{" "}
      <select value={chosen} onChange={(event) => store.go({ host: event.currentTarget.value })}>
        {tool.all_hosts && <option value={ALL_HOSTS}>all {hosts.length}</option>}
        {hosts.map((host) => (
          <option key={host} value={host}>
            {host}
          </option>
        ))}
        {chosen !== ALL_HOSTS && !hosts.includes(chosen) && <option value={chosen}>{chosen} (not here)</option>}
      </select>
    </label>
  );
}
