// The right side: verdicts on conserved quantities, and curves.

import { CURVES, PANE_COLORS } from "../colors.ts";
import { button, h } from "../dom.ts";
import { History, type Series } from "../history.ts";
import type { Lab } from "../lab.ts";
import { share, short, withUnit } from "../numbers.ts";
import { type Axes, type Curve, Plot } from "../plot.ts";
import type { Frame, PaneInfo, Request } from "../protocol.ts";
import { Reference, type Verdict } from "../truth.ts";

const WINDOWS = [5, 30, Infinity];
/** Time between two changes of texts, ms. They change less often than curves. */
const TEXT_PACE = 240;
/** Time without a frame after which the last one is drawn, ms; it is longer than the time between two texts. */
const SETTLED = TEXT_PACE + 20;

interface Line {
    name: string;
    unit: string;
    color: string;
    value: (history: History, k: number) => number;
    /** Drawn only if there is one pane. */
    alone?: boolean;
    thin?: boolean;
    dashed?: boolean;
    scale?: Series;
}

interface Board {
    test: string;
    title: string;
    lines: Line[];
    zero?: boolean;
    open: boolean;
}

const of = (name: Series) => (history: History, k: number) => history.series(name)[k]!;
const size = (x: Series, y: Series, z: Series) => (history: History, k: number) => Math.hypot(history.series(x)[k]!, history.series(y)[k]!, history.series(z)[k]!);

const BOARDS: Board[] = [
    {
        test: "energy", title: "Energy", open: true, lines: [
            { name: "kinetic", unit: "J", color: CURVES.kinetic, value: of("kinetic"), alone: true },
            { name: "elastic", unit: "J", color: CURVES.elastic, value: of("elastic"), alone: true },
            { name: "gravity", unit: "J", color: CURVES.gravity, value: of("gravity"), alone: true },
            { name: "total", unit: "J", color: CURVES.total, value: of("total") },
        ],
    },
    {
        test: "loss", title: "Energy lost", open: true, zero: true, lines: [
            { name: "to damping", unit: "J", color: CURVES.physical, value: of("physical"), alone: true },
            { name: "by the integrator", unit: "J", color: CURVES.numerical, value: of("numerical") },
        ],
    },
    {
        test: "linear", title: "Linear momentum", open: true, lines: [
            { name: "x", unit: "N s", color: CURVES.kinetic, value: of("px"), alone: true, thin: true, scale: "momentumScale" },
            { name: "y", unit: "N s", color: CURVES.elastic, value: of("py"), alone: true, thin: true, scale: "momentumScale" },
            { name: "z", unit: "N s", color: CURVES.angular, value: of("pz"), alone: true, thin: true, scale: "momentumScale" },
            { name: "|p|", unit: "N s", color: CURVES.total, value: size("px", "py", "pz"), scale: "momentumScale" },
        ],
    },
    {
        test: "angular", title: "Angular momentum", open: true, lines: [
            { name: "x", unit: "N m s", color: CURVES.kinetic, value: of("lx"), alone: true, thin: true, scale: "angularScale" },
            { name: "y", unit: "N m s", color: CURVES.elastic, value: of("ly"), alone: true, thin: true, scale: "angularScale" },
            { name: "z", unit: "N m s", color: CURVES.angular, value: of("lz"), alone: true, thin: true, scale: "angularScale" },
            { name: "|L|", unit: "N m s", color: CURVES.total, value: size("lx", "ly", "lz"), scale: "angularScale" },
        ],
    },
    { test: "cost", title: "Cost of a step", open: true, zero: true, lines: [{ name: "time", unit: "ms", color: CURVES.cost, value: of("cost") }] },
    { test: "newton", title: "Newton iterations", open: true, zero: true, lines: [{ name: "iterations", unit: "", color: CURVES.newton, value: of("newton") }] },
];

export class TruthPanel {
    /** The shortest time between two drawings of the curves, ms; drawing takes at most a sixth of the time. */
    pace = 80;
    readonly element: HTMLElement;
    readonly histories: History[] = [];
    private readonly references: Reference[] = [];
    private readonly boards: { board: Board; plot: Plot; details: HTMLDetailsElement; now: HTMLElement; mark: HTMLElement }[];
    private readonly verdicts = h("div", { class: "verdicts", "data-test": "verdicts", "aria-live": "off" });
    private readonly warnings = h("details", { class: "nested warnings", "data-test": "warnings" });
    private readonly stability = h("div", { class: "stability", "data-test": "stability", role: "alert", hidden: true });
    private span = 30;
    private title = "";
    private scenes: string[] = [];
    private said = "";
    private drawnAt = 0;
    private cost = 0;
    private saidAt = 0;
    private settling = 0;
    private stabilityShown = "";

    constructor(private readonly lab: Lab) {
        this.boards = BOARDS.map((board) => {
            const plot = new Plot(`${board.title} over simulated time`);
            plot.canvas.dataset.test = `plot-${board.test}`;
            const now = h("span", { class: "now", "data-test": `now-${board.test}` });
            const mark = h("span", { class: "mark" });
            const details = h("details", { class: "board", open: board.open, "data-test": `board-${board.test}` }, h("summary", {}, h("span", {}, board.title), mark, now), plot.canvas);
            details.addEventListener("toggle", () => this.draw());
            return { board, plot, details, now, mark };
        });
        const windows = h("div", { class: "segments", role: "radiogroup", "aria-label": "Time shown" }, WINDOWS.map((span) => {
            const choice = h("button", {
                type: "button", role: "radio", "aria-checked": String(span === this.span), "data-test": `window-${span === Infinity ? "all" : span}`,
                onclick: () => {
                    this.span = span;
                    for (const other of windows.children) other.setAttribute("aria-checked", String(other === choice));
                    this.draw();
                },
            }, span === Infinity ? "all" : `${span} s`);
            return choice;
        }));
        this.element = h("aside", { class: "panel right", "aria-label": "Energies and momenta" }, this.stability, this.verdicts, this.warnings, h("div", { class: "windows" }, windows), this.boards.map(({ details }) => details));

        lab.on("panes", (panes) => this.setPanes(panes));
        lab.on("frame", (frames) => this.see(frames));
        lab.on("touched", (pane) => this.references[pane]?.touched());
    }

    private setPanes(panes: PaneInfo[]): void {
        // The history belongs to the scene before. If there are fewer panes, it is not known which one was closed.
        const title = panes[0]?.title ?? "";
        if (title !== this.title || panes.length < this.histories.length) this.histories.length = 0;
        this.title = title;
        while (this.histories.length < panes.length) this.histories.push(new History());
        while (this.references.length < panes.length) this.references.push(new Reference());
        this.histories.length = this.references.length = panes.length;
        const scenes = panes.map(({ scene }) => JSON.stringify(scene));
        for (const [k, scene] of scenes.entries()) {
            if (scene === this.scenes[k]) continue;
            this.references[k]!.restart();
            this.histories[k]!.changed = this.histories[k]!.last("t");
        }
        this.scenes = scenes;
        this.showStability(panes);
        const said = new Set(panes.flatMap((pane) => pane.warnings));
        this.warnings.hidden = said.size === 0;
        this.warnings.replaceChildren(h("summary", {}, said.size === 1 ? "1 remark" : `${said.size} remarks`), h("ul", {}, [...said].map((text) => h("li", {}, text))));
        this.draw();
    }

    private see(frames: Frame[]): void {
        for (const [k, frame] of frames.entries()) {
            const reference = this.references[k];
            if (!reference) continue;
            reference.see(frame);
            this.histories[k]!.push(frame, reference.expected(frame));
        }
        if (performance.now() - this.drawnAt > Math.max(this.pace, 6 * this.cost)) this.draw();
        // When frames stop, as in a pause, curves and texts show the last one.
        clearTimeout(this.settling);
        this.settling = window.setTimeout(() => this.draw(), SETTLED);
    }

    draw(): void {
        this.drawnAt = performance.now();
        const { panes, frames } = this.lab;
        if (panes.length === 0 || this.histories.length === 0) return;
        const all = panes.map((pane, k) => (frames[k] ? this.references[k]!.verdicts(pane, frames[k]!) : []));
        const wordy = this.drawnAt - this.saidAt > TEXT_PACE;
        if (wordy) this.saidAt = this.drawnAt;
        if (wordy) this.showVerdicts(panes, all);
        const latest = Math.max(...this.histories.map((history) => history.last("t") || 0), 0);
        const to = Math.max(latest, Math.min(this.span, 2));
        const from = Math.max(0, to - this.span);
        for (const entry of this.boards) {
            if (!entry.details.open) continue;
            this.drawBoard(entry, { from, to, span: 0, zero: entry.board.zero }, all, wordy);
        }
        this.cost = performance.now() - this.drawnAt;
    }

    private drawBoard(entry: (typeof this.boards)[number], axes: Axes, all: Verdict[][], wordy: boolean): void {
        const { board, plot, now, mark } = entry;
        const several = this.histories.length > 1;
        const lines = several ? board.lines.filter((line) => !line.alone) : board.lines.filter((line) => line.name !== "gravity" || this.hasGravity());
        const curves: Curve[] = this.histories.flatMap((history, k) =>
            lines.map((line) => ({ history, value: line.value, color: several ? PANE_COLORS[k % PANE_COLORS.length]! : line.color, thin: line.thin })));
        const energy = board.test === "energy";
        if (energy) curves.push(...this.histories.map((history, k) => ({ history, value: of("expected"), color: several ? PANE_COLORS[k % PANE_COLORS.length]! : CURVES.total, dashed: true, thin: true })));
        const scale = lines[0]?.scale;
        if (scale) axes.span = 0.05 * Math.max(...this.histories.map((history) => history.last(scale) || 0));
        if (board.test === "loss") axes.span = 0.01 * Math.max(...this.histories.map((history) => history.last("kinetic") + Math.abs(history.last("elastic")) || 0));
        if (energy && all.every((verdicts) => verdicts[0]?.name === "Energy")) axes.note = "total: should be constant";
        plot.draw(curves, axes);
        if (!wordy) return;
        now.replaceChildren(...(several ? [] : lines.map((line) => h("span", {}, dot(line.color), `${line.name} ${newest(line, this.histories[0]!)}`))));
        const judged = { energy: 0, linear: 1, angular: 2 }[board.test];
        const verdicts = judged === undefined ? [] : all.map((list) => list[judged]!).filter(Boolean);
        if (verdicts.length > 0) {
            const worst = verdicts.some((v) => v.grade === "off") ? "off" : verdicts.every((v) => v.grade === "open") ? "open" : "exact";
            mark.textContent = { off: "⚠", open: "", exact: "✓" }[worst];
            mark.className = `mark ${worst}`;
        }
    }

    private hasGravity(): boolean {
        return this.histories[0]!.last("gravity") !== 0;
    }

    private showVerdicts(panes: PaneInfo[], all: Verdict[][]): void {
        const rows = all.flatMap((verdicts, k) => {
            const head = panes.length > 1 ? [h("div", { class: "pane-name" }, dot(PANE_COLORS[k % PANE_COLORS.length]!), panes[k]!.label || panes[k]!.title)] : [];
            const brief = panes.length > 1;
            return [...head, h("div", {}, verdicts.map((verdict) => h("div", { class: `verdict ${verdict.grade} ${brief ? "brief" : ""}`, "data-test": `verdict-${k}-${verdict.what}`, title: `${verdict.name}: ${verdict.text}` },
                h("span", { class: "sign", "aria-hidden": "true" }, { exact: "✓", close: "✓", off: "⚠", open: "–" }[verdict.grade]),
                h("span", { class: "what" }, brief ? { energy: "energy", linear: "p", angular: "L" }[verdict.what] : verdict.name),
                h("span", { class: "how" }, brief ? (verdict.grade === "open" ? "" : share(verdict.drift)) : verdict.text))))];
        });
        const said = rows.map((row) => row.outerHTML).join("");
        if (said === this.said) return;
        this.said = said;
        this.verdicts.replaceChildren(...rows);
    }

    /** A warning about an unstable step, and a remedy. */
    private showStability(panes: PaneInfo[]): void {
        const near = panes.map((pane, k) => ({ pane, k })).filter(({ pane }) => (pane.stability?.share ?? 0) > 0.8);
        const key = JSON.stringify(near.map(({ pane, k }) => [k, pane.stability]));
        if (key === this.stabilityShown) return;
        this.stabilityShown = key;
        this.stability.hidden = near.length === 0;
        this.stability.replaceChildren(...near.map(({ pane, k }) => {
            const { limit, text } = pane.stability!;
            const set = (label: string, test: string, changes: { path: string; value: string | number | { name: string } }[]) =>
                button(test, label, label, () => void this.lab.send({ do: "set", pane: k, changes } as Request), "remedy");
            const implicit = this.lab.catalogue.integrators.find((entry) => entry.name === "variational") ?? this.lab.catalogue.integrators.find((entry) => !entry.explicit);
            return h("div", {}, h("p", {}, "⚠ ", panes.length > 1 ? `${pane.label}: ` : "", text), h("div", { class: "chips" },
                set(`Step ${short(0.5 * limit, 2)} s`, `remedy-step-${k}`, [{ path: "time.step", value: Number((0.5 * limit).toPrecision(2)) }]),
                implicit ? set(`Implicit: ${implicit.name}`, `remedy-implicit-${k}`, [{ path: "integrator", value: { name: implicit.name } }]) : ""));
        }));
    }
}

/** The newest value as text. */
function newest({ value, unit }: Line, history: History): string {
    if (history.length === 0) return "";
    const now = value(history, history.length - 1);
    if (unit === "ms") return withUnit(now / 1000, "s");
    return unit === "" ? short(now) : withUnit(now, unit);
}

function dot(color: string): HTMLElement {
    const element = h("i", { class: "dot", "aria-hidden": "true" });
    element.style.background = color;
    return element;
}
