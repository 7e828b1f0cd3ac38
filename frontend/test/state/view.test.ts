import { beforeEach, describe, expect, it } from "vitest";
import { detectFrame, type Frame, isInForeignPage, pluginName } from "../../src/state/frame";
import { createView, type ViewState } from "../../src/state/view";

beforeEach(() => {
  history.replaceState(null, "", "http://localhost:3000/");
});

const standalone = (): Frame => ({ plugin: "", window, element: null });
const tensorboard = (): Frame => ({ plugin: "profile", window, element: null });

function withView(frame: Frame, use: (state: ViewState) => void): void {
  const state = createView(frame);
  try {
    use(state);
  } finally {
    state.dispose();
  }
}

function arriveAt(hash: string): void {
  history.replaceState(null, "", hash);
  window.dispatchEvent(new PopStateEvent("popstate"));
}

describe("on its own", () => {
  it("writes a step of the user's as an entry of the history", () => {
    withView(standalone(), (state) => {
      const before = history.length;
      state.go({ run: "a", tool: "overview_page" });
      expect(location.hash).toBe("#v=1&run=a&tool=overview_page");
      expect(history.length).toBe(before + 1);
      state.replace({ host: "h" });
      expect(history.length).toBe(before + 1);
    });
  });

  it("drops the options with the tool, and keeps them with the host", () => {
    withView(standalone(), (state) => {
      state.go({ run: "a", tool: "pod_viewer", options: { step: "3" } });
      state.go({ host: "h" });
      expect(state.view.value.options).toEqual({ step: "3" });
      state.go({ tool: "overview_page" });
      expect(state.view.value).toMatchObject({ options: {}, host: "h" });
    });
  });

  it("follows back and forward", () => {
    withView(standalone(), (state) => {
      arriveAt("#v=1&run=b&tool=t");
      expect(state.view.value).toMatchObject({ run: "b", tool: "t" });
    });
  });

  it("makes links without going there", () => {
    withView(standalone(), (state) => {
      state.go({ run: "a" });
      expect(state.href({ tool: "t" })).toBe("/#v=1&run=a&tool=t");
      expect(state.view.value.tool).toBe("");
    });
  });
});

describe("inside TensorBoard", () => {
  it("keeps the plugin first and other keys", () => {
    history.replaceState(null, "", "?darkMode=true#profile&x=1");
    withView(tensorboard(), (state) => {
      state.go({ run: "a" });
      expect(location.search + location.hash).toBe("?darkMode=true#profile&p.profile.v=1&p.profile.run=a&x=1");
    });
  });

  it("leaves the address alone while another plugin is shown, and writes it again afterwards", () => {
    history.replaceState(null, "", "#profile&p.profile.run=a");
    withView(tensorboard(), (state) => {
      arriveAt("#scalars");
      state.replace({ host: "h" });
      expect(location.hash).toBe("#scalars");
      history.replaceState(null, "", "#profile");
      state.restore();
      expect(location.hash).toContain("p.profile.run=a");
    });
  });

  it("keeps its view when TensorBoard comes back without our keys", () => {
    history.replaceState(null, "", "#profile&p.profile.run=a");
    withView(tensorboard(), (state) => {
      arriveAt("#profile");
      expect(state.view.value.run).toBe("a");
      expect(location.hash).toContain("p.profile.run=a");
    });
  });

  it("reads xprof's links", () => {
    history.replaceState(null, "", "?run=a+b&tag=framework_op_stats&darkMode=true#profile");
    withView(tensorboard(), (state) => {
      expect(state.view.value).toEqual({
        run: "a b",
        tool: "framework_op_stats",
        host: "",
        base: "",
        lang: "",
        options: {},
      });
    });
  });
});

describe("the frame", () => {
  it("learns the plugin's name from the entry page's base", () => {
    expect(pluginName("http://h/foo/data/plugin/tb_profile/")).toBe("tb_profile");
    expect(pluginName("http://h/data/plugin/profile/index.html")).toBe("profile");
    expect(pluginName("http://h/index.html")).toBe("");
  });

  it("is the page itself without a parent", () => {
    expect(detectFrame(window)).toMatchObject({ plugin: "", element: null });
  });
});

describe("pages around ours", () => {
  const page = (origin: string, parent?: Window): Window => {
    const own = { origin } as { origin: string; parent: unknown };
    own.parent = parent ?? own;
    return own as unknown as Window;
  };
  const foreign = {
    get origin(): string {
      throw new DOMException("Blocked a frame", "SecurityError");
    },
  } as unknown as Window;

  it("are none, or of the same server", () => {
    expect(isInForeignPage(page("http://a:1"))).toBe(false);
    expect(isInForeignPage(page("http://a:1", page("http://a:1", page("http://a:1"))))).toBe(false);
  });

  it("are of another server, whichever of them it is", () => {
    expect(isInForeignPage(page("http://a:1", foreign))).toBe(true);
    expect(isInForeignPage(page("http://a:1", page("http://a:1", foreign)))).toBe(true);
    expect(isInForeignPage(page("http://a:1", page("http://b:2", page("http://a:1"))))).toBe(true);
  });
});
