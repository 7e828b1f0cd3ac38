/**
 * Texts of the pages in the language of the reader. The English text is the key of the catalogues, which lie in
 * `tb_profile_plugin/messages` and arrive by marks of their keys; one that a catalogue lacks stays English. Arguments stand in braces, and what depends on
 * a number as `{count, plural, one {# step} other {# steps}}`, as in ICU's MessageFormat.
 */

/** Each language by its code, as it calls itself. */
export const LANGUAGES = { en: "English", ko: "한국어", ja: "日本語", zh: "简体中文" } as const;

export type Language = keyof typeof LANGUAGES;
export type Catalogue = Readonly<Record<string, string>>;
export type Arguments = Readonly<Record<string, string | number>>;

/** Narrow, and no line breaks at it. */
export const THIN = "\u202f";

let language: Language = "en";
let catalogue: Catalogue = {};

/** Stands for an English text in a catalogue that arrives: much shorter; `runtime/messages.py` makes the same. */
export function catalogueKey(text: string): string {
  let hash = 0x811c9dc5;
  for (const letter of text) hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  return (hash >>> 8).toString(16);
}

/** Texts are in this language from now on; called once, before anything else of the page is loaded. */
export function setLanguage(code: Language, texts: Catalogue): void {
  language = code;
  catalogue = texts;
}

/** The language in which the page is shown. */
export function currentLanguage(): Language {
  return language;
}

/** The first of the wanted languages, such as `zh-CN`, that there is; else English. */
export function matchLanguage(wanted: readonly string[]): Language {
  const codes = wanted.map((name) => name.split("-", 1)[0]?.toLowerCase() ?? "");
  return codes.find((code): code is Language => Object.hasOwn(LANGUAGES, code)) ?? "en";
}

/** A text of the pages in the reader's language, with its arguments put in; numbers are whole ones. */
export function t(text: string, values?: Arguments): string {
  const translation = language === "en" ? undefined : catalogue[catalogueKey(text)];
  const words = translation ?? text;
  return values ? fillSlots(words, values, translation === undefined ? "en" : language) : words;
}

/** Digits of a whole number, by thousands as sentences of the server mark them. */
export function groupDigits(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+$)/g, ",");
}

/** Names one after the other, apart as the language wants them. */
export function joinNames(names: readonly string[]): string {
  return names.join(language === "ja" || language === "zh" ? "、" : ", ");
}

/** Whole sentences one after the other. */
export function joinSentences(...texts: readonly string[]): string {
  return texts.filter(Boolean).join(language === "ja" || language === "zh" ? "" : " ");
}

const PLURAL = /\{(\w+), plural, ((?:=?\w+ \{[^{}]*\} ?)+)\}/g;

function fillSlots(words: string, values: Arguments, spoken: Language): string {
  return words
    .replace(PLURAL, (_, name: string, forms: string) => {
      const value = values[name] ?? "";
      const wanted = Number(value) === 1 && spoken === "en" ? "one" : "other";
      return (new RegExp(`${wanted} \\{([^{}]*)\\}`).exec(forms)?.[1] ?? "").replaceAll("#", argumentText(value));
    })
    .replace(/\{(\w+)\}/g, (slot, name: string) => argumentText(values[name] ?? slot));
}

function argumentText(value: string | number): string {
  return typeof value === "number" ? groupDigits(String(value)) : value;
}
