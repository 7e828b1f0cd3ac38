/** Colours for names without a meaning of their own: the same name has the same colour on every page. */

/** FNV-1a, 32 bit, stirred once more so that similar names come out far apart. */
export function hashText(text: string): number {
  let value = 0x811c9dc5;
  for (let place = 0; place < text.length; place++) {
    value = Math.imul(value ^ text.charCodeAt(place), 0x01000193);
  }
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  return (value ^ (value >>> 13)) >>> 0;
}

/** A colour by name; saturation and lightness vary a little so that near hues still differ. */
export function nameColour(name: string, dark: boolean): string {
  if (name === "IDLE") return dark ? "#4a4f58" : "#dfe2e7";
  const value = hashText(name);
  const hue = value % 360;
  const saturation = 38 + ((value >>> 9) % 22);
  const lightness = (dark ? 52 : 55) + ((value >>> 15) % 14);
  return `hsl(${hue} ${saturation}% ${lightness}%)`;
}
