// The numbers of one vertex: its place, momentum, velocity and force, to be seen and to be set.

import { type Control, section, slider, triple } from "../controls.ts";
import { button, h } from "../dom.ts";
import type { Lab } from "../lab.ts";
import { length3, linear, short, withUnit } from "../numbers.ts";
import type { Request, Vec3, Watched } from "../protocol.ts";
import { at, isObject } from "../scene.ts";

/** Texts change less often than frames, ms. */
const PACE = 120;

export class VertexPanel implements Control {
    readonly element: HTMLDetailsElement;
    private readonly hint = h("p", { class: "dim" }, "Choose “Vertex” below the picture (V) and click on a vertex. “Cut” under View shows those inside.");
    private readonly facts = h("dl", { class: "numbers", "data-test": "vertex-facts" });
    private readonly content = h("div", { class: "stack" });
    private readonly rows: Control[];
    private readonly free: HTMLButtonElement;
    /** How long a vertex takes to the place that is typed, s. */
    private seconds = 0.5;
    private written = 0;
    /** The update that is due, if there is one. */
    private later = 0;

    constructor(private readonly lab: Lab) {
        const row = (test: string, label: string, unit: string, title: string, get: (vertex: Watched) => Vec3, set: (vertex: number, value: Vec3) => Request) => triple({
            test: `vertex-${test}`, label, unit, title: `${title}. Enter accepts the three numbers`,
            get: () => (this.vertex ? get(this.vertex) : null),
            set: (value) => this.act((vertex) => set(vertex, value)),
        });
        const pane = () => this.lab.watchedPane;
        this.rows = [
            row("momentum", "Momentum", "N s", "Sets the momentum of this vertex", ({ momentum }) => momentum, (vertex, momentum) => ({ do: "momentum", pane: pane(), vertices: [vertex], momentum })),
            row("velocity", "Velocity", "m/s", "Sets the velocity of this vertex", ({ velocity }) => velocity, (vertex, velocity) => ({ do: "velocity", pane: pane(), vertices: [vertex], velocity })),
            row("force", "Constant force", "N", "Sets the force on this vertex; zero removes it", (vertex) => this.load(vertex), (vertex, force) => ({ do: "force", pane: pane(), vertices: [vertex], force })),
            row("place", "Place", "m", "Leads the vertex to this place and holds it there", ({ position }) => position, (vertex, place) => ({ do: "place", pane: pane(), vertex, at: place, seconds: this.seconds })),
            slider({
                test: "vertex-seconds", label: "Time to that place", unit: "s", title: "How long the vertex takes to the place that is typed; 0: at once", scale: linear(0, 2, 0.1),
                get: () => (this.vertex ? this.seconds : null), set: (value) => void (this.seconds = Math.max(0, value)),
            }),
        ];
        const hold = button("vertex-hold", "Hold this vertex where it is", "Hold here", () => this.act((vertex) => ({ do: "pin", pane: pane(), vertices: [vertex] })), "chip");
        this.free = button("vertex-free", "Do not hold this vertex any more", "Free", () => this.act((vertex) => ({ do: "unpin", pane: pane(), vertices: [vertex] })), "chip");
        const leave = button("vertex-leave", "Choose no vertex", "Leave", () => lab.watch(pane(), null), "chip");
        this.content.append(this.facts, ...this.rows.map(({ element }) => element), h("div", { class: "chips" }, hold, this.free, leave));
        this.element = section("panel-vertex", "Vertex", false, this.hint, this.content);
        lab.on("frame", () => {
            const wait = PACE - (performance.now() - this.written);
            if (wait <= 0) this.update();
            // While the simulation pauses, no later frame would bring what this one has.
            else if (!this.later) this.later = window.setTimeout(() => this.update(), wait);
        });
    }

    /** Opens the panel. */
    show(): void {
        this.element.open = true;
        this.element.scrollIntoView({ block: "nearest" });
    }

    private get vertex(): Watched | null {
        return this.lab.frames[this.lab.watchedPane]?.watched ?? null;
    }

    private act(request: (vertex: number) => Request): void {
        const vertex = this.vertex?.vertex ?? null;
        if (vertex === null) return this.lab.tell("notice", "This vertex is not drawn: cut the body to reach it.");
        this.lab.send(request(vertex));
        this.lab.tell("touched", this.lab.watchedPane);
    }

    /** The constant force that the scene has for this vertex alone. */
    private load({ body, number }: Watched): Vec3 {
        const loads = at(this.lab.panes[this.lab.watchedPane]?.scene ?? {}, "load");
        const own = Array.isArray(loads) ? loads.find((load) => isObject(load) && load.body === body && JSON.stringify(at(load, "where.vertices")) === `[${number}]`) : undefined;
        const force = own === undefined ? undefined : at(own, "force");
        return Array.isArray(force) && force.every((x) => typeof x === "number") ? (force as Vec3) : [0, 0, 0];
    }

    update(): void {
        this.written = performance.now();
        window.clearTimeout(this.later);
        this.later = 0;
        const { vertex } = this;
        this.hint.hidden = vertex !== null;
        this.content.hidden = vertex === null;
        if (!vertex || !this.element.open) return;
        const facts: [string, string][] = [
            ["vertex", `${vertex.number} of ${vertex.body}${vertex.held ? ", held" : ""}`],
            ["mass", `${short(vertex.mass)} kg`],
            ["force from outside", withUnit(length3(vertex.force), "N")],
        ];
        const told = JSON.stringify(facts);
        if (told !== this.facts.dataset.told) {
            this.facts.dataset.told = told;
            this.facts.replaceChildren(...facts.flatMap(([name, value]) => [h("dt", {}, name), h("dd", {}, value)]));
        }
        this.free.disabled = !vertex.held;
        for (const row of this.rows) row.update();
    }
}
