/** Names in little room: where one is cut, what tells it from others is still seen. */

/** Shorter words fit wherever names stand. */
const SHORT_LETTERS = 24;
/** So many letters at the end of a long word stay: sizes and variants of kernels stand there. */
const TAIL_LETTERS = 9;

/** A name whose parts are separated by slashes shows its end, one that is a long word its begin and its end. */
export function PathName({ text }: { text: string }) {
  if (text.includes("/"))
    return (
      <span class="path-name">
        <bdi dir="ltr">{text}</bdi>
      </span>
    );
  if (text.length <= SHORT_LETTERS || text.includes(" ")) return text;
  const tail = text.length - TAIL_LETTERS;
  return (
    <span class="long-name">
      <span>{text.slice(0, tail)}</span>
      {text.slice(tail)}
    </span>
  );
}
