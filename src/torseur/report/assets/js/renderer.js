// A thin layer over WebGL2: programs, meshes, textures to draw into.

const HEADER = "#version 300 es\nprecision highp float;\n";
const SOFTWARE = /swiftshader|llvmpipe|softpipe|software|basic render/i;

// A WebGL2 context, or null; smoothing is done in our own target, so that drafts can go without.
export function openContext(canvas) {
  return canvas.getContext("webgl2", { antialias: false, alpha: true, premultipliedAlpha: true, powerPreference: "high-performance" });
}

export function isSoftware(gl) {
  const extension = gl.getExtension("WEBGL_debug_renderer_info");
  const name = gl.getParameter(extension ? extension.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
  return SOFTWARE.test(String(name));
}

export function makeProgram(gl, { vertex, fragment }, constants = {}) {
  const defines = Object.entries(constants).map(([name, value]) => `#define ${name} ${value}\n`).join("");
  const program = gl.createProgram();
  for (const [type, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, HEADER + defines + text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) {
    throw new Error(gl.getAttachedShaders(program).map((s) => gl.getShaderInfoLog(s)).join("\n") + gl.getProgramInfoLog(program));
  }
  return new Program(gl, program);
}

class Program {
  constructor(gl, program) {
    this.gl = gl;
    this.program = program;
    this.uniforms = {};
    const count = gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS);
    for (let k = 0; k < count; k++) {
      const { name, type } = gl.getActiveUniform(program, k);
      this.uniforms[name] = { type, at: gl.getUniformLocation(program, name) };
    }
  }

  // Use this program with the given values; names the program does not know are passed over.
  use(values) {
    this.gl.useProgram(this.program);
    return this.set(values);
  }

  set(values) {
    const gl = this.gl;
    for (const [name, value] of Object.entries(values)) {
      const uniform = this.uniforms[name];
      if (!uniform) continue;
      if (uniform.type === gl.FLOAT) gl.uniform1f(uniform.at, value);
      else if (uniform.type === gl.FLOAT_VEC2) gl.uniform2fv(uniform.at, value);
      else if (uniform.type === gl.FLOAT_VEC3) gl.uniform3fv(uniform.at, value);
      else if (uniform.type === gl.FLOAT_MAT4) gl.uniformMatrix4fv(uniform.at, false, value);
      else gl.uniform1i(uniform.at, value);
    }
    return this;
  }
}

// Vertex arrays with their buffers that wait to be used again, by context and layout. They are never deleted: Chromium
// loses some bytes with each that is, and a motion that follows a slider is uploaded many times a second.
const SPARE = new WeakMap();
const NO_BYTES = new Uint8Array(0);

function shelfOf(gl, layout) {
  if (!SPARE.has(gl)) SPARE.set(gl, new Map());
  const shelves = SPARE.get(gl), key = JSON.stringify(layout);
  if (!shelves.has(key)) shelves.set(key, []);
  return shelves.get(key);
}

// A vertex array for attributes of the given locations and widths, one buffer each, and one more for indices.
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

function fill(gl, { array, buffers }, indexed, contents) {
  gl.bindVertexArray(array);
  contents.forEach((values, k) => {
    const target = indexed && k === contents.length - 1 ? gl.ELEMENT_ARRAY_BUFFER : gl.ARRAY_BUFFER;
    gl.bindBuffer(target, buffers[k]);
    gl.bufferData(target, values, gl.STATIC_DRAW);
  });
  gl.bindVertexArray(null);
}

// Upload attributes {location: [values, width]} and optional indices as one drawable, a function that can be freed.
export function upload(gl, attributes, indices, mode) {
  const indexed = Boolean(indices), widths = Object.entries(attributes).map(([location, [, width]]) => [Number(location), width]);
  const layout = { widths, indexed }, shelf = shelfOf(gl, layout), made = shelf.pop() ?? makeArray(gl, layout);
  const contents = Object.values(attributes).map(([values]) => new Float32Array(values));
  if (indexed) contents.push(new Uint32Array(indices));
  fill(gl, made, indexed, contents);
  const count = indexed ? indices.length : attributes[0][0].length / attributes[0][1];
  const draw = () => {
    gl.bindVertexArray(made.array);
    if (indexed) gl.drawElements(mode ?? gl.TRIANGLES, count, gl.UNSIGNED_INT, 0);
    else gl.drawArrays(mode ?? gl.TRIANGLES, 0, count);
  };
  draw.free = () => {
    fill(gl, made, indexed, made.buffers.map(() => NO_BYTES));
    shelf.push(made);
  };
  return draw;
}

export function shadowTarget(gl, size) {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.DEPTH_COMPONENT24, size, size, 0, gl.DEPTH_COMPONENT, gl.UNSIGNED_INT, null);
  setParameters(gl, {
    TEXTURE_MIN_FILTER: gl.LINEAR, TEXTURE_MAG_FILTER: gl.LINEAR, TEXTURE_WRAP_S: gl.CLAMP_TO_EDGE,
    TEXTURE_WRAP_T: gl.CLAMP_TO_EDGE, TEXTURE_COMPARE_MODE: gl.COMPARE_REF_TO_TEXTURE, TEXTURE_COMPARE_FUNC: gl.LEQUAL,
  });
  const frame = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, texture, 0);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  return { frame, texture, size };
}

export function pictureTarget(gl, width, height) {
  const texture = gl.createTexture();
  gl.bindTexture(gl.TEXTURE_2D, texture);
  gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, width, height, 0, gl.RGBA, gl.UNSIGNED_BYTE, null);
  setParameters(gl, {
    TEXTURE_MIN_FILTER: gl.LINEAR, TEXTURE_MAG_FILTER: gl.LINEAR, TEXTURE_WRAP_S: gl.CLAMP_TO_EDGE, TEXTURE_WRAP_T: gl.CLAMP_TO_EDGE,
  });
  const frame = gl.createFramebuffer();
  gl.bindFramebuffer(gl.FRAMEBUFFER, frame);
  gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0);
  gl.bindFramebuffer(gl.FRAMEBUFFER, null);
  return { frame, texture, width, height };
}

// A target with several samples per pixel, to be resolved onto the canvas.
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

export function discard(gl, target) {
  if (!target) return;
  gl.deleteFramebuffer(target.frame);
  if (target.texture) gl.deleteTexture(target.texture);
  for (const buffer of target.buffers ?? []) gl.deleteRenderbuffer(buffer);
}

function setParameters(gl, parameters) {
  for (const [name, value] of Object.entries(parameters)) gl.texParameteri(gl.TEXTURE_2D, gl[name], value);
}
