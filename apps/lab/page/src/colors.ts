// Colours: viridis for fields, one hue per pane and per curve.

/** Viridis (van der Walt and Smith, 2015, CC0) at nine places; between them, straight lines. */
const VIRIDIS = [
    [68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99], [170, 220, 50], [253, 231, 37],
] as const;

/** Red, green, blue (0 to 255) at `unit` from 0 to 1. */
export function viridis(unit: number): [number, number, number] {
    const place = Math.min(Math.max(unit, 0), 1) * (VIRIDIS.length - 1);
    const k = Math.min(Math.floor(place), VIRIDIS.length - 2);
    const part = place - k;
    const mix = (c: 0 | 1 | 2) => Math.round(VIRIDIS[k]![c] * (1 - part) + VIRIDIS[k + 1]![c] * part);
    return [mix(0), mix(1), mix(2)];
}

/** RGBA of `size` shades, for a texture. */
export function ramp(size: number): Uint8Array {
    const data = new Uint8Array(4 * size);
    for (let k = 0; k < size; k++) data.set([...viridis(k / (size - 1)), 255], 4 * k);
    return data;
}

export const gradient = `linear-gradient(to top, ${VIRIDIS.map((c) => `rgb(${c.join(" ")})`).join(", ")})`;

/** Readable on dark and on light, and told apart with colour-blind eyes (Okabe and Ito, 2008). */
export const PANE_COLORS = ["#e69f00", "#56b4e9", "#cc79a7", "#2fb58a", "#9a8cf0"] as const;

export const CURVES = {
    kinetic: "#56b4e9",
    elastic: "#e69f00",
    gravity: "#8f8fd8",
    total: "#e5484d",
    physical: "#2fb58a",
    numerical: "#e5484d",
    momentum: "#56b4e9",
    angular: "#cc79a7",
    cost: "#2fb58a",
    newton: "#8f8fd8",
} as const;
