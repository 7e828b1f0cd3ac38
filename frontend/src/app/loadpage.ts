/** Finds the page of a tool: a file of its name in `tools/`, the module that it brings, or the generic one. */

import { h } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { moduleAddress } from "../api/client";
import type { ToolEntry } from "../base/schema";
import type { Answer } from "../base/table";
import type { Page, PageProps } from "../tools/page";

const PAGE_MODULES = import.meta.glob<{ default: Page }>("../tools/*.tsx");

/** Default export of a module that another distribution brings: draws the answer into an empty element. */
type DrawAnswer = (element: HTMLElement, answer: Answer) => void;

function createExternalPage(draw: DrawAnswer): Page {
  return function ExternalPage({ answer }: PageProps) {
    const container = useRef<HTMLDivElement>(null);
    useEffect(() => {
      const element = container.current;
      element?.replaceChildren();
      if (element) draw(element, answer);
    }, [answer]);
    return h("div", { ref: container });
  };
}

export async function loadPage(tool: ToolEntry): Promise<Page> {
  const load = PAGE_MODULES[`../tools/${tool.name}.tsx`];
  if (load) return (await load()).default;
  if (tool.page) {
    const module: { default: DrawAnswer } = await import(/* @vite-ignore */ moduleAddress(tool.page));
    return createExternalPage(module.default);
  }
  const generic = PAGE_MODULES["../tools/generic.tsx"];
  if (!generic) throw new Error("The generic page is missing from the build.");
  return (await generic()).default;
}
