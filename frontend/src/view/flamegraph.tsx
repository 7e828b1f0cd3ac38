/** A tree of calls as a flame graph that hangs down: a click on a call fills the width with it, one above goes back out. */

import { useMemo, useRef, useState } from "preact/hooks";
import { type CallTree, callName } from "../base/calltree";
import { largest } from "../base/extent";
import { formatPercent } from "../base/format";
import { joinNames, t } from "../base/messages";
import { sliceColour, textColour } from "../base/slicecolour";
import { deltaText, weightText } from "./calltable";
import { childrenOf, flameBoxes } from "./flamelayout";

const ROW_PX = 19;
/** Narrower boxes cannot be pointed at. */
const NARROWEST_SHARE = 0.002;
const TEXT_FROM_SHARE = 0.02;
/** Per cent of the colour of a call that the baseline has not at all: its text stays readable. */
export const MOST_TINT_PERCENT = 40;

interface FlameGraphProps {
  readonly tree: CallTree;
  readonly label: string;
  readonly dark: boolean;
  /** Calls whose names contain it stand out. */
  readonly find: string;
}

/** What was not looked for. */
const NOT_MATCHING = { color: "var(--text)", backgroundColor: "var(--shade)" } as const;

/** By name; against a baseline the more red the more was added, the more blue the less is left. */
function boxColours(
  tree: CallTree,
  node: number,
  dark: boolean,
): { readonly color: string; readonly backgroundColor: string } {
  const delta = tree.delta?.[node];
  if (delta === undefined) {
    const [red, green, blue] = sliceColour(callName(tree, node), dark);
    return { color: textColour([red, green, blue]), backgroundColor: `rgb(${red} ${green} ${blue})` };
  }
  const most = Math.max(tree.total[node] ?? 0, tree.base_total?.[node] ?? 0, 1);
  const share = Math.round((MOST_TINT_PERCENT * Math.abs(delta)) / most);
  const tint = delta > 0 ? "var(--bad)" : "var(--link)";
  return { color: "var(--text)", backgroundColor: `color-mix(in srgb, ${tint} ${share}%, var(--shade))` };
}

export function FlameGraph({ tree, label, dark, find }: FlameGraphProps) {
  const children = useMemo(() => childrenOf(tree), [tree]);
  const [zoomed, setZoomed] = useState<{ readonly tree: CallTree; readonly node: number }>({ tree, node: -1 });
  const zoomedNode = zoomed.tree === tree ? zoomed.node : -1;
  const boxes = useMemo(() => flameBoxes(tree, children, zoomedNode, NARROWEST_SHARE), [tree, children, zoomedNode]);
  const root = useRef<HTMLFieldSetElement>(null);
  const depth = largest(boxes.map((box) => box.depth));
  const words = find.trim().toLowerCase();
  const describe = (node: number) => {
    const [own, total] = [tree.own[node] ?? 0, tree.total[node] ?? 0];
    const many = tree.calls[node] ?? 0;
    const figures = [
      weightText(tree, total),
      ...(tree.total_weight > 0 ? [formatPercent(total / tree.total_weight)] : []),
      // Threads are not called.
      ...(many ? [t("{count, plural, one {# call} other {# calls}}", { count: many })] : []),
    ];
    return [
      callName(tree, node),
      joinNames(figures),
      ...(own < total ? [t("itself {weight}", { weight: weightText(tree, own) })] : []),
      ...(tree.delta ? [t("{change} against the baseline", { change: deltaText(tree, node) })] : []),
    ].join("\n");
  };
  const onKey = (event: KeyboardEvent) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape" && zoomedNode >= 0) setZoomed({ tree, node: -1 });
    else if (step) {
      const buttons = [...(root.current?.querySelectorAll("button") ?? [])];
      const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
      buttons[at + step]?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <fieldset
      class="flame"
      aria-label={label}
      ref={root}
      style={{ height: `${(depth + 1) * ROW_PX}px` }}
      onKeyDownCapture={onKey}
    >
      {boxes.map((box, index) => {
        const name = callName(tree, box.node);
        const isOther = words !== "" && !name.toLowerCase().includes(words);
        return (
          <button
            key={box.node}
            type="button"
            tabIndex={index ? -1 : 0}
            aria-label={describe(box.node)}
            data-tip={describe(box.node)}
            style={{
              top: `${box.depth * ROW_PX}px`,
              left: `${100 * box.left}%`,
              width: `${100 * box.width}%`,
              ...(isOther ? NOT_MATCHING : boxColours(tree, box.node, dark)),
            }}
            onClick={() => setZoomed({ tree, node: box.node === zoomedNode ? -1 : box.node })}
          >
            {box.width > TEXT_FROM_SHARE && name}
          </button>
        );
      })}
    </fieldset>
  );
}
