// Compares integrators and steps with a converged reference.

import { button, h } from "../dom.ts";
import type { Lab } from "../lab.ts";
import { short } from "../numbers.ts";
import type { CompareResult, Job } from "../protocol.ts";
import { numberAt } from "../scene.ts";
import { field, heading, notes, saver, table, use } from "./parts.ts";
import { showReport } from "./report.ts";
import type { Page } from "./sheet.ts";

/** Integrators that are selected at first, besides that of the pane. */
const USUAL = ["variational", "energy-momentum", "backward-euler", "verlet"];
/** Default simulated time, s: long enough to show differences, short enough to wait for. */
const SIMULATED = 1;
const PER_RUN = 5;

export function comparePage(lab: Lab): Page {
    const boxes = h("div", { class: "boxes", role: "group", "aria-label": "Integrators" });
    const steps = field("compare-steps", "Steps (s)", "Numbers separated by commas. Automatic: 4, 2, 1 and ½ times the step of the pane; explicit methods take steps below their limit", "automatic");
    const end = field("compare-end", "Time (s)", "Simulated time from t = 0 with the current settings");
    const budget = field("compare-budget", "Per run (s)", "Wall time after which a run is stopped");
    budget.input.value = String(PER_RUN);
    const run = button("compare-run", "Run them all, in the background", "Compare", () => {
        const numbers = steps.input.value.split(/[,;\s]+/).filter(Boolean).map(Number);
        const chosen = [...boxes.querySelectorAll("input:checked")].map((box) => (box as HTMLInputElement).value);
        if ([...numbers, Number(end.input.value), Number(budget.input.value)].some((x) => !(x > 0))) {
            return lab.tell("error", { text: "Steps and times are positive numbers of seconds, for example 0.01, 0.005.", request: "compare" });
        }
        lab.send({ do: "compare", pane: lab.target ?? 0, integrators: chosen, steps: numbers, end: Number(end.input.value), budget: Number(budget.input.value) });
    }, "remedy");
    let listed = "";
    let shown = "";
    const update = () => {
        const own = lab.shown?.integrator ?? "";
        const key = JSON.stringify(lab.catalogue.integrators.map(({ name }) => name));
        if (key !== listed) {
            listed = key;
            boxes.replaceChildren(...lab.catalogue.integrators.map(({ name, summary }) => h("label", { class: "switch", title: summary },
                h("input", { type: "checkbox", value: name, "data-test": `compare-${name}`, checked: USUAL.includes(name) }), h("span", {}, name))));
        }
        if (own === shown) return;
        shown = own;
        for (const box of boxes.querySelectorAll("input")) if (box.value === own) box.checked = true;
        const whole = numberAt(lab.shown?.scene ?? {}, "time.end") ?? SIMULATED;
        if (end.input.value === "") end.input.value = short(Math.min(SIMULATED, whole));
    };
    return {
        form: h("div", { class: "stack" }, boxes, h("div", { class: "row fields" }, steps.element, end.element, budget.element, run)),
        update,
        result: (job) => outcome(lab, job, job.result as unknown as CompareResult),
    };
}

function outcome(lab: Lab, job: Job, found: CompareResult): HTMLElement[] {
    const [header, ...rows] = found.table;
    return [
        heading("Advice"),
        h("div", { class: "advice", "data-test": "compare-advice" }, found.advice.map(({ goal, text, integrator, step }) => h("p", {},
            h("b", {}, goal), " ", text, " ", integrator !== null && step !== null ? use(lab, job.pane, integrator, step) : ""))),
        h("div", { class: "chips" },
            button("report-open", "The report with its curves and the motions side by side", "Open the report", () => showReport(lab, job.job), "remedy"),
            saver(lab, job.job, "report.html", "Save it"), saver(lab, job.job, "compare.csv", "Save the table")),
        heading("All runs"),
        table("compare-table", header ?? [], rows),
        h("p", { class: "dim" }, `Compared with ${found.reference}. The runs simulate ${short(found.end)} s from the start with the settings of the request. The lab ran at the same time, so the costs are less exact than those of “lilyan compare”.`),
        ...notes(found.notes),
    ];
}
