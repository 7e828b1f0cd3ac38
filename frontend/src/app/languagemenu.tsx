/** The menu of languages; inside TensorBoard, too, which has none. */

import { currentLanguage, LANGUAGES, type Language, t } from "../base/messages";
import type { Store } from "../state/store";
import { Icon } from "../view/icons";
import { Menu } from "../view/menu";

export function LanguageMenu({ store }: { store: Store }) {
  const choose = (language: Language) => {
    store.settings.value = { ...store.settings.value, language };
    store.replace({ lang: language });
    // Texts are made as the page is loaded.
    window.location.reload();
  };
  return (
    <Menu label={<Icon name="language" />} name={t("Language")} tip={t("Language")} align="right">
      {() => (
        <div class="items">
          {Object.entries(LANGUAGES).map(([code, name]) => (
            <button
              key={code}
              type="button"
              lang={code}
              aria-pressed={code === currentLanguage()}
              onClick={() => choose(code as Language)}
            >
              {name}
            </button>
          ))}
        </div>
      )}
    </Menu>
  );
}
