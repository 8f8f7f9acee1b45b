// Settings of the picture, and the colour bar.

import { type Control, section, segments, select, slider, toggle } from "../controls.ts";
import { gradient } from "../colors.ts";
import { h } from "../dom.ts";
import type { Lab } from "../lab.ts";
import { linear, withUnit, short } from "../numbers.ts";
import type { FieldName, Frame, Geometry, Show } from "../protocol.ts";
import type { Look } from "../view/view.ts";

const STORED = "lilyan.look";
const FIELD_NAMES: Record<FieldName, { label: string; unit: string }> = {
    none: { label: "Plain", unit: "" },
    von_mises: { label: "Stress (von Mises)", unit: "Pa" },
    energy: { label: "Elastic energy", unit: "J/m³" },
    speed: { label: "Speed", unit: "m/s" },
    material: { label: "Stiffness (log₁₀ E)", unit: "" },
};

const DEFAULT: Look = {
    style: "shaded", flat: false, field: "none", forces: false, outside: false, contacts: true, momenta: false, each: false, pins: true, ground: true, shadows: true, follow: true, light: 0, cut: "none", cutAt: 0.5,
};

export function storedLook(): Look {
    try {
        return { ...DEFAULT, ...(JSON.parse(localStorage.getItem(STORED) ?? "{}") as Partial<Look>) };
    } catch {
        return { ...DEFAULT };
    }
}

/** What frames have to contain for this look. */
export function shown(look: Look): Show {
    const { field, forces, outside, contacts, each, cut } = look;
    return { field, forces, outside, momenta: each, contacts, inside: cut !== "none" };
}

export function lookPanel(lab: Lab, look: Look, changed: () => void): Control {
    const change = (part: Partial<Look>) => {
        Object.assign(look, part);
        localStorage.setItem(STORED, JSON.stringify(look));
        const wanted = shown(look);
        if (Object.entries(wanted).some(([key, value]) => lab.status.show[key as keyof Show] !== value)) lab.show(wanted);
        changed();
    };
    const style = segments({
        test: "style", label: "Drawn as",
        choices: [
            { value: "shaded", label: "Shaded" }, { value: "edges", label: "Edges", title: "Shaded, with edges" },
            { value: "wire", label: "Wire", title: "Edges only" }, { value: "points", label: "Points" },
        ],
        get: () => look.style,
        set: (value) => change({ style: value as Look["style"] }),
    });
    const field = select({
        test: "field", label: "Colour by",
        choices: () => Object.entries(FIELD_NAMES).map(([value, { label }]) => ({ value, label })),
        get: () => look.field,
        set: (value) => change({ field: value as FieldName }),
    });
    const on = (name: keyof Look & ("flat" | "forces" | "outside" | "contacts" | "momenta" | "each" | "pins" | "ground" | "shadows" | "follow"), label: string, title: string) =>
        toggle({ test: `show-${name}`, label, title, get: () => look[name], set: (value) => change({ [name]: value }) });
    const switches = [
        on("forces", "Forces", "The whole force on each vertex (yellow)"),
        on("outside", "Outer forces", "The force from outside on each vertex (green): loads, gravity, monopole, a pull"),
        on("momenta", "Total momenta", "Total linear (blue) and angular (pink) momentum"),
        on("each", "Each momentum", "The momentum of each vertex (light blue)"),
        on("contacts", "Contacts", "Points of contact and the forces there"),
        on("pins", "Pins", "Held vertices"),
        on("ground", "Ground", "A grid below, where there is no floor"),
        on("shadows", "Shadows", "Shadows"),
        on("flat", "Flat", "Each triangle by itself"),
        on("follow", "Follow", "The camera goes with the body"),
    ];
    const light = slider({
        test: "light", label: "Light from", unit: "°", title: "Turns the light about the body", scale: linear(-180, 180, 5),
        get: () => look.light,
        set: (value) => change({ light: value }),
    });
    const cut = segments({
        test: "cut", label: "Cut across",
        choices: [
            { value: "none", label: "Whole" }, ...(["x", "y", "z"] as const).map((axis) => ({ value: axis, label: `Cut ${axis}`, title: `Cut across ${axis}, to see and to reach vertices inside` })),
        ],
        get: () => look.cut,
        set: (value) => change({ cut: value as Look["cut"] }),
    });
    const cutAt = slider({
        test: "cut-at", label: "Cut at", unit: "", title: "Where it is cut, as a part of its size at rest", scale: linear(0, 1, 0.01),
        get: () => (look.cut === "none" ? null : look.cutAt),
        set: (value) => change({ cutAt: value }),
    });
    const parts = [style, field, ...switches, light, cut, cutAt];
    return {
        element: section("panel-look", "View", true, style.element, field.element, h("div", { class: "columns" }, switches.map((control) => control.element)), cut.element, cutAt.element, light.element),
        update: () => parts.forEach((control) => control.update()),
    };
}

/** The colour bar and its range. The range grows at once and shrinks slowly, unless it is fixed. */
export class Legend {
    readonly element: HTMLElement;
    low = 0;
    high = 1;
    private held = false;
    private field: FieldName = "none";
    private readonly top = h("span", { "data-test": "legend-high" });
    private readonly bottom = h("span", { "data-test": "legend-low" });
    private readonly name = h("span", { class: "name" });

    constructor() {
        const bar = h("div", { class: "bar" });
        bar.style.background = gradient;
        const hold = h("button", {
            type: "button", class: "button chip", "data-test": "legend-hold", title: "Keep this range", "aria-pressed": "false",
            onclick: () => {
                this.held = !this.held;
                hold.setAttribute("aria-pressed", String(this.held));
            },
        }, "hold");
        this.element = h("div", { class: "legend", hidden: true, "data-test": "legend", role: "img", "aria-label": "Colours of the field" }, this.name, h("div", { class: "scale" }, bar, h("div", { class: "ends" }, this.top, this.bottom)), hold);
    }

    setField(field: FieldName): void {
        this.field = field;
        this.low = Infinity;
        this.high = -Infinity;
        this.element.hidden = field === "none";
        this.name.textContent = FIELD_NAMES[field].label;
    }

    /** The next frame gives the range, since settings have changed. */
    restart(): void {
        if (this.held) return;
        this.low = Infinity;
        this.high = -Infinity;
    }

    see(frames: Frame[], geometry: Geometry[]): void {
        if (this.field === "none" || (this.held && this.low <= this.high)) return;
        let low = Infinity;
        let high = -Infinity;
        if (this.field === "material") {
            for (const { material } of geometry) {
                for (const value of material) {
                    low = Math.min(low, value);
                    high = Math.max(high, value);
                }
            }
        } else {
            for (const { range } of frames) {
                if (!range) continue;
                low = Math.min(low, range[0]);
                high = Math.max(high, range[1]);
            }
        }
        if (!(low <= high)) return;
        const first = !(this.low <= this.high);
        this.low = first || low < this.low ? low : this.low + 0.02 * (low - this.low);
        this.high = first || high > this.high ? high : this.high + 0.02 * (high - this.high);
        const { unit } = FIELD_NAMES[this.field];
        this.top.textContent = unit ? withUnit(this.high, unit) : short(this.high);
        this.bottom.textContent = unit ? withUnit(this.low, unit) : short(this.low);
    }
}
