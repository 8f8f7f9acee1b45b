// The dialog for check, compare and coarsen. One job runs at a time, in the background.

import { type Control, section, segments } from "../controls.ts";
import { button, h } from "../dom.ts";
import type { Lab } from "../lab.ts";
import type { Job, JobKind } from "../protocol.ts";
import { checkPage } from "./check.ts";
import { coarsenPage } from "./coarsen.ts";
import { comparePage } from "./compare.ts";

/** One of check, compare and coarsen: its form and its result. */
export interface Page {
    form: HTMLElement;
    /** Called after a setting of the pane has changed. */
    update(): void;
    result(job: Job): HTMLElement[];
}

const TITLES: Record<JobKind, string> = { check: "Check", compare: "Compare", coarsen: "Coarsen" };
const DOING: Record<JobKind, string> = { check: "Checking", compare: "Comparing", coarsen: "Coarsening" };

export class Sheet {
    readonly element: HTMLElement;
    onOpen: () => void = () => {};
    /** The buttons in the settings that open the dialog. */
    readonly panel: Control;
    private kind: JobKind = "check";
    private job: Job | null = null;
    private readonly pages: Record<JobKind, Page>;
    private readonly tabs: Control;
    private readonly form = h("div", { class: "form" });
    private readonly outcome = h("div", { class: "outcome", "aria-live": "polite", "data-test": "outcome" });
    private readonly bars: { element: HTMLElement; update: () => void }[];

    constructor(private readonly lab: Lab) {
        this.pages = { check: checkPage(lab), compare: comparePage(lab), coarsen: coarsenPage(lab) };
        this.tabs = segments({
            test: "examine", label: "What to do",
            choices: (Object.keys(TITLES) as JobKind[]).map((value) => ({ value, label: TITLES[value] })),
            get: () => this.kind,
            set: (kind) => this.open(kind as JobKind),
        });
        this.bars = [this.bar("job"), this.bar("job-brief")];
        this.element = h("section", { class: "sheet", hidden: true, "data-test": "sheet", "aria-label": "Check, compare, coarsen" },
            h("header", {}, this.tabs.element, button("sheet-close", "Close", "close", () => this.close(), "small")),
            h("div", { class: "sheet-body" }, this.form, this.bars[0]!.element, this.outcome));
        this.element.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
        const opener = (kind: JobKind, label: string, title: string, action: () => void) => button(`open-${kind}`, title, label, action, "wide");
        this.panel = {
            element: section("panel-examine", "Examine", true,
                opener("check", "Check this scene", "Frequencies, stable steps, numerical damping, quality of the mesh", () => {
                    this.open("check");
                    if (!this.busy) lab.send({ do: "check", pane: lab.target ?? 0 });
                }),
                opener("compare", "Compare integrators…", "Many integrators and steps against a converged reference", () => this.open("compare")),
                opener("coarsen", "Make it coarser…", "Fewer tets that move like the fine body", () => this.open("coarsen")),
                this.bars[1]!.element),
            update: () => {
                if (!this.element.hidden) this.pages[this.kind].update();
            },
        };
        lab.on("job", (job) => this.hear(job));
    }

    get busy(): boolean {
        return this.job !== null && ["running", "cancelling"].includes(this.job.state);
    }

    open(kind: JobKind): void {
        this.kind = kind;
        this.onOpen();
        this.element.hidden = false;
        this.tabs.update();
        this.pages[kind].update();
        this.form.replaceChildren(this.pages[kind].form);
        this.show();
    }

    close(): void {
        this.element.hidden = true;
    }

    private hear(job: Job): void {
        const fresh = job.job !== this.job?.job || job.state !== this.job.state;
        this.job = job;
        for (const bar of this.bars) bar.update();
        if (fresh) this.show();
    }

    private show(): void {
        for (const bar of this.bars) bar.update();
        const { job } = this;
        this.element.classList.toggle("busy", this.busy);
        if (!job || job.kind !== this.kind || this.busy) return this.outcome.replaceChildren();
        const parts: HTMLElement[] = [];
        if (job.state === "failed") parts.push(h("p", { class: "bad", role: "alert", "data-test": "job-failed" }, job.text));
        if (job.state === "cancelled") parts.push(h("p", { class: "dim", "data-test": "job-cancelled" }, job.result ? "Cancelled; this is what was done by then." : "Cancelled."));
        if (job.result) parts.push(...this.pages[job.kind].result(job));
        this.outcome.replaceChildren(...parts);
    }

    /** The progress of the job, with a button that cancels it. */
    private bar(test: string): { element: HTMLElement; update: () => void } {
        const meter = h("progress", { max: 1, value: 0, "aria-label": "Progress" });
        const text = h("span", { class: "what", "data-test": `${test}-text` });
        const cancel = button(`${test}-cancel`, "Cancel", "Cancel", () => void this.lab.send({ do: "cancel" }));
        const element = h("div", { class: "job", hidden: true, "data-test": test, role: "status" }, text, cancel, meter);
        const update = () => {
            element.hidden = !this.busy;
            if (!this.job) return;
            meter.value = this.job.share;
            cancel.disabled = this.job.state === "cancelling";
            text.textContent = this.job.state === "cancelling" ? "Stopping…" : [DOING[this.job.kind], this.job.title, this.job.text].filter(Boolean).join(" · ");
        };
        return { element, update };
    }
}
