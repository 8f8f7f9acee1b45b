// @ts-check
// The report page: reads the data block, creates the plots and the replay, and synchronises their times.

/** Circles on a sphere [x, y, z, r], as pairs of end points of lines. */
function makeGlobe([x, y, z, r]) {
  const lines = [], pieces = 48, turn = k => (2 * Math.PI * k) / pieces;
  const circle = at => { for (let k = 0; k < pieces; k++) lines.push(at(turn(k)), at(turn(k + 1))); };
  for (const h of [-0.8, -0.4, 0, 0.4, 0.8]) {
    const s = r * Math.sqrt(1 - h * h);
    circle(a => [x + s * Math.cos(a), y + r * h, z + s * Math.sin(a)]);
  }
  for (let m = 0; m < 6; m++) {
    const [c, s] = [Math.cos((Math.PI * m) / 6), Math.sin((Math.PI * m) / 6)];
    circle(a => [x + r * Math.cos(a) * c, y + r * Math.sin(a), z + r * Math.cos(a) * s]);
  }
  return lines;
}

/** The replay with its controls: time, camera, colours. */
class Replay {
  /**
   * @param {HTMLElement} root
   * @param {ReplayData} data
   * @param {(t: number) => void} onTime called when another frame is shown
   */
  constructor(root, data, onTime) {
    this.root = root; this.data = data; this.onTime = onTime;
    this.motion = new Motion(data);
    this.canvas = root.querySelector("canvas");
    this.painter = (location.hash.includes("2d") ? null : GlPainter.make(this.canvas, this.motion)) || this.flat();
    this.at = -1; this.playing = false;
    this.buffer = new Float64Array(3 * this.motion.count);
    this.camera = new Camera(data.up);
    this.measure();
    this.look = { wire: false, pins: true, ground: !!data.ground || data.spheres.length > 0, follow: this.travel > 2.5 * this.radius };
    this.field = data.fields.length ? 0 : -1;
    this.labels = data.labels.map(l => ({ ...l, tag: html("span", "", root.querySelector(".labels"), l.text) }));
    this.buildControls();
    this.frameAll();
    this.pointer();
    this.keys();
    if (window.ResizeObserver) new ResizeObserver(() => this.paint()).observe(this.canvas);
    if (window.matchMedia) matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.paint());
    const wanted = /t=([-\d.e]+)/.exec(location.hash);
    this.seek(wanted ? +wanted[1] : this.motion.times[0]);
  }

  /** A painter without WebGL. It needs a new canvas, because a canvas has only one kind of context. */
  flat() {
    const fresh = /** @type {HTMLCanvasElement} */ (this.canvas.cloneNode());
    this.canvas.replaceWith(fresh);
    this.canvas = fresh;
    html("div", "note", this.root.querySelector(".clock"), "drawn without WebGL");
    return new FlatPainter(fresh, this.motion);
  }

  /** Measures the centre of every frame, the size of the body, the distance that it travels, and the box of the whole run. */
  measure() {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    this.middles = []; this.radius = 1e-9;
    for (let n = 0; n < this.motion.times.length; n++) {
      const p = this.motion.positions(n, this.buffer), a = [Infinity, Infinity, Infinity], b = [-Infinity, -Infinity, -Infinity];
      for (let i = 0; i < p.length; i++) { const k = i % 3; if (p[i] < a[k]) a[k] = p[i]; if (p[i] > b[k]) b[k] = p[i]; }
      this.middles.push(scaled(plus(a, b), 0.5));
      this.radius = Math.max(this.radius, Math.hypot(...sub(b, a)) / 2);
      for (let k = 0; k < 3; k++) { low[k] = Math.min(low[k], a[k]); high[k] = Math.max(high[k], b[k]); }
    }
    this.box = { middle: scaled(plus(low, high), 0.5), radius: Math.max(Math.hypot(...sub(high, low)) / 2, 1e-9) };
    this.travel = this.box.radius - this.radius;
  }

  buildControls() {
    const bar = this.root.querySelector(".controls"), times = this.motion.times, span = times[times.length - 1] - times[0];
    this.playButton = html("button", "play", bar, "▶ Play");
    this.playButton.onclick = () => this.play(!this.playing);
    this.scrubber = html("input", "", bar);
    Object.assign(this.scrubber, { type: "range", min: 0, max: times.length - 1, step: 1, value: 0 });
    this.scrubber.setAttribute("aria-label", "Time");
    this.scrubber.oninput = () => { this.play(false); this.show(+this.scrubber.value); };
    const choose = (label, options, pick, chosen) => {
      const l = html("label", "", bar, label), s = html("select", "", l);
      options.forEach(([text, value]) => { html("option", "", s, text).value = value; });
      s.value = chosen; s.onchange = () => pick(s.value);
    };
    // Real time, unless the replay would be very short or take minutes.
    const ideal = span >= 2 && span <= 40 ? 1 : 10 ** Math.round(Math.log10(Math.max(span, 1e-12) / 8));
    this.speed = ideal;
    const speeds = [...new Set([0.1, 0.25, 0.5, 1, 2, 5].map(f => +(f * ideal).toPrecision(3)).concat(1))].sort((a, b) => a - b);
    choose("Speed", speeds.map(s => [s >= 0.01 ? `${s}×` : `1/${pretty(1 / s, 3)}×`, s]), v => { this.speed = +v; this.restart(); }, ideal);
    if (this.data.fields.length) choose("Colour", this.data.fields.map((f, k) => [f.name, k]).concat([["none", -1]]), v => { this.field = +v; this.upload(); }, this.field);
    const toggle = (label, key) => {
      const l = html("label", "", bar), c = html("input", "", l);
      c.type = "checkbox"; c.checked = this.look[key]; l.append(label);
      c.onchange = () => { this.look[key] = c.checked; if (key === "follow") this.frameAll(); this.paint(); };
    };
    toggle("Wireframe", "wire");
    if (this.motion.pinned.length) toggle("Pins", "pins");
    if (this.look.ground) toggle(this.data.spheres.length ? "Obstacles" : "Ground", "ground");
    if (this.travel > 0.5 * this.radius) toggle("Follow", "follow");
    html("button", "", bar, "Fit").onclick = () => { this.frameAll(); this.paint(); };
  }

  frameAll() {
    const r = this.look.follow ? this.radius : this.box.radius;
    const aspect = Math.min(1, (this.canvas.clientWidth || 1) / (this.canvas.clientHeight || 1));
    // The camera is a little closer than the bounding sphere requires, since most bodies do not fill it.
    this.camera.distance = (0.86 * r) / Math.sin(this.camera.angle / 2) / aspect;
    this.camera.target = this.look.follow ? [0, 0, 0] : this.box.middle;
    this.groundLines = this.makeGround();
  }

  makeGround() {
    const g = this.data.ground, globes = this.data.spheres.flatMap(makeGlobe);
    if (!g) return globes.length ? globes : null;
    const n = unit(g.normal), u = unit(cross(Math.abs(n[0]) < 0.8 ? [1, 0, 0] : [0, 1, 0], n)), v = cross(n, u);
    const middle = this.box.middle, foot = sub(middle, scaled(n, dot(sub(middle, g.point), n)));
    const raw = this.box.radius / 4, power = 10 ** Math.floor(Math.log10(raw)), step = power * [1, 2, 5, 10].find(k => k * power >= raw);
    const half = Math.ceil((2.2 * this.box.radius) / step) * step, lines = [];
    for (let s = -half; s <= half + 1e-9 * step; s += step) for (const [a, b] of [[u, v], [v, u]]) {
      lines.push(plus(plus(foot, scaled(a, s)), scaled(b, -half)), plus(plus(foot, scaled(a, s)), scaled(b, half)));
    }
    return lines.concat(globes);
  }

  restart() { this.clock = performance.now(); this.from = this.motion.times[this.at]; }

  play(on) {
    if (on === this.playing) return;
    const last = this.motion.times.length - 1;
    if (on && this.at >= last) this.show(0);
    this.playing = on && last > 0;
    this.playButton.textContent = this.playing ? "❚❚ Pause" : "▶ Play";
    this.restart();
    const tick = now => {
      if (!this.playing) return;
      const t = this.from + ((now - this.clock) / 1000) * this.speed;
      this.seek(t);
      if (t >= this.motion.times[last]) this.play(false); else requestAnimationFrame(tick);
    };
    if (this.playing) requestAnimationFrame(tick);
  }

  /** Shows the last recorded frame at or before t. Frames are not interpolated. */
  seek(t) {
    const T = this.motion.times;
    let a = 0, b = T.length;
    while (b - a > 1) { const m = (a + b) >> 1; T[m] <= t + 1e-12 * Math.abs(t) ? (a = m) : (b = m); }
    this.show(a);
  }

  show(n) {
    if (n === this.at) return;
    this.at = n;
    this.motion.positions(n, this.buffer);
    this.scrubber.value = n;
    const { times } = this.motion, clock = this.root.querySelector(".clock b");
    clock.textContent = `t = ${times[n] === 0 ? "0" : minus(Math.abs(times[n]) >= 1e-3 ? times[n].toFixed(this.decimals()) : times[n].toExponential(3))} s`;
    this.root.querySelector(".clock small").textContent = `frame ${n + 1} of ${times.length}`;
    this.upload();
    this.onTime(times[n]);
  }

  decimals() {
    const T = this.motion.times, step = T.length > 1 ? (T[T.length - 1] - T[0]) / (T.length - 1) : 1;
    return Math.max(0, Math.min(8, Math.ceil(-Math.log10(Math.max(step, 1e-12)) - 1e-9) + 1));
  }

  upload() {
    const f = this.field, n = this.motion.count;
    this.painter.upload(this.buffer, f >= 0 ? this.motion.values[f].subarray(n * this.at, n * (this.at + 1)) : null);
    const scale = /** @type {HTMLElement} */ (this.root.querySelector(".scale"));
    scale.hidden = f < 0;
    scale.style.display = f < 0 ? "none" : "";
    if (f >= 0 && this.scaleOf !== f) {
      this.scaleOf = f;
      const { name, unit: u, low, high, clipped } = this.data.fields[f];
      scale.querySelector(".name").textContent = u ? `${name} (${u})` : name;
      /** @type {HTMLElement} */ (scale.querySelector(".bar")).style.background = `linear-gradient(to top,${[0, 0.2, 0.4, 0.6, 0.8, 1].map(t => `rgb(${colourAt(t).map(Math.round)})`).join(",")})`;
      const marks = scale.querySelector(".marks");
      marks.textContent = "";
      const { labels } = linearLabels([4, 3, 2, 1, 0].map(k => low + (k / 4) * (high - low)), (high - low) / 4);
      labels.forEach((label, k) => html("span", "", marks, (k === 0 && clipped ? "≥ " : "") + label));
    }
    this.paint();
  }

  paint() {
    if (this.at < 0) return;
    const ratio = Math.min(window.devicePixelRatio || 1, 2), c = this.canvas;
    const w = Math.max(1, Math.round(c.clientWidth * ratio)), h = Math.max(1, Math.round(c.clientHeight * ratio));
    if (c.width !== w || c.height !== h) { c.width = w; c.height = h; }
    const dark = window.matchMedia && matchMedia("(prefers-color-scheme: dark)").matches;
    const camera = Object.create(this.camera);
    if (this.look.follow) camera.target = plus(this.camera.target, this.middles[this.at]);
    this.placeLabels(camera, c.clientWidth, c.clientHeight);
    this.painter.paint(camera, w, h, ratio, { ...this.look, coloured: this.field >= 0, ground: this.look.ground && this.groundLines, ink: dark ? [0.86, 0.9, 0.94] : [0.13, 0.18, 0.24] });
  }

  /** Places each label above its vertices. */
  placeLabels(camera, w, h) {
    const m = camera.matrix(w / h), p = this.buffer;
    for (const { vertices, tag } of this.labels) {
      let middle = [0, 0, 0], top = -Infinity;
      for (const v of vertices) {
        const x = [p[3 * v], p[3 * v + 1], p[3 * v + 2]];
        middle = plus(middle, scaled(x, 1 / vertices.length));
        top = Math.max(top, dot(x, camera.up));
      }
      const [x, y, z] = plus(middle, scaled(camera.up, top - dot(middle, camera.up)));
      const d = m[3] * x + m[7] * y + m[11] * z + m[15];
      const px = (0.5 + (0.5 * (m[0] * x + m[4] * y + m[8] * z + m[12])) / d) * w, py = (0.5 - (0.5 * (m[1] * x + m[5] * y + m[9] * z + m[13])) / d) * h;
      tag.hidden = !(d > 0);
      tag.style.transform = `translate(${px.toFixed(1)}px, ${(py - 14).toFixed(1)}px) translate(-50%, -100%)`;
    }
  }

  pointer() {
    const c = this.canvas, held = new Map();
    c.addEventListener("contextmenu", e => e.preventDefault());
    c.addEventListener("pointerdown", e => { held.set(e.pointerId, [e.clientX, e.clientY]); c.setPointerCapture(e.pointerId); });
    c.addEventListener("pointerup", e => held.delete(e.pointerId));
    c.addEventListener("pointercancel", e => held.delete(e.pointerId));
    c.addEventListener("pointermove", e => {
      const before = held.get(e.pointerId);
      if (!before) return;
      const dx = e.clientX - before[0], dy = e.clientY - before[1];
      const other = [...held].find(([id]) => id !== e.pointerId);
      if (other) {
        const apart = p => Math.hypot(p[0] - other[1][0], p[1] - other[1][1]) || 1;
        this.camera.distance *= apart(before) / apart([e.clientX, e.clientY]);
      } else if (e.shiftKey || e.buttons & 6) {
        const { right, above } = this.camera.axes(), s = (2 * this.camera.distance * Math.tan(this.camera.angle / 2)) / (c.clientHeight || 1);
        this.camera.target = plus(this.camera.target, plus(scaled(right, -dx * s), scaled(above, dy * s)));
      } else {
        this.camera.yaw -= dx * 0.008;
        this.camera.pitch = Math.max(-1.55, Math.min(1.55, this.camera.pitch + dy * 0.008));
      }
      held.set(e.pointerId, [e.clientX, e.clientY]);
      this.paint();
    });
    c.addEventListener("wheel", e => { e.preventDefault(); this.camera.distance *= Math.exp(Math.max(-80, Math.min(80, e.deltaY)) * 0.002); this.paint(); }, { passive: false });
    c.addEventListener("dblclick", () => { this.frameAll(); this.paint(); });
  }

  keys() {
    document.addEventListener("keydown", e => {
      const box = this.root.getBoundingClientRect();
      if (e.ctrlKey || e.metaKey || e.altKey || box.bottom < 60 || box.top > innerHeight - 60) return;
      const target = /** @type {HTMLInputElement} */ (e.target);
      if (/^(SELECT|TEXTAREA|SUMMARY|A)$/.test(target.tagName)) return;
      const onButton = target.tagName === "BUTTON", onInput = target.tagName === "INPUT";
      if (e.key === " " && !onButton && !(onInput && target.type === "checkbox")) { e.preventDefault(); this.play(!this.playing); }
      else if (e.key === "f" || e.key === "F") { this.frameAll(); this.paint(); }
      else if ((e.key === "ArrowLeft" || e.key === "ArrowRight") && !onInput) {
        e.preventDefault(); this.play(false);
        this.show(Math.max(0, Math.min(this.motion.times.length - 1, this.at + (e.key === "ArrowLeft" ? -1 : 1))));
      }
    });
  }
}

/** Creates all parts of the page. */
function start() {
  const data = JSON.parse(document.getElementById("data").textContent);
  const plots = [];
  let replay = null;
  const pick = data.replay ? t => replay && (replay.play(false), replay.seek(t)) : null;
  data.plots.forEach((spec, k) => {
    const figure = document.getElementById(`plot-${k}`);
    try { plots.push(new Plot(figure, { ...spec, id: k }, pick)); }
    catch (error) { figure.querySelector(".draw").textContent = `This plot could not be drawn: ${error.message}`; }
  });
  if (data.replay) {
    const root = document.getElementById("replay");
    try { replay = new Replay(root, data.replay, t => plots.forEach(p => p.setNow(t))); }
    catch (error) { root.querySelector(".hint").textContent = `The replay could not be shown: ${error.message}`; }
  }
}
start();
