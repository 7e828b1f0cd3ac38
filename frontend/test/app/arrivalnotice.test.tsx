import { signal } from "@preact/signals";
import { render } from "preact";
import { act } from "preact/test-utils";
import { expect, it, vi } from "vitest";
import { ArrivalNotice } from "../../src/app/arrivalnotice";
import type { SessionEntry } from "../../src/base/schema";
import type { Store } from "../../src/state/store";

const entry = (run: string) =>
  ({ run, hosts: ["vm"], size: 1, modified: 1, facts: null, parts: [] }) as unknown as SessionEntry;

it("announces what arrives while another capture is open, until it is opened or left", async () => {
  const list = signal({ value: { sessions: [entry("old")] }, problem: null, loading: false });
  const view = signal({ run: "old", tool: "overview_page", host: "", options: {} });
  const go = vi.fn(({ run }: { run: string }) => {
    view.value = { ...view.value, run };
  });
  const store = { sessions: { state: list }, view, go, href: () => "#" } as unknown as Store;
  const page = document.createElement("div");
  await act(() => render(<ArrivalNotice store={store} />, page));
  expect(page.textContent).toBe("");
  const arrives = (run: string) =>
    act(() => {
      list.value = { ...list.value, value: { sessions: [entry(run), ...list.value.value.sessions] } };
    });
  await arrives("new");
  expect(page.textContent).toContain("New capture: new open");
  expect(page.querySelector("output")?.getAttribute("aria-live")).toBe("polite");
  await act(() => page.querySelector("a")?.click());
  expect(go).toHaveBeenCalledWith({ run: "new" });
  expect(page.textContent).toBe("");
  await arrives("newer");
  await act(() => page.querySelector("button")?.click());
  expect(page.textContent).toBe("");
});
