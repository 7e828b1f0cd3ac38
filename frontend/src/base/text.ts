/** Texts of any kind, halves of characters among them: cut, and into addresses and back, without a throw. */

/** At most `units` of a string's length from its begin; a character that would be cut in two is left out. */
export function cutEnd(text: string, units: number): string {
  return text.slice(0, isInsideCharacter(text, units) ? units - 1 : units);
}

/** At most `units` of a string's length from its end; a character that would be cut in two is left out. */
export function cutBegin(text: string, units: number): string {
  const from = Math.max(0, text.length - units);
  return text.slice(isInsideCharacter(text, from) ? from + 1 : from);
}

/** Whether the two halves of one character stand before and behind an index. */
function isInsideCharacter(text: string, index: number): boolean {
  return /^[\ud800-\udbff][\udc00-\udfff]$/.test(text.slice(index - 1, index + 1));
}

/** The text, in which no line ends between a figure and its unit. */
export function withUnitsBesideFigures(text: string): string {
  return text.replace(/(\d) (?=(?:%|[nmµ]?s|[kMGT]?i?B)(?![\p{L}\d]))/gu, "$1\u00a0");
}

/** A part of an address as the text that it stands for; a stray % in a link made by hand is taken as it stands. */
export function decodeAddressPart(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A text as a part of an address; a lone half of a character, which no address can hold, becomes U+FFFD. */
export function encodeAddressPart(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, "\ufffd"));
}

const WIDE = /[\u1100-\u11ff\u2e80-\ud7af\uf900-\ufaff\uff00-\uff60]/g;

/** How many letters wide a text is: those of Chinese, Japanese and Korean are as wide as two. */
export function widthInLetters(text: string): number {
  return text.length + (text.match(WIDE)?.length ?? 0);
}

const WORDS = new Intl.Segmenter(undefined, { granularity: "word" });
/** Letters of Chinese and Japanese, between whose words no blanks stand. */
const UNSPACED = /[\u2e80-\u9fff]/;
/** Words of Hiragana alone are particles and endings of what stands before them. */
const ENDING = /^[\u3040-\u309f]+$/;

/** The parts of a heading behind which a line may end: words with their blanks, those of one letter with another. */
export function breakableParts(text: string): string[] {
  const answer: string[] = [];
  for (const { segment, isWordLike } of WORDS.segment(text)) {
    const last = answer.at(-1) ?? " ";
    const meets = segment.length > 1 && last.length > 1 && isWordLike && !ENDING.test(segment) && !last.endsWith("（");
    const begins = segment === "（" || (meets && UNSPACED.test(`${last.at(-1)}${segment[0]}`));
    if (begins || !answer.length || (last.endsWith(" ") && segment !== " ")) answer.push(segment);
    else answer[answer.length - 1] += segment;
  }
  return answer;
}

/** How many letters wide two lines of such parts are at least. */
export function widthOfTwoLines(parts: readonly string[]): number {
  const lengths = parts.map(widthInLetters);
  const all = lengths.reduce((sum, length) => sum + length, 0);
  let first = 0;
  let least = all;
  for (const length of lengths) {
    first += length;
    least = Math.min(least, Math.max(first, all - first));
  }
  return least;
}
