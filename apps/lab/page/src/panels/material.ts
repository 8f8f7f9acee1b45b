// Settings of a body: material model, constants, damping, mesh.

import { type Control, section, segments, select, slider, text } from "../controls.ts";
import { button, h } from "../dom.ts";
import type { Lab } from "../lab.ts";
import { linear, logarithmic } from "../numbers.ts";
import type { Json, JsonObject, ModelNumber } from "../protocol.ts";
import { at, formatValue, isObject, numberAt, parseValue } from "../scene.ts";

const PRESETS: { name: string; E: number; nu: number; rho: number }[] = [
    { name: "Jelly", E: 1e4, nu: 0.45, rho: 1000 },
    { name: "Rubber", E: 1e6, nu: 0.45, rho: 1100 },
    { name: "Wood", E: 1e10, nu: 0.3, rho: 600 },
    { name: "Steel", E: 2.1e11, nu: 0.3, rho: 7850 },
];

export function materialPanel(lab: Lab): Control {
    let body = 0;
    const scene = (): JsonObject => lab.shown?.scene ?? {};
    const path = (rest: string) => `body.${body}.${rest}`;
    const constant = (name: string) => numberAt(scene(), path(`material.${name}`));
    const set = (name: string) => (value: number, done: boolean) => {
        lab.setSoon(path(`material.${name}`), value);
        if (done) lab.flush();
    };

    const bodies = select({
        test: "body", label: "Body",
        choices: () => bodyNames(scene()).map((name, k) => ({ value: String(k), label: name })),
        get: () => String(body),
        set: (value) => {
            body = Number(value);
            update();
        },
    });
    const model = select({
        test: "material-model", label: "Material",
        choices: () => withCurrent(lab.catalogue.materials.map(({ name, summary }) => ({ value: name, label: name, title: summary })), String(at(scene(), path("material.model")) ?? "")),
        get: () => String(at(scene(), path("material.model")) ?? ""),
        set: (value) => lab.set(path("material.model"), value),
    });
    const presets = h("div", { class: "chips", role: "group", "aria-label": "Materials to start from" },
        PRESETS.map((preset) => button(`preset-${preset.name.toLowerCase()}`, `${preset.name}: E = ${preset.E.toExponential()} Pa, ν = ${preset.nu}, ρ = ${preset.rho} kg/m³`, preset.name,
            () => lab.setAll((["E", "nu", "rho"] as const).map((name) => ({ path: path(`material.${name}`), value: preset[name] }))), "chip")));
    const constants: Control[] = [
        slider({ test: "young", label: "Stiffness E", unit: "Pa", scale: logarithmic(1e2, 1e12), get: () => constant("E"), set: set("E"), title: "Young's modulus: stress per strain" }),
        slider({ test: "poisson", label: "Poisson's ratio ν", unit: "", scale: linear(0, 0.495), get: () => constant("nu"), set: set("nu"), title: "How much it thins when pulled; 0.5 keeps the volume" }),
        slider({ test: "density", label: "Density ρ", unit: "kg/m³", scale: logarithmic(10, 2e4), get: () => constant("rho"), set: set("rho") }),
    ];
    const others = h("div", { class: "stack" });
    let othersShown = "";
    const drawOthers = () => {
        const material = at(scene(), path("material"));
        const rest = isObject(material) ? Object.entries(material).filter(([key, value]) => key !== "model" && !(["E", "nu", "rho"].includes(key) && typeof value === "number") && !isObject(value)) : [];
        const key = JSON.stringify([body, lab.target, rest]);
        if (key === othersShown || others.contains(document.activeElement)) return;
        othersShown = key;
        others.replaceChildren(...rest.map(([name, value]) => text({
            test: `material-${name}`, label: name, get: () => formatValue(value), set: (given) => lab.set(path(`material.${name}`), parseValue(given)),
        }).element));
    };

    const damping = dampingControls(lab, path);
    const parts = [model, ...constants, damping];
    const update = () => {
        const names = bodyNames(scene());
        if (body >= names.length) body = 0;
        bodies.element.hidden = names.length < 2;
        presets.hidden = constant("E") === null;
        for (const control of [bodies, ...parts]) control.update();
        drawOthers();
    };
    const element = section("panel-material", "Material", true, bodies.element, constants[0]!.element, presets, ...constants.slice(1).map((c) => c.element), model.element, others, damping.element);
    return { element, update };
}

/** The damping models of the program; each has a slider for every number. */
function dampingControls(lab: Lab, path: (rest: string) => string): Control {
    const value = (): Json | undefined => at(lab.shown?.scene ?? {}, path("damping"));
    const model = () => {
        const now = value();
        if (Array.isArray(now)) return "several";
        return isObject(now) ? String(now.model) : "none";
    };
    const choice = select({
        test: "damping-model", label: "Damping",
        choices: () => [
            { value: "none", label: "none" },
            ...lab.catalogue.damping.map(({ name, summary }) => ({ value: name, label: name, title: summary })),
            ...(model() === "several" ? [{ value: "several", label: "several (see all settings)" }] : []),
        ],
        get: model,
        set: (name) => {
            if (name !== "several") lab.set(path("damping"), lab.catalogue.damping.find((known) => known.name === name)?.start ?? null);
        },
    });
    const strength = ({ name, summary, unit, example }: ModelNumber) => slider({
        test: `damping-${name}`, label: name, unit, title: summary, scale: logarithmic(1e-3 * example, 1e3 * example),
        get: () => {
            const now = value();
            return isObject(now) && typeof now[name] === "number" ? now[name] : null;
        },
        set: (next, done) => {
            lab.setSoon(path(`damping.${name}`), next);
            if (done) lab.flush();
        },
    });
    const sliders = h("div", { class: "stack" });
    let strengths: Control[] = [];
    // The catalogue comes with `hello`. A number that several models have gets one slider.
    lab.on("hello", () => {
        const numbers = new Map(lab.catalogue.damping.flatMap((known) => known.numbers).map((number) => [number.name, number]));
        strengths = [...numbers.values()].map(strength);
        sliders.replaceChildren(...strengths.map((control) => control.element));
    });
    return {
        element: h("div", { class: "stack" }, choice.element, sliders),
        update: () => [choice, ...strengths].forEach((control) => control.update()),
    };
}

export function meshPanel(lab: Lab, chooseFile: () => void): Control {
    const scene = (): JsonObject => lab.shown?.scene ?? {};
    const cells = () => at(scene(), "body.0.mesh.box.cells");
    const info = h("p", { class: "dim", "data-test": "mesh-info" });
    const axis = (k: number, name: string) => slider({
        test: `cells-${name}`, label: `Cells along ${name}`, unit: "", scale: linear(1, 40, 1),
        get: () => {
            const now = cells();
            return Array.isArray(now) && typeof now[k] === "number" ? (now[k] as number) : null;
        },
        set: (value, done) => {
            const now = cells();
            // The mesh is made again only when the user releases the slider.
            if (done && Array.isArray(now)) lab.set("body.0.mesh.box.cells", now.map((n, j) => (j === k ? Math.round(value) : n)));
        },
    });
    const axes = ["x", "y", "z"].map((name, k) => axis(k, name));
    const finer = segments({
        test: "refine", label: "Resolution",
        choices: [{ value: "coarser", label: "Coarser", title: "Half the cells" }, { value: "finer", label: "Finer", title: "Twice the cells" }],
        get: () => "",
        set: (way) => {
            const now = cells();
            if (Array.isArray(now)) lab.set("body.0.mesh.box.cells", now.map((n) => Math.max(1, Math.round(Number(n) * (way === "finer" ? 2 : 0.5)))));
        },
    });
    const load = button("load-mesh", "Load a mesh or a scene from a file (or drop it on the page)", "Load a mesh or scene…", chooseFile, "wide");
    const update = () => {
        finer.element.hidden = !Array.isArray(cells());
        for (const control of axes) control.update();
        const pane = lab.shown;
        const mesh = at(scene(), "body.0.mesh");
        const kind = isObject(mesh) ? Object.keys(mesh).find((key) => !["translate", "scale", "rotate"].includes(key)) : "";
        info.textContent = pane ? `${pane.elements.toLocaleString("en")} elements, ${pane.vertices.toLocaleString("en")} vertices${kind ? ` (${kind})` : ""}` : "";
    };
    return { element: section("panel-mesh", "Mesh", false, info, finer.element, ...axes.map((control) => control.element), load), update };
}

function bodyNames(scene: Json): string[] {
    const bodies = at(scene, "body");
    return Array.isArray(bodies) ? bodies.map((body, k) => (isObject(body) && typeof body.name === "string" ? body.name : `body ${k + 1}`)) : [];
}

/** The choices, and the current value if the catalogue does not list it. */
export function withCurrent<T extends { value: string; label: string }>(choices: T[], current: string): (T | { value: string; label: string })[] {
    return current === "" || choices.some((choice) => choice.value === current) ? choices : [...choices, { value: current, label: current }];
}
