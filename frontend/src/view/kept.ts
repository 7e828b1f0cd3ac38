/** Choices that survive reloading and sharing: the one hook by which parts of pages keep them. */

import { createContext } from "preact";
import { useContext, useMemo } from "preact/hooks";
import { type Keeper, memoryKeeper, type Options } from "../state/keeper";

export const KeeperContext = createContext<Keeper | null>(null);

/** The address's keeper where there is one and `shared` asks for it; else one that lasts as long as the component. */
export function useKeeper(shared: boolean): Keeper {
  const given = useContext(KeeperContext);
  const own = useMemo(memoryKeeper, []);
  return (shared && given) || own;
}

/** All choices of the page, and how to change some of them in one step; "" takes a choice back. */
export function useChoices(): readonly [Options, (change: Options) => void] {
  const keeper = useKeeper(true);
  const change = (some: Options) => {
    const next = Object.entries({ ...keeper.options.peek(), ...some }).filter(([, value]) => value !== "");
    keeper.write(Object.fromEntries(next), true);
  };
  return [keeper.options.value, change];
}

/** One choice, "" until it is made. */
export function useKept(key: string): readonly [string, (value: string) => void] {
  const [choices, change] = useChoices();
  return [choices[key] ?? "", (value) => change({ [key]: value })];
}
