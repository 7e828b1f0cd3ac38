/** A name whose parts are separated by slashes; where it has no room its end is shown, which tells most. */

export function PathName({ text }: { text: string }) {
  return text.includes("/") ? (
    <span class="path-name">
      <bdi dir="ltr">{text}</bdi>
    </span>
  ) : (
    text
  );
}
