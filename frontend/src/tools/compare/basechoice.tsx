/** What the shown session is compared with: another session of the logdir, or a file; two files with each other. */

import { isReport } from "../../api/client";
import { formatMoment } from "../../base/format";
import { joinSentences, t } from "../../base/messages";
import type { Answer } from "../../base/table";
import type { Link } from "../../state/links";
import type { Store } from "../../state/store";
import { LabelledSelect } from "../../view/select";
import { withElements } from "../../view/slots";
import type { PageProps } from "../page";
import {
  type CompareSide,
  closeFile,
  closeFiles,
  openedFiles,
  openFiles,
  swapFiles,
  swapItemCounts,
} from "./openedfiles";

const FILE_TIP = joinSentences(
  t("A report or digest, e.g. a baseline of tb-profile check."),
  t("The server compares its figures and stores nothing."),
  t("Of two files, the first is the base."),
);

function FileChooser({ label = t("Open a report…") }: { label?: string }) {
  if (isReport()) return null;
  return (
    <label class="button file" data-tip={FILE_TIP}>
      {label}
      <input
        type="file"
        multiple
        accept=".html,.htm,.json"
        onChange={({ currentTarget }) => {
          const files = [...(currentTarget.files ?? [])];
          // The same file can be chosen again.
          currentTarget.value = "";
          void openFiles(files);
        }}
      />
    </label>
  );
}

function SwapButton({ swap }: { swap: () => void }) {
  return (
    <button type="button" class="button" data-tip={t("Swap base and new side")} onClick={swap}>
      {t("Swap")}
    </button>
  );
}

function SideTitle({ side, run }: { side: CompareSide; run: string }) {
  const file = openedFiles.value?.[side];
  return (
    <>
      <b>{file?.name ?? run}</b>{" "}
      {file && (
        <button
          type="button"
          class="button"
          aria-label={t("Close: {name}", { name: file.name })}
          data-tip={t("Without the file")}
          onClick={() => closeFile(side)}
        >
          ×
        </button>
      )}
    </>
  );
}

/** Both sides, where one is a file, or both are. */
function FileSides({ run, store }: { run: string; store: Store }) {
  return (
    <p class="compare-base">
      <span>
        {t("Base")} <SideTitle side="base" run={run} />
      </span>
      <SwapButton swap={() => swapFiles(store)} />
      <span class="quiet">{withElements(t("new: {run}"), { run: <SideTitle side="new" run={run} /> })}</span>
      {!(openedFiles.value?.base && openedFiles.value.new) && <FileChooser label={t("Open the other side…")} />}
    </p>
  );
}

/** The way to the base that the answer holds for likely. */
export function linkToLikelyBase(answer: Answer, store: Store): Link | undefined {
  const base = answer.text("likely_base");
  const label = t("Compare with {base}: the same program, captured before", { base });
  return base ? { label, href: store.href({ base }), go: () => store.go({ base }) } : undefined;
}

export function BaseChoice({ page }: { page: PageProps }) {
  const { session, store } = page;
  const { base } = store.view.value;
  if (openedFiles.value) return <FileSides run={session.run} store={store} />;
  const others = (store.sessions.state.value.value?.sessions ?? []).filter(({ run }) => run !== session.run);
  const isListed = others.some(({ run }) => run === base);
  if (!others.length && !base) {
    return (
      <p class="compare-base nothing">
        {t("This logdir has no other session. Capture again after the next change.")} <FileChooser />
      </p>
    );
  }
  return (
    <p class="compare-base">
      <LabelledSelect
        label={t("Base")}
        value={base}
        options={[
          ["", t("choose a session")],
          ...(base && !isListed ? [[base, base] as const] : []),
          ...others.map(({ run, modified }) => [run, `${run} (${formatMoment(modified)})`] as const),
        ]}
        choose={(run) => {
          closeFiles();
          store.go({ base: run });
        }}
      />
      <FileChooser />
      {base && isListed && (
        <SwapButton
          swap={() => store.go({ run: base, base: session.run, options: swapItemCounts(store.view.peek().options) })}
        />
      )}
      <span class="quiet">{withElements(t("new: {run}"), { run: <b>{session.run}</b> })}</span>
    </p>
  );
}
