/** Which session the shown one is compared with. */

import { moment } from "../../base/format";
import type { PageProps } from "../page";

export function Base({ page }: { page: PageProps }) {
  const { session, store } = page;
  const { base } = store.view.value;
  const others = (store.sessions.state.value.value?.sessions ?? []).filter(({ run }) => run !== session.run);
  const known = others.some(({ run }) => run === base);
  if (!others.length && !base) {
    return <p class="nothing">There is no other session in this logdir. Capture again after the next change.</p>;
  }
  return (
    <p class="compare-base">
      <label>
        Base{" "}
        <select value={base} onChange={(event) => store.go({ base: event.currentTarget.value })}>
          <option value="">choose a session</option>
          {base && !known && <option value={base}>{base}</option>}
          {others.map(({ run, modified }) => (
            <option key={run} value={run}>
              {run} ({moment(modified)})
            </option>
          ))}
        </select>
      </label>{" "}
      {base && known && (
        <button
          type="button"
          class="button"
          data-tip="Compare the other way round"
          onClick={() => store.go({ run: base, base: session.run, options: store.view.peek().options })}
        >
          Swap
        </button>
      )}{" "}
      <span class="quiet">
        new: <b>{session.run}</b>
      </span>
    </p>
  );
}
