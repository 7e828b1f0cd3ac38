/** Which language the page is shown in: the address says it, or what was chosen here before, or the browser. */

import { getJson } from "../api/client";
import { type Catalogue, type Language, matchLanguage, setLanguage } from "../base/messages";
import { detectFrame } from "./frame";
import { createSettings } from "./settings";
import { storageOf } from "./storage";
import { addressedView } from "./view";

export function wantedLanguage(ownWindow: Window & typeof globalThis): Language {
  const addressed = addressedView(detectFrame(ownWindow)).lang;
  const { language } = createSettings(storageOf(ownWindow)).value;
  const [first] = [[addressed], [language], ownWindow.navigator.languages]
    .map((names) => names.filter(Boolean))
    .filter(({ length }) => length > 0);
  return matchLanguage(first ?? []);
}

/** Tells the page its language, before anything of it is made; without its catalogue, it stays English. */
export async function loadLanguage(ownWindow: Window & typeof globalThis): Promise<void> {
  const language = wantedLanguage(ownWindow);
  if (language === "en") return;
  try {
    applyLanguage(ownWindow, language, await getJson<Catalogue>("messages", { lang: language }));
  } catch {
    // The page is worth more than its language.
  }
}

/** Texts and fonts of a page are those of a language from now on. */
export function applyLanguage(ownWindow: Window, language: Language, texts: Catalogue): void {
  ownWindow.document.documentElement.lang = language === "zh" ? "zh-Hans" : language;
  setLanguage(language, texts);
}
