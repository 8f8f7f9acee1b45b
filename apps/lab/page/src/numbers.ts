// Numbers in a readable form.

/** About three digits; a power of ten for large and small numbers. */
export function short(value: number, digits = 3): string {
    if (!Number.isFinite(value)) return String(value);
    if (value === 0) return "0";
    const size = Math.abs(value);
    if (size >= 1e5 || size < 1e-3) {
        const [mantissa, exponent] = value.toExponential(digits - 1).split("e") as [string, string];
        return `${trim(mantissa)}e${Number(exponent)}`;
    }
    return String(Number(value.toPrecision(Math.max(digits, Math.floor(Math.log10(size)) + 1))));
}

function trim(text: string): string {
    return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

const PREFIXES: [number, string][] = [
    [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"],
];

/** `12.3 kN`. */
export function withUnit(value: number, unit: string): string {
    if (value === 0 || !Number.isFinite(value)) return `${value} ${unit}`;
    const size = Math.abs(value) * 1.0005;
    const [factor, prefix] = PREFIXES.find(([factor]) => size >= factor) ?? [1e-9, "n"];
    if (size < 1e-10 || size >= 1e15) return `${short(value)} ${unit}`;
    return `${short(value / factor)} ${prefix}${unit}`;
}

/** A relative size: in percent, or as a power of ten if it is very small. */
export function share(value: number): string {
    const size = Math.abs(value);
    if (size === 0) return "0 %";
    return size >= 1e-4 ? `${short(value * 100, 2)} %` : short(value, 2);
}

/** Seconds on the clock of the simulation. */
export function seconds(t: number): string {
    return t < 100 ? `${t.toFixed(2)} s` : `${t.toFixed(1)} s`;
}

/** Position (0 to 1) of a value on a slider, and back. */
export interface Scale {
    toUnit(value: number): number;
    fromUnit(unit: number): number;
}

export function linear(min: number, max: number, step = 0): Scale {
    return {
        toUnit: (value) => clamp((value - min) / (max - min), 0, 1),
        fromUnit: (unit) => {
            const value = min + unit * (max - min);
            return step ? min + Math.round((value - min) / step) * step : Number(value.toPrecision(3));
        },
    };
}

/** Values of a slider are rounded to three digits. */
export function logarithmic(min: number, max: number): Scale {
    const span = Math.log(max / min);
    return {
        toUnit: (value) => (value > 0 ? clamp(Math.log(value / min) / span, 0, 1) : 0),
        fromUnit: (unit) => Number((min * Math.exp(unit * span)).toPrecision(3)),
    };
}

export function clamp(value: number, low: number, high: number): number {
    return Math.min(high, Math.max(low, value));
}

/** A step of 1, 2 or 5 times a power of ten that divides `span` into about `count` parts. */
export function niceStep(span: number, count: number): number {
    const raw = span / Math.max(count, 1);
    const power = 10 ** Math.floor(Math.log10(raw));
    const ratio = raw / power;
    return power * (ratio < 1.5 ? 1 : ratio < 3.5 ? 2 : ratio < 7.5 ? 5 : 10);
}

/** A value on an axis with marks `step` apart, with as many digits as two neighbouring marks need to differ. */
export function tick(value: number, step: number): string {
    if (Math.abs(value) < 1e-9 * step) return "0";
    const digits = Math.floor(Math.log10(Math.abs(value))) - Math.floor(Math.log10(step)) + 1;
    return short(value, clamp(digits, 3, 8));
}

export function length3(v: ArrayLike<number>): number {
    return Math.hypot(v[0]!, v[1]!, v[2]!);
}
