// A thin layer over WebGL2: programs, meshes, textures to draw into.

/** @typedef {number | boolean | number[] | Float32Array} UniformValue */
/** What can be drawn, and given back when it no longer is. @typedef {{ (): void, free: () => void }} Drawable */
/** A vertex array and its buffers. @typedef {{ array: WebGLVertexArrayObject, buffers: WebGLBuffer[] }} VertexArray */
/** Places and widths of attributes, and whether there are indices. @typedef {{ widths: [number, number][], indexed: boolean }} Layout */
/** Something to draw into. @typedef {{ frame: WebGLFramebuffer, texture?: WebGLTexture, buffers?: WebGLRenderbuffer[] }} Target */

const HEADER = "#version 300 es\nprecision highp float;\n";
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

/** A WebGL2 context, or null; smoothing is done in our own target, so that drafts can go without. @param {HTMLCanvasElement} canvas */
export function openContext(canvas) {
  return canvas.getContext("webgl2", { antialias: false, alpha: true, premultipliedAlpha: true, powerPreference: "high-performance" });
}

/** Whether the machine draws without a graphics card. @param {WebGL2RenderingContext} gl */
export function isSoftware(gl) {
  const extension = gl.getExtension("WEBGL_debug_renderer_info");
  const name = gl.getParameter(extension ? extension.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
  return SOFTWARE.test(String(name));
}

/** @param {WebGL2RenderingContext} gl @param {{ vertex: string, fragment: string }} source @param {Record<string, string | number>} [constants] */
export function makeProgram(gl, { vertex, fragment }, constants = {}) {
  const defines = Object.entries(constants).map(([name, value]) => `#define ${name} ${value}\n`).join("");
  const program = gl.createProgram();
  for (const [type, text] of /** @type {[number, string][]} */ ([[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]])) {
    const shader = gl.createShader(type);
    if (!shader) break; // the context is lost
    gl.shaderSource(shader, HEADER + defines + text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) {
    throw new Error((gl.getAttachedShaders(program) ?? []).map((s) => gl.getShaderInfoLog(s)).join("\n") + gl.getProgramInfoLog(program));
  }
  return new Program(gl, program);
}

export class Program {
  /** @param {WebGL2RenderingContext} gl @param {WebGLProgram} program */
  constructor(gl, program) {
    this.gl = gl;
    this.program = program;
    /** @type {Record<string, { type: number, at: WebGLUniformLocation | null }>} */
    this.uniforms = {};
    const count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS);
    for (let k = 0; k < count; k++) {
      const uniform = gl.getActiveUniform(program, k);
      if (uniform) this.uniforms[uniform.name] = { type: uniform.type, at: gl.getUniformLocation(program, uniform.name) };
    }
  }

  /** Use this program with the given values; names the program does not know are passed over. @param {Record<string, unknown>} values */
  use(values) {
    this.gl.useProgram(this.program);
    return this.set(values);
  }

  /** @param {Record<string, unknown>} values */
  set(values) {
    const gl = this.gl;
    for (const [name, value] of Object.entries(values)) {
      const uniform = this.uniforms[name];
      if (!uniform) continue;
      // What a uniform takes is known to the shader only; the types of both sides meet here.
      const number = /** @type {number} */ (value), list = /** @type {Float32List} */ (value);
      if (uniform.type === gl.FLOAT) gl.uniform1f(uniform.at, number);
      else if (uniform.type === gl.FLOAT_VEC2) gl.uniform2fv(uniform.at, list);
      else if (uniform.type === gl.FLOAT_VEC3) gl.uniform3fv(uniform.at, list);
      else if (uniform.type === gl.FLOAT_MAT4) gl.uniformMatrix4fv(uniform.at, false, list);
      else gl.uniform1i(uniform.at, number);
    }
    return this;
  }
}

// Vertex arrays with their buffers that wait to be used again, by context and layout. They are never deleted: Chromium
// loses some bytes with each that is, and a motion that follows a slider is uploaded many times a second.
/** @type {WeakMap<WebGL2RenderingContext, Map<string, VertexArray[]>>} */
const SPARE = new WeakMap();
const NO_BYTES = new Uint8Array(0);

/** @param {WebGL2RenderingContext} gl @param {Layout} layout */
function spareArrays(gl, layout) {
  const shelves = SPARE.get(gl) ?? new Map(), key = JSON.stringify(layout), shelf = shelves.get(key) ?? [];
  SPARE.set(gl, shelves.set(key, shelf));
  return shelf;
}

/** A vertex array for attributes of the given locations and widths, one buffer each, and one more for indices. @param {WebGL2RenderingContext} gl @param {Layout} layout @returns {VertexArray} */
function makeArray(gl, { widths, indexed }) {
  const array = gl.createVertexArray(), buffers = widths.map(() => gl.createBuffer());
  gl.bindVertexArray(array);
  widths.forEach(([location, width], k) => {
    gl.bindBuffer(gl.ARRAY_BUFFER, buffers[k]);
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, width, gl.FLOAT, false, 0, 0);
  });
  if (indexed) buffers.push(gl.createBuffer());
  return { array, buffers };
}

/** @param {WebGL2RenderingContext} gl @param {VertexArray} vertices @param {boolean} indexed @param {(Float32Array<ArrayBuffer> | Uint32Array<ArrayBuffer> | Uint8Array<ArrayBuffer>)[]} contents */
function fill(gl, { array, buffers }, indexed, contents) {
  gl.bindVertexArray(array);
  contents.forEach((values, k) => {
    const target = indexed && k === contents.length - 1 ? gl.ELEMENT_ARRAY_BUFFER : gl.ARRAY_BUFFER;
    gl.bindBuffer(target, buffers[k]);
    gl.bufferData(target, values, gl.STATIC_DRAW);
  });
  gl.bindVertexArray(null);
}

/**
 * Upload attributes {location: [values, width]} and optional indices as one drawable.
 * @param {WebGL2RenderingContext} gl
 * @param {Record<number, [values: number[], width: number]>} attributes
 * @param {number[] | null} indices
 * @param {number} [mode]
 * @returns {Drawable}
 */
export function upload(gl, attributes, indices, mode) {
  /** @type {Layout} */
  const layout = { widths: Object.entries(attributes).map(([location, [, width]]) => [Number(location), width]), indexed: Boolean(indices) };
  const { indexed } = layout, shelf = spareArrays(gl, layout), vertices = shelf.pop() ?? makeArray(gl, layout);
  /** @type {(Float32Array<ArrayBuffer> | Uint32Array<ArrayBuffer>)[]} */
  const contents = Object.values(attributes).map(([values]) => new Float32Array(values));
  if (indices) contents.push(new Uint32Array(indices));
  fill(gl, vertices, indexed, contents);
  const count = indices ? indices.length : attributes[0][0].length / attributes[0][1];
  const draw = () => {
    gl.bindVertexArray(vertices.array);
    if (indexed) gl.drawElements(mode ?? gl.TRIANGLES, count, gl.UNSIGNED_INT, 0);
    else gl.drawArrays(mode ?? gl.TRIANGLES, 0, count);
  };
  draw.free = () => {
    fill(gl, vertices, indexed, vertices.buffers.map(() => NO_BYTES));
    shelf.push(vertices);
  };
  return draw;
}

/** A depth texture to be compared with, seen from the lamp. @param {WebGL2RenderingContext} gl @param {number} size */
export function shadowTarget(gl, size) {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.DEPTH_COMPONENT24, size, size, 0, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT, null);
  setParameters(gl, [...smoothEdges(gl), [gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE], [gl.TEXTURE_COMPARE_FUNC, gl.LEQUAL]]);
  const frame = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, texture, 0);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  return { frame, texture, size };
}

/** @param {WebGL2RenderingContext} gl @param {number} width @param {number} height */
export function pictureTarget(gl, width, height) {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, width, height, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
  setParameters(gl, smoothEdges(gl));
  const frame = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  return { frame, texture, width, height };
}

/** A target with several samples per pixel, to be resolved onto the canvas. @param {WebGL2RenderingContext} gl @param {number} width @param {number} height */
export function smoothTarget(gl, width, height) {
  const samples = Math.min(4, gl.getParameter(gl.MAX_SAMPLES));
  const frame = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
  const buffers = [[gl.COLOR_ATTACHMENT0, gl.RGBA8], [gl.DEPTH_ATTACHMENT, gl.DEPTH_COMPONENT24]].map(([attachment, format]) => {
    const buffer = gl.createRenderbuffer();
    gl.bindRenderbuffer(gl.RENDERBUFFER, buffer);
    gl.renderbufferStorageMultisample(gl.RENDERBUFFER, samples, format, width, height);
    gl.framebufferRenderbuffer(gl.FRAMEBUFFER, attachment, gl.RENDERBUFFER, buffer);
    return buffer;
  });
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  return { frame, buffers, width, height };
}

/** @param {WebGL2RenderingContext} gl @param {Target | null} target */
export function discard(gl, target) {
  if (!target) return;
  gl.deleteFramebuffer(target.frame);
  if (target.texture) gl.deleteTexture(target.texture);
  for (const buffer of target.buffers ?? []) gl.deleteRenderbuffer(buffer);
}

/** @param {WebGL2RenderingContext} gl @param {[name: number, value: number][]} parameters */
function setParameters(gl, parameters) {
  for (const [name, value] of parameters) gl.texParameteri(gl.TEXTURE_2D, name, value);
}

/** @param {WebGL2RenderingContext} gl @returns {[number, number][]} */
const smoothEdges = (gl) => [
  [gl.TEXTURE_MIN_FILTER, gl.LINEAR], [gl.TEXTURE_MAG_FILTER, gl.LINEAR],
  [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE],
];
