// Settings of time integration: integrator, options, step, speed.

import { type Control, section, select, slider, text, toggle } from "../controls.ts";
import { h } from "../dom.ts";
import type { Lab } from "../lab.ts";
import { linear, logarithmic, share, short, withUnit } from "../numbers.ts";
import type { FrameInfo, Integrator, IntegratorOption, RealTime } from "../protocol.ts";
import { at, formatValue, nextIntegrator, parseValue } from "../scene.ts";
import { withCurrent } from "./material.ts";

/** Options that mean the same in every method are kept when the method changes. */
const SHARED = ["tolerance", "max_iterations"];

export function methodPanel(lab: Lab): Control {
    const current = (): Integrator | undefined => lab.catalogue.integrators.find(({ name }) => name === lab.shown?.integrator);
    const choice = select({
        test: "integrator", label: "Integrator",
        choices: () => withCurrent(
            lab.catalogue.integrators.map(({ name, summary, explicit }) => ({ value: name, label: name, title: summary, group: explicit ? "Explicit: cheap, stable for small steps" : "Implicit: any step" })),
            lab.shown?.integrator ?? "",
        ),
        get: () => lab.shown?.integrator ?? "",
        set: (name) => {
            const options = lab.catalogue.integrators.find((entry) => entry.name === name)?.options ?? [];
            const shared = options.map((option) => option.name).filter((option) => SHARED.includes(option));
            lab.set("integrator", nextIntegrator(at(lab.shown?.scene ?? {}, "integrator"), name, shared));
        },
    });
    const summary = h("p", { class: "dim", "data-test": "integrator-summary" });
    const step = slider({
        test: "step-size", label: "Step h", unit: "s", scale: logarithmic(1e-5, 0.2), title: "Simulated time per step",
        get: () => lab.shown?.step ?? null,
        set: (value, done) => {
            lab.setSoon("time.step", value);
            if (done) lab.flush();
        },
    });
    const limit = h("p", { class: "dim", "data-test": "stability-note" });
    const options = h("div", { class: "stack" });
    let shown = "";
    let optionControls: Control[] = [];

    const update = () => {
        choice.update();
        step.update();
        const method = current();
        summary.textContent = method?.summary ?? "";
        const stability = lab.shown?.stability ?? null;
        limit.hidden = stability === null;
        if (stability) limit.textContent = `${share(stability.share)} of the stable step (${withUnit(stability.limit, "s")})`;
        const key = `${lab.target} ${method?.name}`;
        if (key !== shown) {
            shown = key;
            optionControls = (method?.options ?? []).map((option) => optionControl(lab, option));
            options.replaceChildren(...optionControls.map((control) => control.element));
        }
        for (const control of optionControls) control.update();
    };
    return { element: section("panel-method", "Integrator and step", true, choice.element, summary, step.element, limit, options), update };
}

/** The control for an option of the catalogue. */
function optionControl(lab: Lab, option: IntegratorOption): Control {
    const path = `integrator.${option.name}`;
    const test = `option-${option.name}`;
    const label = option.name.replaceAll("_", " ");
    const value = () => at(lab.shown?.scene ?? {}, path) ?? option.default;
    if (option.kind === "flag") {
        return toggle({ test, label, title: option.summary, get: () => value() === true, set: (on) => lab.set(path, on) });
    }
    if (option.kind === "word" && option.choices?.length) {
        const choices = option.choices.map((word) => ({ value: word, label: word }));
        const control = select({ test, label, choices: () => withCurrent(choices, String(value() ?? "")), get: () => String(value() ?? ""), set: (word) => lab.set(path, word) });
        control.element.title = option.summary;
        return control;
    }
    const number = () => (typeof value() === "number" ? (value() as number) : null);
    const scale = scaleFor(option);
    if (scale && !option.choices?.length && number() !== null) {
        return slider({
            test, label, scale, title: option.summary, get: number,
            set: (next, done) => {
                lab.setSoon(path, option.kind === "whole" ? Math.round(next) : next);
                if (done) lab.flush();
            },
        });
    }
    const control = text({ test, label, get: () => formatValue(value() ?? ""), set: (given) => lab.set(path, given.trim() === "" ? null : parseValue(given)) });
    control.element.title = option.summary;
    return control;
}

function scaleFor({ name, kind, default: start, range }: IntegratorOption) {
    if (typeof start !== "number") return null;
    if (/tolerance/.test(name)) return logarithmic(1e-14, 1e-1);
    const [low, high] = range ?? [-Infinity, Infinity];
    if (Number.isFinite(low) && Number.isFinite(high) && high - low <= 10) return linear(low, high);
    if (kind === "whole") return linear(1, Math.max(10, 4 * start), 1);
    return start >= 0 && start <= 1 ? linear(0, 1) : start > 0 ? logarithmic(start / 100, start * 100) : null;
}

export function clockPanel(lab: Lab): Control {
    const speed = slider({
        test: "speed", label: "Speed", unit: "×", scale: logarithmic(0.01, 10), title: "Simulated seconds per second",
        get: () => lab.status.speed,
        set: (value) => void lab.send({ do: "speed", value }),
    });
    const fast = toggle({
        test: "as-fast", label: "As fast as possible", get: () => lab.status.speed === null,
        set: (on) => void lab.send({ do: "speed", value: on ? null : 1 }),
    });
    const budget = slider({
        test: "budget", label: "Time for a frame", unit: "ms", scale: logarithmic(4, 200), title: "Wall time that the steps of one frame may take; the page tells what is cut",
        get: () => lab.status.budget_ms,
        set: (ms, done) => {
            if (done) lab.send({ do: "budget", ms });
        },
    });
    const realtime = toggle({
        test: "realtime", label: "Real time", title: "Implicit methods solve less accurately where steps take longer than the time for a frame; the page tells everything that is cut",
        get: () => lab.status.realtime,
        set: (on) => void lab.send({ do: "realtime", on }),
    });
    const note = h("p", { class: "dim", "data-test": "realtime-note" });
    const write = () => {
        const lines = lab.frames.flatMap(({ realtime: now, cuts }, k) => {
            const told = paceInWords(now, cuts);
            return told && lab.frames.length > 1 ? [`${lab.panes[k]?.label ?? k}: ${told}`] : told ? [told] : [];
        });
        note.replaceChildren(...lines.map((line) => h("span", { class: "line" }, line)));
        note.hidden = lines.length === 0;
    };
    let last = 0;
    lab.on("frame", () => {
        if (performance.now() - last < 250) return;
        last = performance.now();
        write();
    });
    const update = () => {
        for (const control of [speed, fast, budget, realtime]) control.update();
        write();
    };
    return { element: section("panel-clock", "Speed", false, speed.element, fast.element, budget.element, realtime.element, note), update };
}

/** The state of real-time mode, and the steps that it cut. */
export function paceInWords(now: RealTime | null, cuts: FrameInfo["cuts"]): string {
    const parts: string[] = [];
    if (now) {
        if (now.pace !== null) parts.push(`${short(now.pace, 2)} × real time`);
        if (now.tolerance === null || now.asked === null) parts.push("nothing is cut from the steps of this method");
        else if (now.tolerance > now.asked) parts.push(`tolerance ${short(now.tolerance, 2)} (asked for ${short(now.asked, 2)})`);
        else parts.push(`tolerance ${short(now.asked, 2)}, as asked for`);
        if (now.overrun) parts.push("even the least effort takes longer than the time for a frame");
    }
    if (cuts) parts.push(`${cuts.steps} of ${cuts.of} steps cut short, corrections up to ${short(cuts.worst, 2)} × the tolerance`);
    return parts.join("; ");
}
