import { expect, test } from "vitest";
import { History } from "../../src/history.ts";
import type { FrameInfo, PaneInfo, Vec3 } from "../../src/protocol.ts";
import { grade, Reference } from "../../src/truth.ts";

const frame = (t: number, part: Partial<FrameInfo["energy"]> = {}, momentum: Vec3 = [1, 0, 0]): FrameInfo => ({
    t, step: 0, energy: { kinetic: 6, elastic: 4, gravity: 0, other: 0, total: 10, work: 0, physical: 0, numerical: 0, ...part },
    momentum, angular: [0, 0, 2], scale: { momentum: 2, angular: 4 }, cost_ms: 1, newton: 2, behind: 0, realtime: null, cuts: null, cut: null, grab: null, range: null,
});
const pane = (conserved: PaneInfo["conserved"]): PaneInfo => ({
    title: "", label: "", scene: {}, integrator: "", step: 1, elements: 1, vertices: 1, conserved, keeps: conserved, stability: null, warnings: [], notes: [],
});
const all = { energy: true, linear: true, angular: true };

test("a constant energy is exact, a lost one is the integrator's", () => {
    const reference = new Reference();
    reference.see(frame(0));
    expect(reference.verdicts(pane(all), frame(1)).map((v) => v.grade)).toEqual(["exact", "exact", "exact"]);
    const lost = reference.verdicts(pane(all), frame(1, { total: 8 }))[0]!;
    expect(lost.grade).toBe("off");
    expect(lost.drift).toBeCloseTo(-0.2);
    expect(lost.text).toBe("20 % lost by the integrator");
});

test("work and physical damping are not the integrator's fault", () => {
    const reference = new Reference();
    reference.see(frame(0));
    const later = frame(1, { total: 12, work: 5, physical: 3 });
    expect(reference.energyDrift(later)).toBeCloseTo(0);
    expect(reference.expected(later)).toBe(12);
});

test("momentum is judged by what moves, not by its own size", () => {
    const reference = new Reference();
    reference.see(frame(0));
    const drift = reference.verdicts(pane(all), frame(1, {}, [1.1, 0, 0]))[1]!;
    expect(drift.drift).toBeCloseTo(0.05);
    expect(drift.grade).toBe("off");
    expect(reference.verdicts(pane({ ...all, linear: false }), frame(1, {}, [9, 0, 0]))[1]!.grade).toBe("open");
});

test("a restart takes the next frame as reference, and so does time that goes back", () => {
    const reference = new Reference();
    reference.see(frame(5));
    reference.restart();
    reference.see(frame(6, { total: 20 }));
    expect(reference.energyDrift(frame(7, { total: 20 }))).toBe(0);
    reference.see(frame(0, { total: 3 }));
    expect(reference.energyDrift(frame(1, { total: 3 }))).toBe(0);
});

test("grades", () => {
    expect([1e-12, 1e-4, 0.2, NaN].map(grade)).toEqual(["exact", "close", "off", "open"]);
});

test("history keeps the near past in full and the far past thinned", () => {
    const history = new History(64);
    for (let k = 0; k < 1000; k++) history.push(frame(k));
    expect(history.length).toBeLessThanOrEqual(64);
    const times = [...history.series("t").subarray(0, history.length)];
    expect(times[0]).toBe(0);
    expect(times.at(-1)).toBe(999);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    expect(times.slice(-16)).toEqual(Array.from({ length: 16 }, (_, k) => 984 + k));
});

test("time that goes back takes what came later away", () => {
    const history = new History(64);
    for (let k = 0; k < 10; k++) history.push(frame(k));
    history.push(frame(4.5));
    expect([...history.series("t").subarray(0, history.length)]).toEqual([0, 1, 2, 3, 4, 4.5]);
    expect(history.from(2.5)).toBe(3);
    history.push(frame(0.2));
    expect([...history.series("t").subarray(0, history.length)]).toEqual([0.2]);
});
