/** The colour of a slice: by what kind of work its name tells, the same wherever the kind occurs. */

import { hashText } from "./namecolour";
import { type Part, partById, partByStateName } from "./parts";
import { cutEnd } from "./text";
import type { Colouring } from "./timelinecodec";

export type Rgb = readonly [number, number, number];

/** Work with a meaning of its own has the colour of the category that it counts into. */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/^(nccl|rccl)|AllReduce|all-reduce|all-gather|reduce-scatter|collective/i, "communication"],
  [/^Memcpy ?(\w2\w|\wto\w|P2P)|^copy(-start|-done)?([._-]?\d+)*$|outfeed/i, "copies"],
  [/infeed/i, "input"],
  [/^XlaCompile|^Compile|LocalClient::Compile|BackendCompile/, "compile"],
];

/** So much of a name tells its kind; the patterns below take the square of a text's length at worst. */
const KIND_LENGTH = 500;

/** What names of one kind have in common: the op's type, a Python file, a function without its numbers. */
export function kindOf(name: string): string {
  if (/^\d+$/.test(name)) return "step";
  if (name.startsWith("$")) return name.slice(0, name.indexOf(":") + 1 || undefined);
  const plain = cutEnd(name, KIND_LENGTH).replace(/#.*$/s, "").replace(/\(.*$/s, "");
  const type = /[^:]:([A-Za-z_]\w*)$/.exec(plain)?.[1] ?? plain;
  return type.replace(/[._-]?\d+(?=$|[._-])/g, "").trim() || name;
}

/** Where code of that name lies: a namespace, a Python file's folder or the file, the outermost scope or module. */
export function libraryOf(name: string): string {
  const plain = cutEnd(name, KIND_LENGTH).replace(/^\$|^void /, "");
  return /^[^:/(<]+(?=::|\/)/.exec(plain)?.[0] ?? kindOf(name);
}

const COLOURED_TEXT: Readonly<Record<Colouring, (name: string) => string>> = {
  kind: kindOf,
  name: (name) => name,
  library: libraryOf,
};

/** States have theirs whatever others are coloured by. */
export function sliceColour(name: string, dark: boolean, colouring: Colouring = "kind"): Rgb {
  const ownPart = partByStateName(name) ?? (colouring === "kind" ? partByMeaning(name) : undefined);
  if (ownPart) return fromHex(dark ? ownPart.dark : ownPart.light);
  const value = hashText(COLOURED_TEXT[colouring](name));
  const saturation = 38 + ((value >>> 9) % 22);
  const lightness = (dark ? 52 : 58) + ((value >>> 15) % 14);
  return fromHsl(value % 360, saturation / 100, lightness / 100);
}

/** Black and white differ as much from a colour of this luminance: by 4.58 to 1, from all others one of them by more. */
const MIDDLE_LUMINANCE = 0.179;

/** Whichever of a dark and a light text is easier to read on the colour. */
export function textColour([red, green, blue]: Rgb): string {
  const linear = (value: number) => (value <= 10 ? value / 3294.6 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  return luminance > MIDDLE_LUMINANCE ? "#000000" : "#ffffff";
}

function partByMeaning(name: string): Part | undefined {
  const meaning = MEANINGS.find(([pattern]) => pattern.test(name));
  return meaning && partById(meaning[1]);
}

function fromHex(text: string): Rgb {
  const value = Number.parseInt(text.slice(1), 16);
  return [value >> 16, (value >> 8) & 255, value & 255];
}

/** `hue` in degrees, the others as shares. */
function fromHsl(hue: number, saturation: number, lightness: number): Rgb {
  // https://www.w3.org/TR/css-color-4/#hsl-to-rgb
  const amplitude = saturation * Math.min(lightness, 1 - lightness);
  const channel = (offset: number) => {
    const k = (offset + hue / 30) % 12;
    return Math.round(255 * (lightness - amplitude * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  };
  return [channel(0), channel(8), channel(4)];
}
