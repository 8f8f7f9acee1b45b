// Draws curves over time, with at most as many points as pixels.

import type { History } from "./history.ts";
import { niceStep, tick } from "./numbers.ts";

export interface Curve {
    history: History;
    value: (history: History, k: number) => number;
    color: string;
    dashed?: boolean;
    thin?: boolean;
}

export interface Axes {
    from: number;
    to: number;
    /** The vertical axis shows at least this range, so that rounding errors look small. */
    span: number;
    /** Whether the vertical axis includes zero. */
    zero?: boolean;
    /** The text at the end of dashed curves. */
    note?: string;
}

const LEFT = 46;
const BOTTOM = 14;
const TOP = 4;
/** Samples of a curve after a change that suffice for a range of their own, if the values before were so much larger. */
const ENOUGH = 6;
const SPIKE = 4;

export class Plot {
    readonly canvas = document.createElement("canvas");
    // The processor draws thin curves on a small canvas faster than a graphics card, and much faster than an emulated one.
    private readonly pen = this.canvas.getContext("2d", { willReadFrequently: true })!;
    private width = 0;
    private height = 0;
    private readonly lows = new Float64Array(2048);
    private readonly highs = new Float64Array(2048);

    constructor(label: string) {
        this.canvas.className = "plot";
        this.canvas.setAttribute("role", "img");
        this.canvas.setAttribute("aria-label", label);
    }

    draw(curves: Curve[], axes: Axes): void {
        if (!this.fit()) return;
        const { pen, width, height } = this;
        const style = getComputedStyle(this.canvas);
        const faint = style.getPropertyValue("--line");
        const text = style.getPropertyValue("--dim");
        pen.clearRect(0, 0, width, height);
        const [low, high] = verticalRange(curves, axes);
        const x = (t: number) => LEFT + ((t - axes.from) / (axes.to - axes.from)) * (width - LEFT - 4);
        const y = (v: number) => height - BOTTOM - ((v - low) / (high - low)) * (height - BOTTOM - TOP);
        this.grid(axes, low, high, x, y, faint, text);
        pen.save();
        pen.beginPath();
        pen.rect(LEFT, 0, width - LEFT, height - BOTTOM + 1);
        pen.clip();
        for (const curve of curves) this.curve(curve, axes, x, y);
        pen.restore();
        const dashed = curves.find((curve) => curve.dashed);
        if (axes.note && dashed && dashed.history.length > 0) {
            const at = y(dashed.value(dashed.history, dashed.history.length - 1));
            const place = at - 4 < TOP + 8 ? at + 11 : at - 4;
            pen.textAlign = "right";
            pen.lineWidth = 3;
            pen.setLineDash([]);
            pen.strokeStyle = style.getPropertyValue("--back");
            pen.strokeText(axes.note, width - 8, place);
            pen.fillStyle = text;
            pen.fillText(axes.note, width - 8, place);
        }
    }

    /** Adapts the canvas to its size on the page; `false` if it has none. */
    private fit(): boolean {
        const { clientWidth, clientHeight } = this.canvas;
        if (clientWidth === 0 || clientHeight === 0) return false;
        const ratio = devicePixelRatio;
        if (this.canvas.width !== Math.round(clientWidth * ratio) || this.canvas.height !== Math.round(clientHeight * ratio)) {
            this.canvas.width = Math.round(clientWidth * ratio);
            this.canvas.height = Math.round(clientHeight * ratio);
        }
        this.pen.setTransform(ratio, 0, 0, ratio, 0, 0);
        this.pen.font = "10px system-ui, sans-serif";
        this.width = clientWidth;
        this.height = clientHeight;
        return true;
    }

    private grid(axes: Axes, low: number, high: number, x: (t: number) => number, y: (v: number) => number, faint: string, text: string): void {
        const { pen, width, height } = this;
        pen.strokeStyle = faint;
        pen.fillStyle = text;
        pen.lineWidth = 1;
        pen.setLineDash([]);
        pen.textAlign = "right";
        const rise = niceStep(high - low, Math.max((height - BOTTOM) / 28, 1.5));
        for (let v = Math.ceil(low / rise) * rise; v <= high; v += rise) {
            const at = Math.round(y(v)) + 0.5;
            line(pen, LEFT, at, width - 4, at);
            pen.fillText(tick(v, rise), LEFT - 4, Math.min(at + 3, height - BOTTOM));
        }
        pen.textAlign = "center";
        const span = niceStep(axes.to - axes.from, (width - LEFT) / 60);
        for (let t = Math.ceil(axes.from / span) * span; t <= axes.to; t += span) {
            const at = Math.round(x(t)) + 0.5;
            line(pen, at, TOP, at, height - BOTTOM);
            pen.fillText(`${tick(t, span)} s`, Math.min(at, width - 12), height - 3);
        }
    }

    /** Per column of pixels, the lowest and the highest value. */
    private curve(curve: Curve, axes: Axes, x: (t: number) => number, y: (v: number) => number): void {
        const { history, value } = curve;
        const times = history.series("t");
        const { pen, lows, highs } = this;
        pen.strokeStyle = curve.color;
        pen.lineWidth = curve.thin ? 1 : 1.6;
        pen.globalAlpha = curve.thin ? 0.75 : 1;
        pen.setLineDash(curve.dashed ? [5, 4] : []);
        pen.lineJoin = "round";
        lows.fill(Infinity);
        highs.fill(-Infinity);
        const first = Math.max(history.from(axes.from) - 1, 0);
        pen.beginPath();
        let column = -1;
        let begun = false;
        const put = (c: number) => {
            if (c < 0 || lows[c] === Infinity) return;
            if (!begun) pen.moveTo(LEFT + c, y(lows[c]!));
            begun = true;
            pen.lineTo(LEFT + c, y(lows[c]!));
            if (highs[c]! > lows[c]!) pen.lineTo(LEFT + c, y(highs[c]!));
        };
        for (let k = first; k < history.length; k++) {
            const c = Math.max(0, Math.min(Math.round(x(times[k]!) - LEFT), lows.length - 1));
            if (c !== column) put(column);
            column = c;
            const v = value(history, k);
            if (!Number.isFinite(v)) continue;
            if (v < lows[c]!) lows[c] = v;
            if (v > highs[c]!) highs[c] = v;
        }
        put(column);
        pen.stroke();
        pen.globalAlpha = 1;
    }
}

/** The values at the ends of the vertical axis. */
export function verticalRange(curves: Curve[], axes: Axes): [number, number] {
    const whole = extent(curves, axes, () => axes.from);
    const recent = extent(curves, axes, (history) => Math.max(axes.from, history.changed));
    const reach = ({ low, high }: Extent) => Math.max(Math.abs(low), Math.abs(high));
    // What came before a change of settings may leave the picture, so that it does not flatten what came after.
    const spiked = recent.count >= ENOUGH * curves.length && reach(whole) > SPIKE * reach(recent);
    let { low, high } = spiked ? recent : whole;
    if (!(low <= high)) return [0, Math.max(axes.span, 1)];
    const lacking = Math.max(axes.span, 1e-12 * Math.max(Math.abs(low), Math.abs(high))) - (high - low);
    if (lacking > 0) {
        const below = axes.zero && low === 0 ? 0 : lacking / 2;
        low -= below;
        high += lacking - below;
    }
    if (high === low) high = low + 1;
    const air = 0.06 * (high - low);
    return [axes.zero && low === 0 ? 0 : low - air, high + air];
}

interface Extent {
    low: number;
    high: number;
    count: number;
}

/** Smallest and largest value of the curves after a time. */
function extent(curves: Curve[], axes: Axes, from: (history: History) => number): Extent {
    let low = axes.zero ? 0 : Infinity;
    let high = axes.zero ? 0 : -Infinity;
    let count = 0;
    for (const { history, value } of curves) {
        for (let k = history.from(from(history)); k < history.length; k++) {
            const v = value(history, k);
            count += 1;
            if (v < low) low = v;
            if (v > high) high = v;
        }
    }
    return { low, high, count };
}

function line(pen: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
}
