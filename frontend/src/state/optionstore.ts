/** Where the parts of a page keep what their reader chose: in the address, or just in memory. */

import { computed, type ReadonlySignal, signal } from "@preact/signals";
import type { Store } from "./store";

export type Options = Readonly<Record<string, string>>;

export interface OptionStore {
  readonly options: ReadonlySignal<Options>;
  /** `step`: the change is one that the browser's Back undoes. */
  write(options: Options, step: boolean): void;
}

export function addressOptions({ view, go, replace }: Pick<Store, "view" | "go" | "replace">): OptionStore {
  return {
    options: computed(() => view.value.options),
    write: (options, step) => (step ? go : replace)({ options }),
  };
}

export function memoryOptions(): OptionStore {
  const options = signal<Options>({});
  return {
    options,
    write: (next) => {
      options.value = next;
    },
  };
}
