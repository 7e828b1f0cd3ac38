/** Messages some of whose arguments are elements. */

import type { ComponentChildren } from "preact";

/** A message with elements in the slots that its other arguments have left, wherever its language wants them. */
export function withElements(
  message: string,
  elements: Readonly<Record<string, ComponentChildren>>,
): ComponentChildren[] {
  return message.split(/\{(\w+)\}/).map((part, index) => (index % 2 ? (elements[part] ?? `{${part}}`) : part));
}
