// The script of the report page (crates/report): numbers, ticks and decoding.

import { expect, test } from "vitest";
import plots from "../../../../../crates/report/src/plots.js?raw";
import viewer from "../../../../../crates/report/src/viewer.js?raw";

const report = new Function(`${plots}\n${viewer}; return { pretty, linearTicks, linearLabels, logTicks, Motion, Camera, colourAt };`)();

test("numbers have few digits and powers of ten", () => {
    expect([0, 1.23456, -0.001, 123456, 1.5e-7, -2e9].map((x) => report.pretty(x))).toEqual(["0", "1.235", "−0.001", "123456", "1.5×10⁻⁷", "−2×10⁹"]);
    expect([null, NaN, Infinity].map((x) => report.pretty(x))).toEqual(["–", "–", "–"]);
});

test("ticks are round and inside the range", () => {
    const { ticks, step } = report.linearTicks(0.1, 1.1, 5, false);
    expect(step).toBe(0.2);
    expect(ticks.map((t: number) => Number(t.toFixed(9)))).toEqual([0.2, 0.4, 0.6, 0.8, 1]);
    expect(report.linearTicks(0.5, 3, 12, true).ticks).toEqual([1, 2, 3]);
    expect(report.linearLabels([0, 0.5, 1], 0.5).labels).toEqual(["0", "0.5", "1.0"]);
    expect(report.logTicks(-3, 4, 10).labels).toEqual(["10⁻³", "0.01", "0.1", "1", "10", "100", "1000", "10⁴"]);
});

test("values that differ little are labelled as offsets from a base", () => {
    const { labels, base } = report.linearLabels([1e6, 1e6 + 1, 1e6 + 2], 1);
    expect(base).toBe(1e6);
    expect(labels).toEqual(["0", "1", "2"]);
});

test("a cube is decoded, and its corners are duplicated for flat faces", () => {
    const corners = [0, 1, 2, 3, 4, 5, 6, 7].map((k) => [k & 1, (k >> 1) & 1, k >> 2]);
    const faces = [[0, 2, 3], [0, 3, 1], [4, 5, 7], [4, 7, 6], [0, 1, 5], [0, 5, 4], [2, 6, 7], [2, 7, 3], [0, 4, 6], [0, 6, 2], [1, 3, 7], [1, 7, 5]];
    const base64 = (array: Uint16Array | Uint32Array) => btoa(String.fromCharCode(...new Uint8Array(array.buffer)));
    const motion = new report.Motion({
        vertices: 8, times: [0], triangles: base64(Uint32Array.from(faces.flat())), lines: "", pinned: [],
        positions: base64(Uint16Array.from(corners.flat().map((x) => 65535 * x))), offsets: [[-1, -1, -1]], extent: [2, 2, 2], fields: [],
    });
    expect([...motion.positions(0, new Float64Array(24))]).toEqual(corners.flat().map((x) => 2 * x - 1));
    expect(motion.source.length).toBe(24);
    expect(motion.closed).toBe(true);
});

test("the camera looks at its target", () => {
    const camera = new report.Camera([0, 1, 0]);
    const m = camera.matrix(1);
    expect([m[12], m[13]].map((x) => Math.abs(x))).toEqual([0, 0].map((zero) => expect.closeTo(zero, 12)));
    expect(m[15]).toBeCloseTo(camera.distance, 12);
    expect(report.colourAt(0)).toEqual([0x2d, 0x2a, 0x6e]);
});
