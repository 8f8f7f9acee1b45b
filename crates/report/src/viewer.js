// @ts-check
// The moving surface: decoding, normals, and two painters, one with WebGL and one with a 2-D canvas.

/**
 * @typedef { { name: string, unit: string, low: number, high: number, clipped: boolean, values: string } } ReplayField
 * @typedef { { text: string, vertices: number[] } } ReplayLabel
 * @typedef { { vertices: number, times: number[], triangles: string, lines: string, pinned: number[], positions: string,
 *   offsets: number[][], extent: number[], up: number[], ground: { point: number[], normal: number[] } | null, spheres: number[][],
 *   fields: ReplayField[], labels: ReplayLabel[] } } ReplayData the replay as `replay.rs` writes it; strings are base64
 */

const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const scaled = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const plus = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const unit = a => scaled(a, 1 / (Math.hypot(...a) || 1));

const COLOURS = ["#2d2a6e", "#26589b", "#1f87a3", "#32b08c", "#8fcf5f", "#f6e24d"].map(c => [1, 3, 5].map(k => parseInt(c.slice(k, k + 2), 16)));
/** The colour map at t in [0, 1], as three numbers from 0 to 255. */
function colourAt(t) {
  const u = Math.max(0, Math.min(1, t)) * (COLOURS.length - 1), k = Math.min(Math.floor(u), COLOURS.length - 2);
  return COLOURS[k].map((c, i) => c + (u - k) * (COLOURS[k + 1][i] - c));
}
const PLAIN = [122, 158, 196];

/** Decodes base64. */
function bytesOf(base64) {
  const text = atob(base64), out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
  return out;
}
/** Decodes base64 as little-endian integers of `size` bytes. */
const wordsOf = (base64, size) => {
  const b = bytesOf(base64), out = size === 2 ? new Uint16Array(b.length / 2) : new Uint32Array(b.length / 4);
  for (let i = 0, k = 0; i < out.length; i++) { let v = 0; for (let j = 0; j < size; j++) v += b[k++] * 2 ** (8 * j); out[i] = v; }
  return out;
};

/** Positions and field values of the frames. They are decoded when they are needed. */
class Motion {
  /** @param {ReplayData} data */
  constructor(data) {
    this.data = data;
    this.count = data.vertices;
    this.times = data.times;
    this.triangles = wordsOf(data.triangles, 4);
    this.lines = wordsOf(data.lines, 4);
    this.pinned = data.pinned;
    this.packed = wordsOf(data.positions, 2);
    this.values = data.fields.map(f => bytesOf(f.values));
    this.split();
  }

  /** Positions of frame n relative to the centre of the data, so that single precision is accurate enough. */
  positions(n, out) {
    const { offsets, extent } = this.data, o = offsets[n], p = this.packed, base = 3 * this.count * n;
    for (let i = 0; i < 3 * this.count; i++) out[i] = o[i % 3] + (p[base + i] / 65535) * extent[i % 3];
    return out;
  }

  /** Duplicates vertices along creases sharper than 40°, so that a box has flat faces. */
  split() {
    const p = this.positions(0, new Float64Array(3 * this.count)), T = this.triangles, n = T.length / 3;
    const at = v => [p[3 * v], p[3 * v + 1], p[3 * v + 2]];
    const normals = [];
    for (let k = 0; k < n; k++) { const a = at(T[3 * k]); normals.push(unit(cross(sub(at(T[3 * k + 1]), a), sub(at(T[3 * k + 2]), a)))); }
    const groups = Array.from({ length: this.count }, () => []);
    const source = [], corners = new Uint32Array(T.length);
    for (let k = 0; k < n; k++) for (let c = 0; c < 3; c++) {
      const v = T[3 * k + c];
      let group = groups[v].find(g => dot(g.normal, normals[k]) > 0.766);
      if (!group) { group = { normal: normals[k], id: source.length }; groups[v].push(group); source.push(v); }
      corners[3 * k + c] = group.id;
    }
    this.source = Uint32Array.from(source);
    this.corners = corners;
    const edges = new Map();
    for (let k = 0; k < n; k++) for (let c = 0; c < 3; c++) {
      const a = T[3 * k + c], b = T[3 * k + ((c + 1) % 3)];
      edges.set(Math.min(a, b) * this.count + Math.max(a, b), [corners[3 * k + c], corners[3 * k + ((c + 1) % 3)]]);
    }
    this.edges = Uint32Array.from([...edges.values()].flat());
    // In a closed surface two triangles share each edge. Triangles that face away are hidden then and are not drawn.
    this.closed = 2 * edges.size === T.length;
  }

  /** Normals of the duplicated vertices, weighted by area. */
  normals(p, out) {
    out.fill(0);
    const T = this.triangles, C = this.corners;
    for (let k = 0; k < T.length; k += 3) {
      const a = 3 * T[k], b = 3 * T[k + 1], c = 3 * T[k + 2];
      const ux = p[b] - p[a], uy = p[b + 1] - p[a + 1], uz = p[b + 2] - p[a + 2];
      const vx = p[c] - p[a], vy = p[c + 1] - p[a + 1], vz = p[c + 2] - p[a + 2];
      const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
      for (let j = 0; j < 3; j++) { const d = 3 * C[k + j]; out[d] += nx; out[d + 1] += ny; out[d + 2] += nz; }
    }
    return out;
  }
}

/** A camera at `distance` from `target`, rotated by yaw and pitch about the up axis. */
class Camera {
  constructor(up) {
    this.up = unit(up);
    const seed = Math.abs(this.up[2]) < 0.9 ? [0, 0, 1] : [0, 1, 0];
    // For up = y, x points to the right and z to the viewer.
    this.front = unit(sub(seed, scaled(this.up, dot(seed, this.up))));
    if (this.up[2] > 0.9) this.front = scaled(this.front, -1);
    this.side = cross(this.up, this.front);
    this.yaw = 0.5; this.pitch = 0.32; this.target = [0, 0, 0]; this.distance = 5; this.angle = 0.6;
  }

  axes() {
    const c = Math.cos(this.pitch), back = plus(plus(scaled(this.front, c * Math.cos(this.yaw)), scaled(this.side, c * Math.sin(this.yaw))), scaled(this.up, Math.sin(this.pitch)));
    const right = unit(cross(this.up, back));
    return { right, above: cross(back, right), back, eye: plus(this.target, scaled(back, this.distance)) };
  }

  /** The matrix from world to clip space, column by column. */
  matrix(aspect) {
    const { right, above, back, eye } = this.axes(), f = 1 / Math.tan(this.angle / 2);
    const near = this.distance * 0.02, far = this.distance * 50;
    const a = (far + near) / (near - far), b = (2 * far * near) / (near - far), m = [];
    for (let k = 0; k < 3; k++) m.push((f / aspect) * right[k], f * above[k], a * back[k], -back[k]);
    m.push((-f / aspect) * dot(right, eye), -f * dot(above, eye), -a * dot(back, eye) + b, dot(back, eye));
    return m;
  }
}

const VERTEX = `attribute vec3 p; attribute vec3 n; attribute float s; uniform mat4 m; uniform float pull, size;
varying vec3 normal; varying float value;
void main() { gl_Position = m * vec4(p, 1.0); gl_Position.z -= pull * gl_Position.w; gl_PointSize = size; normal = n; value = s; }`;
const FRAGMENT = `precision mediump float; varying vec3 normal; varying float value;
uniform vec3 back, light, plain; uniform vec4 flat_; uniform sampler2D map; uniform float mode;
void main() {
  if (mode > 1.5) { if (mode > 2.5 && length(gl_PointCoord - 0.5) > 0.5) discard; gl_FragColor = flat_; return; }
  vec3 n = normalize(normal); if (dot(n, back) < 0.0) n = -n;
  vec3 c = mode > 0.5 ? texture2D(map, vec2(value, 0.5)).rgb : plain;
  float d = max(dot(n, light), 0.0), h = 0.5 + 0.5 * dot(n, back);
  gl_FragColor = vec4(c * (0.36 + 0.5 * d + 0.2 * h) + 0.16 * pow(d, 24.0), 1.0);
}`;

/** Draws with WebGL. */
class GlPainter {
  static make(canvas, motion) {
    const options = { antialias: true, alpha: true, preserveDrawingBuffer: true };
    const gl = canvas.getContext("webgl2", options) || canvas.getContext("webgl", options);
    if (!gl) return null;
    if (!(window.WebGL2RenderingContext && gl instanceof WebGL2RenderingContext) && !gl.getExtension("OES_element_index_uint")) return null;
    const painter = new GlPainter(gl, motion);
    return painter.program ? painter : null;
  }

  constructor(gl, motion) {
    this.gl = gl; this.motion = motion;
    const shader = (kind, text) => { const s = gl.createShader(kind); gl.shaderSource(s, text); gl.compileShader(s); return s; };
    const program = gl.createProgram();
    gl.attachShader(program, shader(gl.VERTEX_SHADER, VERTEX));
    gl.attachShader(program, shader(gl.FRAGMENT_SHADER, FRAGMENT));
    ["p", "n", "s"].forEach((name, k) => gl.bindAttribLocation(program, k, name));
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS)) return;
    this.program = program;
    gl.useProgram(program);
    this.uniform = Object.fromEntries(["m", "pull", "size", "back", "light", "plain", "flat_", "map", "mode"].map(u => [u, gl.getUniformLocation(program, u)]));
    const map = new Uint8Array(256 * 4);
    for (let k = 0; k < 256; k++) map.set([...colourAt(k / 255).map(Math.round), 255], 4 * k);
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, map);
    for (const [k, v] of [[gl.TEXTURE_MIN_FILTER, gl.LINEAR], [gl.TEXTURE_MAG_FILTER, gl.LINEAR], [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE]]) gl.texParameteri(gl.TEXTURE_2D, k, v);
    const index = data => { const b = gl.createBuffer(); gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, b); gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, data, gl.STATIC_DRAW); return { b, n: data.length }; };
    this.faces = index(motion.corners); this.edges = index(motion.edges); this.lines = index(motion.lines); this.pins = index(Uint32Array.from(motion.pinned));
    this.buffers = [0, 1, 2, 3, 4].map(() => gl.createBuffer());
    this.n = motion.source.length;
    this.p = new Float32Array(3 * this.n); this.nn = new Float32Array(3 * this.n); this.s = new Float32Array(this.n);
  }

  upload(positions, values) {
    const { gl, motion } = this, S = motion.source;
    for (let i = 0; i < this.n; i++) {
      const v = S[i];
      this.p[3 * i] = positions[3 * v]; this.p[3 * i + 1] = positions[3 * v + 1]; this.p[3 * i + 2] = positions[3 * v + 2];
      this.s[i] = values ? (values[v] + 0.5) / 256 : 0;
    }
    motion.normals(positions, this.nn);
    [this.p, this.nn, this.s, Float32Array.from(positions)].forEach((data, k) => { gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[k]); gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW); });
  }

  attribute(k, buffer, size) {
    const { gl } = this;
    if (!buffer) { gl.disableVertexAttribArray(k); return; }
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer); gl.enableVertexAttribArray(k); gl.vertexAttribPointer(k, size, gl.FLOAT, false, 0, 0);
  }

  paint(camera, w, h, ratio, look) {
    const { gl, uniform: u } = this, { back, right, above } = camera.axes();
    gl.viewport(0, 0, w, h);
    gl.clearColor(0, 0, 0, 0); gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST); gl.depthFunc(gl.LEQUAL);
    gl.uniformMatrix4fv(u.m, false, camera.matrix(w / h));
    gl.uniform3fv(u.back, back);
    gl.uniform3fv(u.light, unit(plus(plus(scaled(back, 0.7), scaled(above, 0.75)), scaled(right, -0.35))));
    gl.uniform3fv(u.plain, PLAIN.map(c => c / 255));
    const draw = (kind, set, mode, colour, pull, size) => {
      if (!set.n) return;
      gl.uniform1f(u.mode, mode); gl.uniform4fv(u.flat_, colour); gl.uniform1f(u.pull, pull); gl.uniform1f(u.size, size || 1);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, set.b);
      gl.drawElements(kind, set.n, gl.UNSIGNED_INT, 0);
    };
    const none = [0, 0, 0, 0];
    if (look.ground) {
      gl.enable(gl.BLEND); gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
      gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[4]); gl.bufferData(gl.ARRAY_BUFFER, Float32Array.from(look.ground.flat()), gl.DYNAMIC_DRAW);
      this.attribute(0, this.buffers[4], 3); this.attribute(1); this.attribute(2);
      gl.uniform1f(u.mode, 2); gl.uniform1f(u.pull, 0); gl.uniform4fv(u.flat_, [...look.ink, 0.16]);
      gl.drawArrays(gl.LINES, 0, look.ground.length);
      gl.disable(gl.BLEND);
    }
    this.attribute(0, this.buffers[0], 3); this.attribute(1, this.buffers[1], 3); this.attribute(2, this.buffers[2], 1);
    draw(gl.TRIANGLES, this.faces, look.coloured ? 1 : 0, none, 0);
    if (look.wire) draw(gl.LINES, this.edges, 2, [...look.ink, 1], 0.0006);
    this.attribute(0, this.buffers[3], 3); this.attribute(1); this.attribute(2);
    draw(gl.LINES, this.lines, 2, [...look.ink, 1], 0.0004);
    draw(gl.POINTS, this.lines, 3, [...PLAIN.map(c => c / 255), 1], 0.0008, 5 * ratio);
    if (look.pins) draw(gl.POINTS, this.pins, 3, [0.85, 0.18, 0.14, 1], 0.004, 7 * ratio);
  }
}

/** Draws on a 2-D canvas, the farthest triangle first. */
class FlatPainter {
  constructor(canvas, motion) { this.g = canvas.getContext("2d"); this.motion = motion; }

  upload(positions, values) { this.positions = positions; this.values = values; }

  paint(camera, w, h, ratio, look) {
    const g = this.g, p = this.positions, T = this.motion.triangles, m = camera.matrix(w / h), { back, right, above, eye } = camera.axes();
    const light = unit(plus(plus(scaled(back, 0.7), scaled(above, 0.75)), scaled(right, -0.35)));
    g.clearRect(0, 0, w, h);
    const project = (x, y, z) => {
      const d = m[3] * x + m[7] * y + m[11] * z + m[15];
      return d <= 0 ? null : [(0.5 + (0.5 * (m[0] * x + m[4] * y + m[8] * z + m[12])) / d) * w, (0.5 - (0.5 * (m[1] * x + m[5] * y + m[9] * z + m[13])) / d) * h, d];
    };
    const q = [];
    for (let i = 0; i < p.length; i += 3) q.push(project(p[i], p[i + 1], p[i + 2]));
    g.lineWidth = ratio; g.lineJoin = "round";
    const rgb = c => `rgb(${c.map(v => Math.round(Math.max(0, Math.min(255, v)))).join(",")})`;
    const stroke = (pairs, style) => {
      g.strokeStyle = style; g.beginPath();
      for (const [a, b] of pairs) if (a && b) { g.moveTo(a[0], a[1]); g.lineTo(b[0], b[1]); }
      g.stroke();
    };
    const ink = look.ink.map(c => 255 * c), faint = `rgba(${ink.map(Math.round).join(",")},.16)`;
    if (look.ground) { const e = look.ground.map(v => project(...v)), pairs = []; for (let i = 0; i < e.length; i += 2) pairs.push([e[i], e[i + 1]]); stroke(pairs, faint); }
    const order = [];
    for (let k = 0; k < T.length; k += 3) {
      const a = q[T[k]], b = q[T[k + 1]], c = q[T[k + 2]];
      if (a && b && c) order.push([a[2] + b[2] + c[2], k]);
    }
    order.sort((a, b) => b[0] - a[0] || a[1] - b[1]);
    const at = v => [p[3 * v], p[3 * v + 1], p[3 * v + 2]];
    for (const [, k] of order) {
      const [i, j, l] = [T[k], T[k + 1], T[k + 2]], a = at(i);
      let n = unit(cross(sub(at(j), a), sub(at(l), a)));
      if (dot(n, sub(eye, a)) < 0) { if (this.motion.closed) continue; n = scaled(n, -1); }
      const base = look.coloured && this.values ? colourAt((this.values[i] + this.values[j] + this.values[l]) / 765) : PLAIN;
      const style = rgb(scaled(base, 0.36 + 0.5 * Math.max(dot(n, light), 0) + 0.2 * (0.5 + 0.5 * dot(n, back))));
      g.beginPath();
      [i, j, l].forEach((v, c) => (c ? g.lineTo(q[v][0], q[v][1]) : g.moveTo(q[v][0], q[v][1])));
      g.closePath();
      g.fillStyle = style; g.fill();
      g.strokeStyle = look.wire ? rgb(ink) : style; g.stroke();
    }
    const L = this.motion.lines, pairs = [];
    for (let k = 0; k < L.length; k += 2) pairs.push([q[L[k]], q[L[k + 1]]]);
    g.lineWidth = 2 * ratio;
    stroke(pairs, rgb(PLAIN));
    if (look.pins) { g.fillStyle = "rgb(217,46,36)"; for (const v of this.motion.pinned) if (q[v]) { g.beginPath(); g.arc(q[v][0], q[v][1], 3.2 * ratio, 0, 7); g.fill(); } }
  }
}
