// @ts-check
// Line plots in SVG: crosshair, drag to zoom, double-click to reset, linear and logarithmic axes.

/**
 * @typedef { { name: string, x: number[], y: (number | null)[], style: string, dashed: boolean } } Series
 * @typedef { { low: number, high: number, label: string } } Band
 * @typedef { { id: number, title: string, x_label: string, y_label: string, log_x: boolean, log_y: boolean, time_axis: boolean, series: Series[], band: Band | null } } PlotSpec
 */

const SVG = "http://www.w3.org/2000/svg";
/** Creates an SVG element. */
const svg = (tag, attributes, parent) => {
  const e = document.createElementNS(SVG, tag);
  for (const k in attributes) e.setAttribute(k, attributes[k]);
  if (parent) parent.appendChild(e);
  return e;
};
/** Creates an HTML element. */
const html = (tag, className, parent, text) => {
  const e = document.createElement(tag);
  if (className) e.className = className;
  if (text !== undefined) e.textContent = text;
  if (parent) parent.appendChild(e);
  return e;
};

const superscript = n => String(n).replace(/[-0-9]/g, c => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(c)]);
const minus = s => s.replace("-", "−");

/** A readable number with `digits` significant digits. Large and small numbers get a power of ten. */
function pretty(x, digits = 4) {
  if (x === null || !Number.isFinite(x)) return "–";
  if (x === 0) return "0";
  const power = Math.floor(Math.log10(Math.abs(x)));
  if (power >= -3 && power < 6) return minus(String(+x.toPrecision(Math.max(digits, power + 1))));
  const [m, e] = x.toExponential(digits - 1).split("e");
  return minus(`${+m}`) + "×10" + superscript(+e);
}

/** Tick positions inside [low, high], at multiples of 1, 2 or 5 times a power of ten. `whole`: only whole numbers. */
function linearTicks(low, high, wanted, whole) {
  const raw = (high - low) / Math.max(wanted, 1);
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = Math.max(unit * [1, 2, 5, 10].find(m => m * unit >= raw * 0.999), whole ? 1 : 0);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step && ticks.length < 50; k++) ticks.push(k * step);
  return { ticks, step };
}

/** Labels with as many digits as the step needs. If the values are large compared with the step, labels are offsets from a common base. */
function linearLabels(ticks, step) {
  const largest = Math.max(...ticks.map(Math.abs), 0);
  let base = 0;
  if (largest > 0 && step / largest < 1e-5) base = +ticks[0].toPrecision(Math.ceil(Math.log10(largest / step)) + 1);
  const size = Math.max(...ticks.map(t => Math.abs(t - base)), step);
  const power = Math.floor(Math.log10(size) + 1e-12);
  const shift = power >= 5 || power < -3 ? power : 0;
  const unit = 10 ** shift;
  const decimals = Math.max(0, Math.min(12, -Math.floor(Math.log10(step / unit) + 1e-9)));
  const labels = ticks.map(t => {
    const text = ((t - base) / unit).toFixed(decimals);
    return minus(+text === 0 ? "0" : text) + (shift && +text !== 0 ? "×10" + superscript(shift) : "");
  });
  return { labels, base };
}

/** Ticks and labels of a logarithmic axis; `low` and `high` are exponents of ten. */
function logTicks(low, high, wanted) {
  const a = Math.ceil(low - 1e-9), b = Math.floor(high + 1e-9);
  const every = Math.max(1, Math.ceil((b - a) / wanted));
  const ticks = [], labels = [];
  for (let k = a; k <= b; k++) if ((k - a) % every === 0) { ticks.push(k); labels.push(k >= -2 && k <= 3 ? String(+(10 ** k).toPrecision(2)) : "10" + superscript(k)); }
  if (ticks.length < 2 && high - low < 2) {
    for (let k = Math.floor(low); k <= b + 1; k++) for (const m of [2, 5]) {
      const t = k + Math.log10(m);
      if (t >= low && t <= high) { ticks.push(t); labels.push(pretty(m * 10 ** k, 2)); }
    }
  }
  return { ticks, labels };
}

/** One plot of the page. */
class Plot {
  /**
   * @param {HTMLElement} figure
   * @param {PlotSpec} spec
   * @param {((t: number) => void) | null} onPick called with the time that the user clicks
   */
  constructor(figure, spec, onPick) {
    this.spec = spec;
    this.onPick = onPick;
    this.hidden = new Set();
    this.zoom = null;
    this.now = null;
    this.logX = spec.log_x;
    this.logY = spec.log_y;
    // Counts (iterations, contacts) have ticks only at whole numbers.
    this.whole = spec.series.length > 0 && spec.series.every(s => s.y.every(v => v === null || Number.isInteger(v)));
    const head = figure.querySelector(".head");
    const tools = html("span", "", head);
    this.resetButton = html("button", "tool", tools, "Reset zoom");
    this.resetButton.hidden = true;
    this.resetButton.onclick = () => this.setZoom(null);
    if (spec.series.some(s => s.y.some(v => v > 0))) {
      const b = html("button", "tool", tools, this.logY ? "linear axis" : "log axis");
      b.title = "Switch between a linear and a logarithmic axis";
      b.onclick = () => { this.logY = !this.logY; b.textContent = this.logY ? "linear axis" : "log axis"; this.draw(); };
    }
    this.buildLegend(figure.querySelector(".legend"));
    this.box = figure.querySelector(".draw");
    this.box.textContent = "";
    this.root = svg("svg", { role: "img", "aria-label": spec.title }, this.box);
    this.tip = html("div", "tip", this.box);
    this.tip.hidden = true;
    this.listen();
    if (window.ResizeObserver) new ResizeObserver(() => this.draw()).observe(this.box);
    this.draw();
  }

  colour(k) { return `var(--s${k % 8})`; }
  dash(s, k) { return s.dashed ? "6 4" : k >= 8 ? "2 3" : "none"; }

  buildLegend(legend) {
    this.spec.series.forEach((s, k) => {
      const b = html("button", "", legend);
      b.setAttribute("aria-pressed", "true");
      b.title = "Show or hide";
      const key = svg("svg", { viewBox: "0 0 20 8" }, b);
      if (s.style !== "points") svg("path", { d: "M0 4H20", style: `stroke:${this.colour(k)};stroke-width:2.5;stroke-dasharray:${this.dash(s, k)}` }, key);
      if (s.style !== "line" && s.style !== "steps") svg("circle", { cx: 10, cy: 4, r: 3, style: `fill:${this.colour(k)}` }, key);
      b.append(s.name);
      b.onclick = () => {
        this.hidden.has(k) ? this.hidden.delete(k) : this.hidden.add(k);
        b.setAttribute("aria-pressed", String(!this.hidden.has(k)));
        this.draw();
      };
    });
    if (this.spec.series.length === 0) html("span", "note", legend, "nothing was recorded");
  }

  tx(v) { return this.logX ? (v > 0 ? Math.log10(v) : NaN) : v === null ? NaN : v; }
  ty(v) { return this.logY ? (v > 0 ? Math.log10(v) : NaN) : v === null ? NaN : v; }

  /** Ranges of the visible curves in axis coordinates; on a logarithmic axis these are logarithms. */
  ranges() {
    let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
    const seen = this.spec.series.filter((_, k) => !this.hidden.has(k));
    for (const s of seen) for (const v of s.x) { const t = this.tx(v); if (t < x0) x0 = t; if (t > x1) x1 = t; }
    if (this.zoom) [x0, x1] = this.zoom;
    for (const s of seen) for (let i = 0; i < s.x.length; i++) {
      const t = this.tx(s.x[i]), v = this.ty(s.y[i]);
      if (t >= x0 && t <= x1) { if (v < y0) y0 = v; if (v > y1) y1 = v; }
    }
    const band = this.spec.band;
    if (band && y0 <= y1) for (const edge of [band.low, band.high]) {
      // The band is included in the range, unless the curve would look flat then.
      const v = this.ty(edge), span = Math.max(y1 - y0, this.logY ? 1 : 0);
      if (!Number.isNaN(v) && (this.logY ? Math.abs(v - y0) < 14 : Math.abs(v - y0) < 6 * span + 1e-300)) { y0 = Math.min(y0, v); y1 = Math.max(y1, v); }
    }
    if (!(x0 <= x1)) [x0, x1] = [0, 1];
    if (!(y0 <= y1)) [y0, y1] = this.logY ? [-1, 1] : [0, 1];
    if (x0 === x1) { x0 -= 0.5; x1 += 0.5; }
    if (!this.zoom && seen.some(s => s.style === "points" || s.style === "both")) { const edge = 0.03 * (x1 - x0); x0 -= edge; x1 += edge; }
    const pad = y1 > y0 ? 0.05 * (y1 - y0) : this.logY ? 0.5 : Math.abs(y0) * 0.05 || 1;
    return { x0, x1, y0: y0 - pad, y1: y1 + pad };
  }

  draw() {
    const w = this.box.clientWidth || 520, h = this.box.clientHeight || 250;
    const r = (this.r = this.ranges());
    const root = this.root;
    root.textContent = "";
    root.setAttribute("viewBox", `0 0 ${w} ${h}`);
    let yt, labels, base = 0;
    if (this.logY) ({ ticks: yt, labels } = logTicks(r.y0, r.y1, 6));
    else { const t = linearTicks(r.y0, r.y1, h / 48, this.whole); yt = t.ticks; ({ labels, base } = linearLabels(yt, t.step)); }
    const left = Math.max(30, 10 + 6.6 * Math.max(0, ...labels.map(l => l.length))), right = 12, top = 20, bottom = 34;
    const X = (this.X = v => left + ((v - r.x0) / (r.x1 - r.x0)) * (w - left - right));
    const Y = (this.Y = v => h - bottom - ((v - r.y0) / (r.y1 - r.y0)) * (h - top - bottom));
    this.frame = { left, right: w - right, top, bottom: h - bottom };
    const clip = `clip${this.spec.id}`;
    svg("rect", { x: left, y: top, width: Math.max(w - left - right, 1), height: Math.max(h - top - bottom, 1) }, svg("clipPath", { id: clip }, root));

    yt.forEach((t, k) => {
      svg("path", { class: "grid", d: `M${left} ${Y(t)}H${w - right}` }, root);
      svg("text", { x: left - 6, y: Y(t) + 4, "text-anchor": "end" }, root).textContent = labels[k];
    });
    const xt = this.logX ? logTicks(r.x0, r.x1, w / 90) : linearTicks(r.x0, r.x1, w / 90);
    const xl = this.logX ? { labels: xt.labels, base: 0 } : linearLabels(xt.ticks, xt.step);
    xt.ticks.forEach((t, k) => {
      svg("path", { class: "grid", d: `M${X(t)} ${top}V${h - bottom}` }, root);
      svg("text", { x: X(t), y: h - bottom + 15, "text-anchor": "middle" }, root).textContent = xl.labels[k];
    });
    const offset = b => (b ? `  (${pretty(b, 12)} + …)` : "");
    svg("text", { x: 2, y: 11 }, root).textContent = this.spec.y_label + offset(base);
    svg("text", { x: w - right, y: h - 4, "text-anchor": "end" }, root).textContent = this.spec.x_label + offset(xl.base);

    const plot = svg("g", { "clip-path": `url(#${clip})` }, root);
    if (this.spec.band) this.drawBand(plot, left, w - right);
    svg("path", { class: "axis", d: `M${left} ${top}V${h - bottom}H${w - right}`, fill: "none" }, root);
    this.spec.series.forEach((s, k) => { if (!this.hidden.has(k)) this.drawSeries(plot, s, k); });
    if (this.spec.band) plot.append(this.bandName);
    this.nowLine = svg("path", { class: "now" }, plot);
    this.over = svg("g", {}, plot);
    this.setNow(this.now);
  }

  drawBand(plot, x0, x1) {
    const { low, high, label } = this.spec.band, { top, bottom } = this.frame;
    const at = (v, otherwise) => { const t = this.ty(v); return Number.isNaN(t) ? otherwise : Math.max(top - 5, Math.min(bottom + 5, this.Y(t))); };
    const a = at(high, top - 5), b = at(low, bottom + 5);
    svg("rect", { class: "band", x: x0, y: a, width: Math.max(x1 - x0, 0), height: Math.max(b - a, 0) }, plot);
    for (const y of [a, b]) svg("path", { class: "edge", d: `M${x0} ${y}H${x1}` }, plot);
    // The label is inside a wide band and above a narrow one.
    const y = b - a < 22 && a > top + 18 ? a - 6 : Math.max(a, top) + 14;
    this.bandName = svg("text", { class: "bandname", x: x1 - 6, y: Math.min(y, bottom - 4), "text-anchor": "end" });
    this.bandName.textContent = label;
  }

  drawSeries(plot, s, k) {
    let d = "", pen = false, last = 0;
    for (let i = 0; i < s.x.length; i++) {
      const x = this.X(this.tx(s.x[i])), y = this.Y(this.ty(s.y[i]));
      if (!Number.isFinite(x) || !Number.isFinite(y)) { pen = false; continue; }
      if (pen && s.style === "steps") d += `H${x.toFixed(1)}V${y.toFixed(1)}`;
      else d += `${pen ? "L" : "M"}${x.toFixed(1)} ${y.toFixed(1)}`;
      // A single point between gaps needs a short line to be visible.
      if (!pen && (i + 1 >= s.x.length || !Number.isFinite(this.ty(s.y[i + 1])))) d += "h.01";
      pen = true;
      last = i;
    }
    if (s.style !== "points") svg("path", { class: "series", d, style: `stroke:${this.colour(k)};stroke-dasharray:${this.dash(s, k)};stroke-linecap:round` }, plot);
    if (s.style === "points" || s.style === "both") for (let i = 0; i <= last && i < s.x.length; i++) {
      const x = this.X(this.tx(s.x[i])), y = this.Y(this.ty(s.y[i]));
      if (Number.isFinite(x) && Number.isFinite(y)) svg("circle", { cx: x, cy: y, r: 3.4, style: `fill:${this.colour(k)}` }, plot);
    }
  }

  setNow(t) {
    this.now = t;
    if (!this.nowLine || t === null || !this.spec.time_axis) return;
    this.nowLine.setAttribute("d", `M${this.X(this.tx(t)).toFixed(1)} ${this.frame.top}V${this.frame.bottom}`);
  }

  setZoom(zoom) {
    this.zoom = zoom;
    this.resetButton.hidden = !zoom;
    this.draw();
  }

  fromPixel(px) {
    const { left, right } = this.frame;
    return this.r.x0 + ((px - left) / (right - left)) * (this.r.x1 - this.r.x0);
  }

  listen() {
    const at = e => e.clientX - this.root.getBoundingClientRect().left;
    let start = null;
    this.root.addEventListener("pointerdown", e => {
      if (e.button !== 0) return;
      start = at(e);
      if (e.pointerType === "mouse") this.root.setPointerCapture(e.pointerId);
    });
    this.root.addEventListener("pointermove", e => this.hover(at(e), e.pointerType === "mouse" ? start : null));
    this.root.addEventListener("pointerup", e => {
      const end = at(e), from = start;
      start = null;
      if (from === null) return;
      if (Math.abs(end - from) > 6 && e.pointerType === "mouse") {
        this.setZoom([Math.min(from, end), Math.max(from, end)].map(p => this.fromPixel(Math.max(this.frame.left, Math.min(this.frame.right, p)))));
      } else if (this.spec.time_axis && this.onPick && e.detail < 2) {
        const t = this.fromPixel(end);
        this.onPick(this.logX ? 10 ** t : t);
      }
    });
    this.root.addEventListener("pointerleave", () => { this.tip.hidden = true; if (this.over) this.over.textContent = ""; });
    this.root.addEventListener("pointercancel", () => { start = null; });
    this.root.addEventListener("dblclick", () => this.setZoom(null));
  }

  hover(px, dragFrom) {
    const { left, right, top, bottom } = this.frame;
    this.over.textContent = "";
    if (px < left || px > right) { this.tip.hidden = true; return; }
    if (dragFrom !== null && Math.abs(px - dragFrom) > 3) svg("rect", { class: "zoom", x: Math.min(px, dragFrom), y: top, width: Math.abs(px - dragFrom), height: bottom - top }, this.over);
    svg("path", { class: "cross", d: `M${px} ${top}V${bottom}` }, this.over);
    const x = this.fromPixel(px);
    this.tip.textContent = "";
    html("div", "", this.tip, `${this.spec.x_label}: ${pretty(this.logX ? 10 ** x : x, 5)}`);
    this.spec.series.forEach((s, k) => {
      if (this.hidden.has(k) || !s.x.length) return;
      const i = this.nearest(s, x);
      const row = html("div", "", this.tip);
      html("i", "", row).style.background = this.colour(k);
      row.append(`${s.name}: ${pretty(s.y[i], 6)}`);
      const cx = this.X(this.tx(s.x[i])), cy = this.Y(this.ty(s.y[i]));
      if (Number.isFinite(cx) && Number.isFinite(cy)) svg("circle", { cx, cy, r: 3.5, style: `fill:${this.colour(k)}` }, this.over);
    });
    this.tip.hidden = false;
    const width = this.tip.offsetWidth;
    this.tip.style.left = `${px + 14 + width > this.box.clientWidth ? Math.max(0, px - width - 14) : px + 14}px`;
  }

  /** Index of the sample nearest to x in axis coordinates. Samples are sorted by x unless they are drawn as points. */
  nearest(s, x) {
    if (s.style === "line" || s.style === "steps") {
      let a = 0, b = s.x.length - 1;
      while (b - a > 1) { const m = (a + b) >> 1; this.tx(s.x[m]) <= x ? (a = m) : (b = m); }
      return Math.abs(this.tx(s.x[a]) - x) <= Math.abs(this.tx(s.x[b]) - x) ? a : b;
    }
    let best = 0;
    for (let i = 1; i < s.x.length; i++) if (Math.abs(this.tx(s.x[i]) - x) < Math.abs(this.tx(s.x[best]) - x)) best = i;
    return best;
  }
}
