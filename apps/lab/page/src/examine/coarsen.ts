// Makes a coarse body that replaces the fine one.

import { select } from "../controls.ts";
import { button, h } from "../dom.ts";
import type { Lab } from "../lab.ts";
import { short } from "../numbers.ts";
import type { CoarsenResult, Job } from "../protocol.ts";
import { field, heading, notes, saver, table } from "./parts.ts";
import type { Page } from "./sheet.ts";

const BEST = "homogenize+eigenfit";

export function coarsenPage(lab: Lab): Page {
    let method = "";
    let body = "";
    const bodies = () => (Array.isArray(lab.shown?.scene.body) ? lab.shown.scene.body : []).map((spec, k) => String((spec as { name?: string }).name ?? `body ${k + 1}`));
    const methods = select({
        test: "coarsen-method", label: "Method",
        choices: () => lab.catalogue.coarsening.map(({ name, summary }) => ({ value: name, label: name, title: summary })),
        get: () => method,
        set: (value) => {
            method = value;
            update();
        },
    });
    const which = select({ test: "coarsen-body", label: "Body", choices: () => bodies().map((name) => ({ value: name, label: name })), get: () => body, set: (value) => void (body = value) });
    const summary = h("p", { class: "dim" });
    const tets = field("coarsen-tets", "Tets", "Approximate number of tets of the coarse body");
    const modes = field("coarsen-modes", "Modes", "Number of lowest modes that are compared; methods with a fit give them the frequencies of the fine body");
    modes.input.value = "10";
    const run = button("coarsen-run", "Make the coarse body and open it beside the fine one", "Make it coarser", () => {
        const counts = [Number(tets.input.value), Number(modes.input.value)];
        if (!counts.every((n) => Number.isInteger(n) && n > 0)) return lab.tell("error", { text: "Tets and modes are whole numbers.", request: "coarsen" });
        lab.send({ do: "coarsen", pane: lab.target ?? 0, method, tets: counts[0]!, modes: counts[1]!, ...(bodies().length > 1 ? { body } : {}) });
    }, "remedy");
    let seen = "";
    const update = () => {
        const known = lab.catalogue.coarsening;
        if (method === "") method = (known.find(({ name }) => name === BEST) ?? known[0])?.name ?? "";
        const names = bodies();
        if (!names.includes(body)) body = names[0] ?? "";
        which.element.hidden = names.length < 2;
        methods.update();
        which.update();
        summary.textContent = known.find(({ name }) => name === method)?.summary ?? "";
        const elements = lab.shown?.elements ?? 0;
        const key = `${lab.shown?.title} ${elements}`;
        if (key === seen) return;
        seen = key;
        tets.input.value = String(Math.max(24, Math.round(elements / 16 / 6) * 6));
    };
    return {
        form: h("div", { class: "stack" }, h("div", { class: "row fields" }, methods.element, which.element, tets.element, modes.element, run), summary),
        update,
        result: (job) => outcome(lab, job, job.result as unknown as CoarsenResult),
    };
}

function outcome(lab: Lab, job: Job, found: CoarsenResult): HTMLElement[] {
    const { fine, coarse } = found;
    const most = Math.max(0, ...found.frequencies.flatMap(({ modes }) => modes.map((mode) => mode.fine_hz)));
    const off = (hz: number, of: number) => {
        // A body on a hinge has a rotation of frequency 0.
        if (of <= 1e-4 * most) return `${short(hz < 1e-3 * most ? 0 : hz)} Hz`;
        const share = 100 * (hz / of - 1);
        return `${short(hz)} Hz (${Math.abs(share) < 0.01 ? "" : share > 0 ? "+" : "−"}${Math.abs(share) < 0.01 ? 0 : short(Math.abs(share), 2)} %)`;
    };
    const spans = found.frequencies.filter(({ modes }) => modes.length > 0).flatMap(({ until, modes, accepted }, k) => {
        const corrected = modes.some((mode) => mode.corrected_hz !== undefined);
        const when = found.frequencies.length > 1 ? (until === null ? ", then" : `, until ${short(until)} s`) : "";
        return [
            heading(`Frequencies at rest${when}`),
            table(`coarsen-frequencies${k > 0 ? `-${k}` : ""}`, ["mode", "fine", "coarse", ...(corrected ? ["corrected"] : []), "alike"], modes.map((mode, i) => [
                i + 1, `${short(mode.fine_hz)} Hz`, off(mode.coarse_hz, mode.fine_hz),
                ...(corrected ? [off(mode.corrected_hz ?? mode.coarse_hz, mode.fine_hz)] : []), `${short(100 * mode.overlap, 2)} %`,
            ])),
            ...(corrected && !accepted ? [h("p", { class: "bad" }, "The coarse mesh cannot represent the modes of the fine one, so it is not corrected. Use more tets.")] : []),
        ];
    });
    return [
        h("p", { "data-test": "coarsen-summary" }, h("b", {}, `${fine.tets} tets to ${coarse.tets}, ${short(fine.tets / coarse.tets, 2)} times fewer`),
            found.opened ? ". The coarse body is beside the fine one. All panes start again at t = 0." : "."),
        ...spans,
        spans.length === 0 ? h("p", { class: "dim" }, "There are no frequencies to compare, because the body has no elastic modes.") : h("p", { class: "dim" }, "Rigid motions are left out. The last column tells how much the shapes of the coarse mode and of the fine mode agree."),
        ...notes(found.notes),
        h("div", { class: "chips" }, saver(lab, job.job, "scene.toml", "Save the scene"), saver(lab, job.job, "coarse.vtu", "Save its mesh"), saver(lab, job.job, "coarsen.json", "Save the figures")),
    ];
}
