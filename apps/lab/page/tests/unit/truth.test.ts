import { expect, test } from "vitest";
import { History } from "../../src/history.ts";
import { verticalRange } from "../../src/plot.ts";
import type { FrameInfo, PaneInfo, Vec3 } from "../../src/protocol.ts";
import { grade, Reference } from "../../src/truth.ts";

const frame = (t: number, part: Partial<FrameInfo["energy"]> = {}, momentum: Vec3 = [1, 0, 0]): FrameInfo => ({
    t, step: 0, energy: { kinetic: 6, elastic: 4, gravity: 0, other: 0, total: 10, work: 0, physical: 0, numerical: 0, ...part },
    momentum, angular: [0, 0, 2], scale: { momentum: 2, angular: 4 }, round_off: { energy: 1e-12, momentum: 1e-12, angular: 1e-12 }, cost_ms: 1, newton: 2, behind: 0, realtime: null, cuts: null, cut: null, grab: null, range: null, watched: null,
});
const pane = (conserved: PaneInfo["conserved"]): PaneInfo => ({
    title: "", label: "", scene: {}, integrator: "", step: 1, elements: 1, vertices: 1, conserved, keeps: conserved, allowed: { energy: 0.02, linear: 1e-8, angular: 1e-8 }, stability: null, warnings: [], notes: [],
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

test("round-off is neither a motion nor a loss, and more than round-off is", () => {
    const reference = new Reference();
    const still = { kinetic: 1e-14, elastic: 0, total: 1e-14 };
    reference.see(frame(0, { ...still, kinetic: 0, total: 0 }));
    reference.see(frame(1, still));
    expect(reference.verdicts(pane(all), frame(1, still))[0]!.text).toBe("at rest");
    const moving = { kinetic: 1e-9, elastic: 0, total: 1e-9 };
    reference.see(frame(2, moving));
    expect(reference.verdicts(pane(all), frame(2, moving))[0]!.text).toBe("100 % gained by the integrator");
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

test("a tick is given up to what the verdict of a run allows, also to a method that bounds its energy", () => {
    expect([1e-12, 1e-4, 0.087, NaN].map((drift) => grade(drift, 0.02))).toEqual(["exact", "close", "off", "open"]);
    expect([1e-12, 1e-7].map((drift) => grade(drift, 1e-8))).toEqual(["exact", "off"]);
    const reference = new Reference();
    reference.see(frame(0));
    const bounded = { ...pane(all), keeps: { ...all, bounded: true } };
    expect(reference.verdicts(bounded, frame(1, { total: 10.87 }))[0]).toMatchObject({ grade: "off", text: "off by 8.7 %, more than 2 %" });
    expect(reference.verdicts(bounded, frame(1, { total: 10.1 }))[0]).toMatchObject({ grade: "close", text: "bounded (1 %)" });
});

test("a pull is work: energy that is lost meanwhile stays lost, and momenta are judged again after it", () => {
    const reference = new Reference();
    reference.see(frame(0));
    const grab = { vertex: 0, to: [0, 0, 0] as Vec3, force: 1 };
    const pulled = { ...frame(1, { total: 12, work: 5 }, [3, 0, 0]), grab };
    reference.see(pulled);
    const [energy, linear] = reference.verdicts(pane(all), pulled);
    expect(energy!.text).toBe("30 % lost by the integrator");
    expect(linear).toMatchObject({ grade: "open", text: "pulled" });
    reference.touched();
    const after = frame(2, { total: 12, work: 5 }, [3, 0, 0]);
    reference.see(after);
    const [still, free] = reference.verdicts(pane(all), after);
    expect(still!.grade).toBe("off");
    expect(free!.grade).toBe("exact");
});

test("height is in play as far as the body fell", () => {
    const reference = new Reference();
    reference.see(frame(0, { kinetic: 0, elastic: 0, gravity: 100, total: 100 }));
    const low = frame(1, { kinetic: 38, elastic: 0, gravity: 60, total: 98 });
    reference.see(low);
    expect(reference.energyDrift(low)).toBeCloseTo(-0.05);
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

test("what came before a change of settings does not flatten what comes after", () => {
    const history = new History();
    const curve = { history, value: (of: History, k: number) => of.series("elastic")[k]!, color: "" };
    const axes = { from: 0, to: 30, span: 0 };
    for (let k = 0; k < 20; k++) history.push(frame(k, { elastic: 1e7 }));
    history.changed = 19;
    history.push(frame(20, { elastic: 3 }));
    expect(verticalRange([curve], axes)[1]).toBeGreaterThan(1e7);
    for (let k = 21; k < 28; k++) history.push(frame(k, { elastic: k % 2 ? 2 : 3 }));
    history.changed = 19.5;
    const [low, high] = verticalRange([curve], axes);
    expect(low).toBeCloseTo(1.94);
    expect(high).toBeCloseTo(3.06);
    // A change that changes little leaves the range as it is.
    history.changed = 23.5;
    for (let k = 28; k < 40; k++) history.push(frame(k, { elastic: 1 }));
    expect(verticalRange([curve], { ...axes, from: 19.5 })[1]).toBeGreaterThan(3);
});
