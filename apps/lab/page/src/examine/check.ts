// The result of `check`: what is known about a scene before it runs.

import { button, h } from "../dom.ts";
import type { Lab } from "../lab.ts";
import { share, short, withUnit } from "../numbers.ts";
import type { CheckResult, Job } from "../protocol.ts";
import { heading, notes, table, use } from "./parts.ts";
import type { Page } from "./sheet.ts";

/** Proposed explicit steps are this share of the limit at rest, because a deformed body can be stiffer. */
const MARGIN = 0.9;
/** Steps per period of the lowest mode that show its motion well. */
const PER_PERIOD = 30;

export function checkPage(lab: Lab): Page {
    const form = h("div", { class: "row" },
        h("p", { class: "dim" }, "Frequencies, stable steps, what the integrator will do to the motion, and the mesh."),
        button("check-run", "Check the scene as it is set now", "Check", () => void lab.send({ do: "check", pane: lab.target ?? 0 }), "remedy"));
    return { form, update: () => {}, result: (job) => shown(lab, job, job.result as unknown as CheckResult) };
}

function shown(lab: Lab, job: Job, found: CheckResult): HTMLElement[] {
    const { warnings } = found;
    return [
        h("p", { class: warnings.length > 0 ? "verdict off" : "verdict exact", "data-test": "check-verdict" },
            h("b", {}, warnings.length === 0 ? "✓ No warnings" : warnings.length === 1 ? "! One warning" : `! ${warnings.length} warnings`)),
        ...notes(warnings),
        ...spectrum(lab, job, found),
        heading("Bodies"),
        table("check-bodies", ["body", "vertices", "elements", "size (m)", "angles"], found.bodies.map((body) => [
            body.name, body.vertices, body.elements, body.size.map((x) => short(x)).join(" × "),
            body.min_dihedral_degrees === undefined ? "–" : `${short(body.min_dihedral_degrees)}° to ${short(body.max_dihedral_degrees!)}°`,
        ])),
        h("p", { class: "dim" }, `${kept(found)} About ${found.memory_mb.explicit.toFixed(0)} MB to run explicitly, ${found.memory_mb.implicit.toFixed(0)} MB implicitly.`),
        ...notes(found.notes),
    ];
}

function kept({ conserved }: CheckResult): string {
    const names = [conserved.energy && "energy", conserved.linear_momentum && "momentum", conserved.angular_momentum && "angular momentum"].filter(Boolean);
    return names.length > 0 ? `Conserved in this scene: ${names.join(", ")}.` : "Nothing is conserved in this scene, because something drives or damps it.";
}

function spectrum(lab: Lab, job: Job, { spectrum: found, integrator, step }: CheckResult): HTMLElement[] {
    if (!found) return [];
    const parts: HTMLElement[] = [];
    const lowest = found.lowest ?? [];
    if (lowest.length > 0) {
        const fine = Number((1 / (PER_PERIOD * lowest[0]!.hz)).toPrecision(2));
        parts.push(heading(`Lowest modes, and what ${integrator} with a step of ${short(step)} s does to them`),
            table("check-modes", ["mode", "frequency", "steps per period", "amplitude lost per period", "frequency in the run"], lowest.map((mode, k) => [
                k + 1, `${short(mode.hz)} Hz`, short(1 / (mode.hz * step)),
                mode.amplitude_lost_per_period === null ? "–" : share(Math.abs(mode.amplitude_lost_per_period) < 1e-9 ? 0 : mode.amplitude_lost_per_period),
                mode.frequency_ratio === null ? "does not oscillate" : `${short(100 * mode.frequency_ratio, 4)} %`,
            ])),
            h("p", { class: "dim" }, `${PER_PERIOD} steps per period of the lowest mode: a step of ${short(fine)} s `, use(lab, job.pane, integrator, fine)));
    }
    const limits = Object.entries(found.stable_steps ?? {});
    if (limits.length > 0) {
        parts.push(heading(`Explicit methods: longest stable step at rest (highest frequency ${withUnit(found.highest_hz, "Hz")})`),
            table("check-limits", ["method", "longest step", "relative to yours", ""], limits.map(([name, limit]) => [
                name, limit === null ? "none" : `${short(limit)} s`, limit === null ? "–" : `${short(limit / step, 2)} ×`,
                limit === null ? "" : use(lab, job.pane, name, Number((MARGIN * limit).toPrecision(2))),
            ])));
    }
    return parts;
}
