/** What the shown session is compared with: another session of the logdir, or a file. */

import { isReport } from "../../api/client";
import { moment } from "../../base/format";
import type { Store } from "../../state/store";
import type { PageProps } from "../page";
import { closeFile, opened, openFile, swapFile, swapItems } from "./file";

const FILE_TIP =
  "A report of tb-profile report, or a digest, such as a baseline of tb-profile check. It is read here; the server compares its figures and keeps nothing.";

function Chooser() {
  if (isReport()) return null;
  return (
    <label class="button file" data-tip={FILE_TIP}>
      Open a report…
      <input
        type="file"
        accept=".html,.htm,.json"
        onChange={({ currentTarget }) => {
          const file = currentTarget.files?.[0];
          // The same file can be chosen again.
          currentTarget.value = "";
          if (file) void openFile(file);
        }}
      />
    </label>
  );
}

function SwapButton({ swap }: { swap: () => void }) {
  return (
    <button type="button" class="button" data-tip="Compare the other way round" onClick={swap}>
      Swap
    </button>
  );
}

/** Both sides, where one is a file. */
function Sides({ run, store }: { run: string; store: Store }) {
  const file = opened.value;
  if (!file) return null;
  const [base, fresh] = file.side === "base" ? [file.name, run] : [run, file.name];
  return (
    <p class="compare-base">
      <span>
        Base <b>{base}</b>
      </span>
      <SwapButton swap={() => swapFile(store)} />
      <span class="quiet">
        new: <b>{fresh}</b>
      </span>
      <Chooser />
      <button type="button" class="button" aria-label="Close the file" data-tip="Without the file" onClick={closeFile}>
        ×
      </button>
    </p>
  );
}

export function Base({ page }: { page: PageProps }) {
  const { session, store } = page;
  const { base } = store.view.value;
  if (opened.value) return <Sides run={session.run} store={store} />;
  const others = (store.sessions.state.value.value?.sessions ?? []).filter(({ run }) => run !== session.run);
  const known = others.some(({ run }) => run === base);
  if (!others.length && !base) {
    return (
      <p class="compare-base nothing">
        There is no other session in this logdir. Capture again after the next change. <Chooser />
      </p>
    );
  }
  return (
    <p class="compare-base">
      <label>
        Base{" "}
        <select
          value={base}
          onChange={(event) => {
            closeFile();
            store.go({ base: event.currentTarget.value });
          }}
        >
          <option value="">choose a session</option>
          {base && !known && <option value={base}>{base}</option>}
          {others.map(({ run, modified }) => (
            <option key={run} value={run}>
              {run} ({moment(modified)})
            </option>
          ))}
        </select>
      </label>
      <Chooser />
      {base && known && (
        <SwapButton
          swap={() => store.go({ run: base, base: session.run, options: swapItems(store.view.peek().options) })}
        />
      )}
      <span class="quiet">
        new: <b>{session.run}</b>
      </span>
    </p>
  );
}
