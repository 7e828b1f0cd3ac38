/** Slices as instanced quads: one buffer and one call per lane. */

import { GAP_PX, type LanePlace, type Renderer, SEPARATE_FROM_PX, type Slices, type UploadedLane } from "./renderer";

const VERTEX = `#version 300 es
layout(location = 0) in vec2 corner;
layout(location = 1) in uint begin;
layout(location = 2) in uint length;
layout(location = 3) in float row;
layout(location = 4) in vec4 colour;
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
  float wide = to - from;
  // Merged slices, which are pale, stand side by side.
  to = wide > ${SEPARATE_FROM_PX.toFixed(1)} && colour.a > 0.99 ? to - 1.0 / ratio : max(to, from + 1.0 / ratio);
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

function compileProgram(gl: WebGL2RenderingContext): WebGLProgram | null {
  const program = gl.createProgram();
  for (const [kind, text] of [
    [gl.VERTEX_SHADER, VERTEX],
    [gl.FRAGMENT_SHADER, FRAGMENT],
  ] as const) {
    const shader = gl.createShader(kind);
    if (!shader) return null;
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  return gl.getProgramParameter(program, gl.LINK_STATUS) ? program : null;
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
    gl.enableVertexAttribArray(0);
    gl.vertexAttribPointer(0, 2, gl.FLOAT, false, 0, 0);
    this.integerColumn(1, slices.begin);
    this.integerColumn(2, slices.width);
    this.column(3, slices.row);
    gl.vertexAttribPointer(3, 1, gl.UNSIGNED_SHORT, false, 0, 0);
    this.colours = this.column(4, slices.colour);
    gl.vertexAttribPointer(4, 4, gl.UNSIGNED_BYTE, true, 0, 0);
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

  drop(): void {
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

/** A renderer on the canvas, or null where no graphics card draws WebGL 2 (or the browser took it away). */
export function createWebglRenderer(canvas: HTMLCanvasElement): Renderer | null {
  const gl = canvas.getContext("webgl2", CONTEXT_ATTRIBUTES);
  const program = gl && compileProgram(gl);
  if (!gl || !program) return null;
  const uniform = (name: string) => gl.getUniformLocation(program, name);
  const [leftLocation, leftRestLocation, pixelsPerUnitLocation] = [
    uniform("left"),
    uniform("leftRest"),
    uniform("pixelsPerUnit"),
  ];
  const [sizeLocation, placeLocation, ratioLocation] = [uniform("size"), uniform("place"), uniform("ratio")];
  const corners = gl.createBuffer();
  gl.bindBuffer(gl.ARRAY_BUFFER, corners);
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([0, 0, 1, 0, 0, 1, 1, 1]), gl.STATIC_DRAW);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  let height = 0;
  let pixelRatio = 1;
  return {
    kind: "webgl",
    upload: (slices) => new WebglLane(gl, slices, corners),
    start: (width, tall, ratio) => {
      [height, pixelRatio] = [tall, ratio];
      const [across, down] = [Math.round(width * ratio), Math.round(tall * ratio)];
      if (canvas.width !== across || canvas.height !== down) [canvas.width, canvas.height] = [across, down];
      gl.viewport(0, 0, across, down);
      gl.disable(gl.SCISSOR_TEST);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.useProgram(program);
      gl.uniform2f(sizeLocation, width, tall);
      gl.uniform1f(ratioLocation, ratio);
    },
    clip: (top, bottom) => {
      gl.enable(gl.SCISSOR_TEST);
      gl.scissor(
        0,
        Math.round((height - bottom) * pixelRatio),
        canvas.width,
        Math.max(0, Math.round((bottom - top) * pixelRatio)),
      );
    },
    draw: (handle, spot: LanePlace) => {
      const lane = handle as WebglLane;
      const start = (spot.begin - lane.slices.originPs) / lane.slices.psPerUnit;
      const wholeUnits = Math.max(-(2 ** 30), Math.min(2 ** 31 - 1, Math.floor(start)));
      gl.uniform1i(leftLocation, wholeUnits);
      gl.uniform1f(leftRestLocation, start - wholeUnits);
      gl.uniform1f(pixelsPerUnitLocation, lane.slices.psPerUnit / spot.psPerPixel);
      gl.uniform3f(placeLocation, spot.topPx, spot.rowHeightPx, spot.rowCount);
      lane.draw();
    },
    dispose: () => gl.getExtension("WEBGL_lose_context")?.loseContext(),
  };
}
