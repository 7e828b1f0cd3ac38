/** Components that few readers open: their modules are loaded when they are first drawn. */

import { type FunctionComponent, h } from "preact";
import { useEffect, useState } from "preact/hooks";

/** Draws nothing until the module is there. */
export function lazy<Props extends object>(load: () => Promise<FunctionComponent<Props>>): FunctionComponent<Props> {
  return function Lazy(props: Props) {
    const [loaded, setLoaded] = useState<{ readonly component: FunctionComponent<Props> } | null>(null);
    useEffect(() => {
      load().then((component) => setLoaded({ component }));
    }, []);
    return loaded && h(loaded.component, props);
  };
}
