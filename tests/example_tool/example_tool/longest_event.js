/** Draws the tool's answer as one sentence. */
export default function draw(element, answer) {
  const sentence = document.createElement("p");
  sentence.id = "longest-event";
  sentence.textContent = `${answer.headline?.text ?? "Nothing was recorded."} (${answer.table("events").rows.length} planes)`;
  element.append(sentence);
}
