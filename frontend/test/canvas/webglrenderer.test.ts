import { afterEach, expect, it, vi } from "vitest";
import { createWebglRenderer } from "../../src/canvas/webglrenderer";

afterEach(() => vi.restoreAllMocks());

/** A canvas whose WebGL compiles no shader, or whose context is lost. */
function canvas(isLost: boolean) {
  const gl = {
    createShader: () => ({}),
    shaderSource() {},
    compileShader() {},
    getShaderParameter: () => false,
    getShaderInfoLog: () => "0:1: syntax error",
    deleteShader: vi.fn(),
    isContextLost: () => isLost,
  };
  return { gl, element: { getContext: () => gl } as unknown as HTMLCanvasElement };
}

it("tells why a shader does not compile, and leaves drawing to others", () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  const { gl, element } = canvas(false);
  expect(createWebglRenderer(element)).toBeNull();
  expect(warn.mock.calls[0]?.[1]).toContain("0:1: syntax error");
  expect(gl.deleteShader).toHaveBeenCalledTimes(1);
});

it("says nothing of a context that the browser took away", () => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  expect(createWebglRenderer(canvas(true).element)).toBeNull();
  expect(warn).not.toHaveBeenCalled();
});
