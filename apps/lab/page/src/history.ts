// The recent samples of one pane. Old samples are thinned.

import type { FrameInfo } from "./protocol.ts";

export const SERIES = [
    "t", "kinetic", "elastic", "gravity", "total", "work", "physical", "numerical", "px", "py", "pz", "lx", "ly", "lz",
    "momentumScale", "angularScale", "cost", "newton", "expected",
] as const;
export type Series = (typeof SERIES)[number];

/** Ninety seconds at sixty frames a second before anything is thinned. */
const CAPACITY = 8192;

export class History {
    length = 0;
    /** Time of the last change of settings. */
    changed = -Infinity;
    private readonly data: Record<Series, Float64Array>;

    constructor(private readonly capacity = CAPACITY) {
        this.data = Object.fromEntries(SERIES.map((name) => [name, new Float64Array(capacity)])) as Record<Series, Float64Array>;
    }

    /** Values of one series, oldest first; only the first `length` count. */
    series(name: Series): Float64Array {
        return this.data[name];
    }

    last(name: Series): number {
        return this.length > 0 ? this.data[name][this.length - 1]! : NaN;
    }

    clear(): void {
        this.length = 0;
        this.changed = -Infinity;
    }

    /**
     * Takes a frame, and the total energy that was expected in it. Time that goes back (to the last good state, say) takes
     * away what came later; back to the beginning, everything.
     */
    push(frame: FrameInfo, expected = NaN): void {
        if (frame.t < 0.1 * this.last("t")) this.clear();
        while (this.length > 0 && this.last("t") >= frame.t) this.length -= 1;
        if (this.length === this.capacity) this.thin();
        const k = this.length++;
        const { energy, momentum: p, angular: l, scale } = frame;
        this.write(k, frame.t, energy.kinetic, energy.elastic, energy.gravity, energy.total, energy.work, energy.physical,
            energy.numerical, p[0], p[1], p[2], l[0], l[1], l[2], scale.momentum, scale.angular, frame.cost_ms, frame.newton, expected);
    }

    private write(k: number, ...values: number[]): void {
        for (let s = 0; s < SERIES.length; s++) this.data[SERIES[s]!][k] = values[s]!;
    }

    /** Removes every second sample of the older half. */
    private thin(): void {
        const half = this.capacity >> 1;
        const kept = half >> 1;
        for (const name of SERIES) {
            const values = this.data[name];
            for (let k = 0; k < kept; k++) values[k] = values[2 * k]!;
            values.copyWithin(kept, half, this.length);
        }
        this.length -= half - kept;
    }

    /** First sample at or after time `t`. */
    from(t: number): number {
        const times = this.data.t;
        let low = 0;
        let high = this.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (times[middle]! < t) low = middle + 1;
            else high = middle;
        }
        return low;
    }
}
