/** The overlay of `?`: keys, and the tools with the question that each one answers. */

import { type KeyHelp, pageKeys } from "../state/pagekeys";
import type { Store } from "../state/store";
import { Dialog } from "../view/dialog";
import { assignKeys } from "./keys";

const KEYS: KeyHelp = [
  ["s", "choose a session"],
  ["/", "filter the rows of the page"],
  ["g, then a letter or digit", "open a tool"],
  ["?", "this help"],
  ["Esc", "close menus and this help"],
];

function Keys({ title, keys }: { title: string; keys: KeyHelp }) {
  return (
    <>
      <h3>{title}</h3>
      <dl>
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

export function Help({ store, close }: { store: Store; close: () => void }) {
  const tools = store.tools.state.value.value ?? [];
  const letters = assignKeys(tools.map((tool) => tool.title));
  return (
    <Dialog title="Help" class="help" close={close}>
      {pageKeys.value.length > 0 && <Keys title="Keys of this page" keys={pageKeys.value} />}
      <Keys title="Keys" keys={KEYS} />
      <h3>Tools</h3>
      <dl>
        {tools.map((tool, place) => (
          <div key={tool.name}>
            <dt>
              <kbd>g {letters[place] || place + 1}</kbd> {tool.title}
            </dt>
            <dd>{tool.doc.split("\n")[0]}</dd>
          </div>
        ))}
      </dl>
      <p class="quiet">Point at any underlined word or figure to learn what it means and how it comes about.</p>
    </Dialog>
  );
}
