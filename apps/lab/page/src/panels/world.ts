// Settings of the environment: gravity, monopole, floor.

import { type Control, section, segments, slider, toggle, triple } from "../controls.ts";
import { h } from "../dom.ts";
import type { Lab } from "../lab.ts";
import { linear, logarithmic } from "../numbers.ts";
import type { Json, JsonObject, Vec3 } from "../protocol.ts";
import { at, floorOf, gravityOf, isObject } from "../scene.ts";

const EARTH = 9.81;

/** Switches gravity off, and on again with the value before. */
export class Gravity {
    private before: { strength: number; direction: Vec3 } | null = null;

    constructor(private readonly lab: Lab) {}

    get now(): { strength: number; direction: Vec3 } | null {
        return gravityOf(this.lab.shown?.scene ?? {});
    }

    get on(): boolean {
        return at(this.lab.shown?.scene ?? {}, "environment.gravity") !== undefined && this.value() !== null;
    }

    private value(): Json {
        return at(this.lab.shown?.scene ?? {}, "environment.gravity") ?? null;
    }

    toggle(): void {
        if (this.on) {
            this.before = this.now;
            this.lab.set("environment.gravity", null);
        } else {
            this.lab.set("environment.gravity", this.vector(this.before?.strength ?? EARTH));
        }
    }

    vector(strength: number): Vec3 {
        const up = this.lab.geometry[this.lab.target ?? 0]?.up ?? [0, 1, 0];
        const along = this.now?.direction ?? this.before?.direction ?? (up.map((x) => -x) as Vec3);
        return along.map((x) => (x === 0 ? 0 : x * strength)) as Vec3;
    }
}

export function worldPanel(lab: Lab, gravity: Gravity): Control {
    const scene = (): JsonObject => lab.shown?.scene ?? {};
    const monopole = () => at(scene(), "environment.monopole");
    const kind = () => (isObject(monopole()) ? "monopole" : gravity.on ? "gravity" : "none");
    const environment = segments({
        test: "environment", label: "Environment",
        choices: [
            { value: "none", label: "Space", title: "No gravity" },
            { value: "gravity", label: "Gravity", title: "The same acceleration everywhere" },
            { value: "monopole", label: "Monopole", title: "A point that attracts with strength/r²" },
        ],
        get: kind,
        set: (value) => lab.setAll([
            { path: "environment.gravity", value: value === "gravity" ? gravity.vector(gravity.now?.strength ?? EARTH) : null },
            { path: "environment.monopole", value: value === "monopole" ? newMonopole(lab) : null },
        ]),
    });
    const strength = slider({
        test: "gravity-strength", label: "Gravity", unit: "m/s²", scale: linear(0, 30),
        get: () => (kind() === "gravity" ? (gravity.now?.strength ?? null) : null),
        set: (value, done) => {
            lab.setSoon("environment.gravity", gravity.vector(Math.max(value, 1e-3)));
            if (done) lab.flush();
        },
    });
    const pull = slider({
        test: "monopole-strength", label: "Strength", unit: "m³/s²", scale: logarithmic(1e-3, 1e6),
        get: () => {
            const now = monopole();
            return isObject(now) && typeof now.strength === "number" ? now.strength : null;
        },
        set: (value, done) => {
            lab.setSoon("environment.monopole.strength", value);
            if (done) lab.flush();
        },
    });
    const place = triple({
        test: "monopole-at", label: "Monopole at", unit: "m", title: "A vertex exactly on it feels no force",
        get: () => {
            const now = monopole();
            return isObject(now) ? numbers(now.at) ?? [0, 0, 0] : null;
        },
        set: (value) => lab.set("environment.monopole.at", value),
    });
    const floor = toggle({
        test: "floor", label: "Floor", title: "An elastic plane under the body",
        get: () => floorOf(scene()) >= 0,
        set: (on) => lab.set("contact", on ? withFloor(lab) : withoutFloor(scene())),
    });
    const stiffness = slider({
        test: "floor-stiffness", label: "Floor stiffness", unit: "", scale: logarithmic(1e2, 1e10),
        get: () => {
            const value = at(scene(), `contact.${floorOf(scene())}.stiffness`);
            return typeof value === "number" ? value : null;
        },
        set: (value, done) => {
            lab.setSoon(`contact.${floorOf(scene())}.stiffness`, value);
            if (done) lab.flush();
        },
    });
    const parts = [environment, strength, pull, place, floor, stiffness];
    return {
        element: section("panel-world", "Gravity and floor", true, environment.element, strength.element, pull.element, place.element, h("hr"), floor.element, stiffness.element),
        update: () => parts.forEach((control) => control.update()),
    };
}

function numbers(value: Json | undefined): number[] | null {
    return Array.isArray(value) && value.every((x) => typeof x === "number") ? (value as number[]) : null;
}

/** A monopole beside the body, with half the acceleration of the Earth at the body. */
function newMonopole(lab: Lab): Json {
    const geometry = lab.geometry[lab.target ?? 0];
    const size = geometry?.size ?? 1;
    const [low, high] = geometry?.bounds ?? [[0, 0, 0], [1, 1, 1]];
    const at = [0, 1, 2].map((k) => round((low[k]! + high[k]!) / 2 + (k === 0 ? 1.5 * size : 0)));
    return { strength: round(0.5 * EARTH * (1.5 * size) ** 2), at };
}

function withFloor(lab: Lab): Json {
    const target = lab.target ?? 0;
    const geometry = lab.geometry[target];
    const up = geometry?.up ?? [0, 1, 0];
    const x = lab.frames[target]?.positions ?? geometry?.rest ?? new Float32Array();
    let lowest = Infinity;
    for (let k = 0; k < x.length; k += 3) lowest = Math.min(lowest, x[k]! * up[0] + x[k + 1]! * up[1] + x[k + 2]! * up[2]);
    const height = Number.isFinite(lowest) ? lowest - 0.3 * (geometry?.size ?? 1) : 0;
    const stiffness = guessStiffness(lab);
    const plane: JsonObject = { kind: "plane", point: up.map((u) => round(u * height)), normal: up.map((u) => u), ...(stiffness ? { stiffness } : {}) };
    const now = at(lab.shown?.scene ?? {}, "contact");
    return [...(Array.isArray(now) ? now : []), plane];
}

function withoutFloor(scene: Json): Json {
    const now = at(scene, "contact");
    const floor = floorOf(scene);
    const rest = Array.isArray(now) ? now.filter((_, k) => k !== floor) : [];
    return rest.length > 0 ? rest : null;
}

/** About ten times as stiff as the body, so that the slider starts in a useful range. */
function guessStiffness(lab: Lab): number | null {
    const young = at(lab.shown?.scene ?? {}, "body.0.material.E");
    const size = lab.geometry[lab.target ?? 0]?.size ?? 1;
    return typeof young === "number" ? round(10 * young / size) : null;
}

function round(x: number): number {
    return Number(x.toPrecision(3));
}
