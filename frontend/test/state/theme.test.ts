import { signal } from "@preact/signals";
import { afterEach, expect, it } from "vitest";
import type { Frame } from "../../src/state/frame";
import { createSettings, type Settings } from "../../src/state/settings";
import { storageOf } from "../../src/state/storage";
import { createTheme } from "../../src/state/theme";

const tick = () => new Promise((resolve) => setTimeout(resolve, 0));

afterEach(() => {
  document.body.className = "";
  localStorage.clear();
});

it("follows TensorBoard's class live", async () => {
  document.body.className = "dark-mode";
  const theme = createTheme(
    { plugin: "profile", window, element: null },
    signal<Settings>({ theme: "light", language: "", idle: false }),
  );
  expect(theme.value).toBe("dark");
  document.body.className = "other";
  await tick();
  expect(theme.value).toBe("light");
});

it("follows the system on its own until the user chooses", () => {
  let listener: (event: { matches: boolean }) => void = () => {};
  const query = {
    matches: true,
    addEventListener: (_: string, listen: typeof listener) => {
      listener = listen;
    },
  };
  const frame = { plugin: "", window: { matchMedia: () => query }, element: null } as unknown as Frame;
  const settings = signal<Settings>({ theme: "auto", language: "", idle: false });
  const theme = createTheme(frame, settings);
  expect(theme.value).toBe("dark");
  listener({ matches: false });
  expect(theme.value).toBe("light");
  settings.value = { theme: "dark", language: "", idle: false };
  expect(theme.value).toBe("dark");
});

it("keeps settings, and survives a spoilt store", () => {
  const settings = createSettings(localStorage);
  settings.value = { theme: "dark", language: "", idle: true };
  expect(createSettings(localStorage).value).toEqual({ theme: "dark", language: "", idle: true });
  for (const spoilt of ["{broken", "null", "7", '{"theme": "<b>"}', '{"theme": {}, "idle": 1}']) {
    localStorage.setItem("tb-profile.settings", spoilt);
    expect(createSettings(localStorage).value).toEqual({ theme: "auto", language: "", idle: true });
  }
  const shut = {
    get localStorage(): Storage {
      throw new DOMException("denied", "SecurityError");
    },
  };
  expect(createSettings(storageOf(shut as Window)).value).toEqual({ theme: "auto", language: "", idle: true });
});
