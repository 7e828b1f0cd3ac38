/** Families of fonts for what is drawn: a canvas takes none from the page's styles. As in `style/base.css`. */

import { currentLanguage, type Language } from "../base/messages";

const FAMILIES_BY_LANGUAGE: Readonly<Record<Language, string>> = {
  en: "",
  ko: '"Apple SD Gothic Neo", "Malgun Gothic", "Noto Sans KR", "Noto Sans CJK KR", ',
  ja: '"Hiragino Sans", "Yu Gothic UI", Meiryo, "Noto Sans JP", "Noto Sans CJK JP", ',
  zh: '"PingFang SC", "Microsoft YaHei UI", "Noto Sans SC", "Noto Sans CJK SC", "Source Han Sans SC", ',
};

/** The families for texts in the reader's language. */
export function fontFamily(): string {
  return `Roboto, "Helvetica Neue", ${FAMILIES_BY_LANGUAGE[currentLanguage()]}Arial, sans-serif`;
}
