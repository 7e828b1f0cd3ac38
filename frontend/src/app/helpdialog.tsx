/** The overlay of `?`: keys, and the pages with the question that each one answers. */

import { t } from "../base/messages";
import { type KeyHelp, shownPageKeys } from "../state/pagekeys";
import { groupsOf } from "../state/pages";
import type { Store } from "../state/store";
import { Dialog } from "../view/dialog";
import { KeyList } from "../view/keylist";
import { groupLetters } from "./keys";

const FRAME_KEYS: KeyHelp = [
  ["s", t("choose a session")],
  ["/", t("filter the rows of the page")],
  [t("g, then a letter"), t("open a group of pages; then a digit opens a page")],
  ["?", t("this help")],
  ["Esc", t("close menus and this help")],
];

function Keys({ title, keys }: { title: string; keys: KeyHelp }) {
  return (
    <>
      <h3>{title}</h3>
      <KeyList keys={keys} />
    </>
  );
}

export function HelpDialog({ store, close }: { store: Store; close: () => void }) {
  const groups = groupsOf(store.tools.state.value.value ?? []);
  const letters = groupLetters(groups.map(({ id }) => id));
  const pages = groups.flatMap((group, at) =>
    group.pages.map((page, index) => ({
      page,
      keys: [`g ${letters[at]}`, ...(group.pages.length > 1 ? [index + 1] : [])].join(" "),
    })),
  );
  return (
    <Dialog title={t("Help")} class="help" close={close}>
      {shownPageKeys.value.length > 0 && <Keys title={t("Keys of this page")} keys={shownPageKeys.value} />}
      <Keys title={t("Keys")} keys={FRAME_KEYS} />
      <h3>{t("Pages")}</h3>
      <dl>
        {pages.map(({ page, keys }) => (
          <div key={page.name}>
            <dt>
              <kbd>{keys}</kbd> {page.title}
            </dt>
            <dd>{page.doc.split("\n")[0]}</dd>
          </div>
        ))}
      </dl>
      <p class="quiet">{t("Point at an underlined word or figure for its explanation.")}</p>
    </Dialog>
  );
}
