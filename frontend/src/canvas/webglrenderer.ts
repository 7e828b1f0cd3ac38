/** Slices as instanced quads: one buffer and one call per lane. */

import { GAP_PX, type LanePosition, type Renderer, SEPARATE_FROM_PX, type Slices, type UploadedLane } from "./renderer";

/** Where the shader finds its attributes. */
const CORNER = 0;
const BEGIN = 1;
const LENGTH = 2;
const ROW = 3;
const COLOUR = 4;

const VERTEX = `#version 300 es
layout(location = ${CORNER}) in vec2 corner;
layout(location = ${BEGIN}) in uint begin;
layout(location = ${LENGTH}) in uint length;
layout(location = ${ROW}) in float row;
layout(location = ${COLOUR}) in vec4 colour;
uniform int left;
uniform float leftRest;
uniform float pixelsPerUnit;
uniform vec2 size;
uniform vec3 place; // top, row height, rows
uniform float ratio;
out vec4 shade;
void main() {
  // Whole units first, so that nothing is lost to the precision of floats far from the capture's begin.
  float from = (float(int(begin) - left) - leftRest) * pixelsPerUnit;
  float to = from + float(length) * pixelsPerUnit;
  from = clamp(from, -8.0, size.x + 8.0);
  to = clamp(to, -8.0, size.x + 8.0);
  float width = to - from;
  // Merged slices, which are pale, stand side by side.
  to = width > ${SEPARATE_FROM_PX.toFixed(1)} && colour.a > 0.99 ? to - 1.0 / ratio : max(to, from + 1.0 / ratio);
  float x = mix(from, to, corner.x);
  float y = place.x + row * place.y + corner.y * (place.y - ${GAP_PX.toFixed(1)});
  bool hidden = row >= place.z;
  gl_Position = hidden ? vec4(2.0) : vec4(x / size.x * 2.0 - 1.0, 1.0 - y / size.y * 2.0, 0.0, 1.0);
  shade = vec4(colour.rgb * colour.a, colour.a);
}`;

const FRAGMENT = `#version 300 es
precision mediump float;
in vec4 shade;
out vec4 pixel;
void main() { pixel = shade; }`;

/** A shader of a kind (`gl.VERTEX_SHADER` or `gl.FRAGMENT_SHADER`); null where there is none, which the console tells. */
function compileShader(gl: WebGL2RenderingContext, kind: number, text: string): WebGLShader | null {
  const shader = gl.createShader(kind);
  if (!shader) return null;
  gl.shaderSource(shader, text);
  gl.compileShader(shader);
  if (gl.getShaderParameter(shader, gl.COMPILE_STATUS)) return shader;
  // A context that the browser took away compiles nothing, and says nothing.
  if (!gl.isContextLost()) console.warn("timeline: shader not compiled", gl.getShaderInfoLog(shader));
  gl.deleteShader(shader);
  return null;
}

/** Both shaders as a program; null where there is none, which the console tells. */
function compileProgram(gl: WebGL2RenderingContext): WebGLProgram | null {
  const vertexShader = compileShader(gl, gl.VERTEX_SHADER, VERTEX);
  const fragmentShader = vertexShader && compileShader(gl, gl.FRAGMENT_SHADER, FRAGMENT);
  if (!vertexShader || !fragmentShader) return null;
  const program = gl.createProgram();
  for (const shader of [vertexShader, fragmentShader]) {
    gl.attachShader(program, shader);
    gl.deleteShader(shader); // The program holds it until it goes itself.
  }
  gl.linkProgram(program);
  if (gl.getProgramParameter(program, gl.LINK_STATUS)) return program;
  if (!gl.isContextLost()) console.warn("timeline: shaders not linked", gl.getProgramInfoLog(program));
  return null;
}

class WebglLane implements UploadedLane {
  private readonly vertices: WebGLVertexArrayObject;
  private readonly buffers: WebGLBuffer[] = [];
  private readonly colours: WebGLBuffer;

  constructor(
    private readonly gl: WebGL2RenderingContext,
    readonly slices: Slices,
    corners: WebGLBuffer,
  ) {
    this.vertices = gl.createVertexArray();
    gl.bindVertexArray(this.vertices);
    gl.bindBuffer(gl.ARRAY_BUFFER, corners);
    gl.enableVertexAttribArray(CORNER);
    gl.vertexAttribPointer(CORNER, 2, gl.FLOAT, false, 0, 0);
    this.integerColumn(BEGIN, slices.begin);
    this.integerColumn(LENGTH, slices.width);
    this.column(ROW, slices.row);
    gl.vertexAttribPointer(ROW, 1, gl.UNSIGNED_SHORT, false, 0, 0);
    this.colours = this.column(COLOUR, slices.colour);
    gl.vertexAttribPointer(COLOUR, 4, gl.UNSIGNED_BYTE, true, 0, 0);
    gl.bindVertexArray(null);
  }

  private column(location: number, data: ArrayBufferView): WebGLBuffer {
    const { gl } = this;
    const buffer = gl.createBuffer();
    this.buffers.push(buffer);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, data, gl.STATIC_DRAW);
    gl.enableVertexAttribArray(location);
    gl.vertexAttribDivisor(location, 1);
    return buffer;
  }

  private integerColumn(location: number, data: Uint32Array): void {
    this.column(location, data);
    this.gl.vertexAttribIPointer(location, 1, this.gl.UNSIGNED_INT, 0, 0);
  }

  recolour(): void {
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.colours);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, this.slices.colour, this.gl.STATIC_DRAW);
  }

  draw(): void {
    this.gl.bindVertexArray(this.vertices);
    this.gl.drawArraysInstanced(this.gl.TRIANGLE_STRIP, 0, 4, this.slices.count);
  }

  dispose(): void {
    for (const buffer of this.buffers) this.gl.deleteBuffer(buffer);
    this.gl.deleteVertexArray(this.vertices);
  }
}

const CONTEXT_ATTRIBUTES: WebGLContextAttributes = {
  alpha: true,
  antialias: false,
  depth: false,
  premultipliedAlpha: true,
  // A processor that plays a graphics card takes ten times as long as a plain canvas.
  failIfMajorPerformanceCaveat: true,
};

/** The places of the shaders' inputs that are the same for all slices of a lane. */
function uniformsOf(gl: WebGL2RenderingContext, program: WebGLProgram) {
  const location = (name: string) => gl.getUniformLocation(program, name);
  return {
    left: location("left"),
    leftRest: location("leftRest"),
    pixelsPerUnit: location("pixelsPerUnit"),
    size: location("size"),
    place: location("place"),
    ratio: location("ratio"),
  };
}

class WebglRenderer implements Renderer {
  readonly kind = "webgl";
  private readonly uniforms: ReturnType<typeof uniformsOf>;
  /** The corners of the quad that each slice is drawn as. */
  private readonly corners: WebGLBuffer;
  /** Height of the frame that is drawn, and how many pixels of the screen a CSS pixel has there. */
  private heightPx = 0;
  private ratio = 1;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly gl: WebGL2RenderingContext,
    private readonly program: WebGLProgram,
  ) {
    this.uniforms = uniformsOf(gl, program);
    this.corners = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, this.corners);
    gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([0, 0, 1, 0, 0, 1, 1, 1]), gl.STATIC_DRAW);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  upload(slices: Slices): UploadedLane {
    return new WebglLane(this.gl, slices, this.corners);
  }

  start(widthPx: number, heightPx: number, ratio: number): void {
    const { canvas, gl } = this;
    this.heightPx = heightPx;
    this.ratio = ratio;
    const pixelWidth = Math.round(widthPx * ratio);
    const pixelHeight = Math.round(heightPx * ratio);
    if (canvas.width !== pixelWidth) canvas.width = pixelWidth;
    if (canvas.height !== pixelHeight) canvas.height = pixelHeight;
    gl.viewport(0, 0, pixelWidth, pixelHeight);
    gl.disable(gl.SCISSOR_TEST);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.useProgram(this.program);
    gl.uniform2f(this.uniforms.size, widthPx, heightPx);
    gl.uniform1f(this.uniforms.ratio, ratio);
  }

  clip(topPx: number, bottomPx: number): void {
    const { canvas, gl, heightPx, ratio } = this;
    gl.enable(gl.SCISSOR_TEST);
    // WebGL counts from the bottom.
    const fromBottom = Math.round((heightPx - bottomPx) * ratio);
    gl.scissor(0, fromBottom, canvas.width, Math.max(0, Math.round((bottomPx - topPx) * ratio)));
  }

  draw(handle: UploadedLane, position: LanePosition): void {
    const { gl, uniforms } = this;
    const lane = handle as WebglLane;
    const leftUnits = (position.begin - lane.slices.originPs) / lane.slices.psPerUnit;
    const wholeUnits = Math.max(-(2 ** 30), Math.min(2 ** 31 - 1, Math.floor(leftUnits)));
    gl.uniform1i(uniforms.left, wholeUnits);
    gl.uniform1f(uniforms.leftRest, leftUnits - wholeUnits);
    gl.uniform1f(uniforms.pixelsPerUnit, lane.slices.psPerUnit / position.psPerPixel);
    gl.uniform3f(uniforms.place, position.topPx, position.rowHeightPx, position.rowCount);
    lane.draw();
  }

  dispose(): void {
    this.gl.getExtension("WEBGL_lose_context")?.loseContext();
  }
}

/** A renderer on the canvas, or null where no graphics card draws WebGL 2 (or the browser took it away). */
export function createWebglRenderer(canvas: HTMLCanvasElement): Renderer | null {
  const gl = canvas.getContext("webgl2", CONTEXT_ATTRIBUTES);
  const program = gl && compileProgram(gl);
  return gl && program ? new WebglRenderer(canvas, gl, program) : null;
}
