/** Hooks for the reader's choices on a page, which survive reloading and sharing. */

import { createContext } from "preact";
import { useContext, useMemo } from "preact/hooks";
import { memoryOptions, type OptionStore, type Options } from "../state/optionstore";

export const OptionStoreContext = createContext<OptionStore | null>(null);

/** The store in the address where there is one and `shared` is set; else one that lives as long as the component. */
export function useOptionStore(shared: boolean): OptionStore {
  const addressStore = useContext(OptionStoreContext);
  const memoryStore = useMemo(memoryOptions, []);
  return (shared && addressStore) || memoryStore;
}

/** All choices of the page, and a function that changes some of them in one step; "" takes a choice back. */
export function useChoices(): readonly [Options, (change: Options) => void] {
  const store = useOptionStore(true);
  const change = (changed: Options) => {
    const next = Object.entries({ ...store.options.peek(), ...changed }).filter(([, value]) => value !== "");
    store.write(Object.fromEntries(next), true);
  };
  return [store.options.value, change];
}

/** Whether figures include the time in which devices are idle, and a function that sets that. */
export function useIdleSwitch(): readonly [boolean, (isIncluded: boolean) => void] {
  const [choice, choose] = useChoice("idle");
  return [choice === "in", (isIncluded) => choose(isIncluded ? "in" : "")];
}

/** One choice by its key, "" until it is made, and a function that sets it. */
export function useChoice(key: string): readonly [string, (value: string) => void] {
  const [choices, change] = useChoices();
  return [choices[key] ?? "", (value) => change({ [key]: value })];
}
