// Sliders, choices and switches. Each shows the value of the simulation, except while the user changes it.

import { h } from "./dom.ts";
import { type Scale, short } from "./numbers.ts";

export interface Control {
    element: HTMLElement;
    update(): void;
}

/** How long a control shows the value that the user set before it shows that of the simulation again, ms. */
const HOLD = 500;

class Hold {
    private static released = 0;
    private from = -Infinity;

    touch(): void {
        this.from = performance.now();
    }

    get held(): boolean {
        return this.from > Hold.released && performance.now() < this.from + HOLD;
    }

    static release(): void {
        Hold.released = performance.now();
    }
}

/** After a refused change, controls show the values of the simulation again. */
export function letGo(): void {
    Hold.release();
    if (document.activeElement instanceof HTMLInputElement) document.activeElement.blur();
}

/** Enter accepts the typed text and leaves the field; Escape discards the text. */
export function leaveOnEnter(field: HTMLInputElement): void {
    let before = "";
    field.addEventListener("focus", () => void (before = field.value));
    field.addEventListener("keydown", (event) => {
        if (event.key === "Escape") field.value = before;
        if (event.key === "Enter" || event.key === "Escape") field.blur();
    });
}

export interface SliderOptions {
    test: string;
    label: string;
    unit?: string;
    scale: Scale;
    title?: string;
    /** `null`: the scene has no such value, and the slider is hidden. */
    get: () => number | null;
    /** `done` is false while it is being dragged. */
    set: (value: number, done: boolean) => void;
}

export function slider(options: SliderOptions): Control {
    const hold = new Hold();
    const id = `control-${options.test}`;
    const number = h("input", {
        type: "text", inputmode: "decimal", class: "number", "data-test": `${options.test}-number`, autocomplete: "off",
        "aria-label": `${options.label}${options.unit ? `, ${options.unit}` : ""}`,
    });
    const range = h("input", {
        type: "range", min: 0, max: 1000, step: 1, id, "data-test": options.test, "aria-label": options.label, title: options.title ?? options.label,
    });
    const write = (value: number) => {
        number.value = short(value);
        range.value = String(Math.round(1000 * options.scale.toUnit(value)));
        range.setAttribute("aria-valuetext", `${short(value)} ${options.unit ?? ""}`.trim());
        range.style.setProperty("--at", String(options.scale.toUnit(value)));
    };
    const slide = (done: boolean) => {
        hold.touch();
        const value = options.scale.fromUnit(Number(range.value) / 1000);
        number.value = short(value);
        range.style.setProperty("--at", String(Number(range.value) / 1000));
        options.set(value, done);
    };
    range.addEventListener("input", () => slide(false));
    range.addEventListener("change", () => slide(true));
    leaveOnEnter(number);
    number.addEventListener("change", () => {
        const value = Number(number.value);
        if (number.value.trim() === "" || !Number.isFinite(value)) return control.update();
        hold.touch();
        write(value);
        options.set(value, true);
    });
    const element = h("div", { class: "slider", title: options.title ?? null }, h("label", { for: id }, options.label), number, h("span", { class: "unit" }, options.unit ?? ""), range);
    const control: Control = {
        element,
        update() {
            const value = options.get();
            element.hidden = value === null;
            if (value === null || hold.held || document.activeElement === number) return;
            write(value);
        },
    };
    control.update();
    return control;
}

export interface Choice {
    value: string;
    label: string;
    title?: string;
    group?: string;
}

export interface SelectOptions {
    test: string;
    label: string;
    choices: () => Choice[];
    get: () => string;
    set: (value: string) => void;
}

export function select(options: SelectOptions): Control {
    const field = h("select", { "data-test": options.test, "aria-label": options.label });
    let shown = "";
    field.addEventListener("change", () => options.set(field.value));
    const control: Control = {
        element: h("label", { class: "field" }, h("span", {}, options.label), field),
        update() {
            const choices = options.choices();
            const key = JSON.stringify(choices);
            if (key !== shown) {
                shown = key;
                field.replaceChildren(...grouped(choices));
            }
            field.value = options.get();
            field.title = field.selectedOptions[0]?.textContent ?? "";
        },
    };
    control.update();
    return control;
}

function grouped(choices: Choice[]): HTMLElement[] {
    const option = ({ value, label, title }: Choice) => h("option", { value, title: title ?? null }, label);
    const groups = [...new Set(choices.map((choice) => choice.group))];
    return groups.flatMap((group) => {
        const members = choices.filter((choice) => choice.group === group).map(option);
        return group === undefined ? members : [h("optgroup", { label: group }, members)];
    });
}

export interface SwitchOptions {
    test: string;
    label: string;
    title?: string;
    get: () => boolean;
    set: (value: boolean) => void;
}

export function toggle(options: SwitchOptions): Control {
    const box = h("input", { type: "checkbox", "data-test": options.test, role: "switch" });
    box.addEventListener("change", () => options.set(box.checked));
    const control: Control = {
        element: h("label", { class: "switch", title: options.title ?? null }, box, h("span", {}, options.label)),
        update: () => void (box.checked = options.get()),
    };
    control.update();
    return control;
}

export interface SegmentsOptions {
    test: string;
    label: string;
    choices: Choice[];
    get: () => string;
    set: (value: string) => void;
}

/** A few choices side by side. */
export function segments(options: SegmentsOptions): Control {
    const buttons = options.choices.map((choice) =>
        h("button", {
            type: "button", role: "radio", title: choice.title ?? choice.label, "data-test": `${options.test}-${choice.value}`,
            onclick: () => {
                options.set(choice.value);
                control.update();
            },
        }, choice.label),
    );
    const control: Control = {
        element: h("div", { class: "segments", role: "radiogroup", "aria-label": options.label, "data-test": options.test }, buttons),
        update() {
            const value = options.get();
            for (const [k, choice] of options.choices.entries()) buttons[k]!.setAttribute("aria-checked", String(choice.value === value));
        },
    };
    control.update();
    return control;
}

export interface TripleOptions {
    test: string;
    label: string;
    unit: string;
    title?: string;
    /** `null`: there is no such vector, and the row is hidden. */
    get: () => readonly number[] | null;
    set: (value: [number, number, number]) => void;
}

/** Three numbers. They are accepted together by Enter; a row that the user is in does not follow the simulation. */
export function triple(options: TripleOptions): Control {
    const fields = ["x", "y", "z"].map((axis) => h("input", {
        type: "text", inputmode: "decimal", class: "number", autocomplete: "off", "data-test": `${options.test}-${axis}`, "aria-label": `${options.label} ${axis}, ${options.unit}`,
    }));
    const element = h("div", { class: "triple", role: "group", "aria-label": options.label, title: options.title ?? null }, h("span", {}, options.label), h("span", { class: "unit" }, options.unit), fields);
    const control: Control = {
        element,
        update() {
            const value = options.get();
            element.hidden = value === null;
            if (value === null || element.contains(document.activeElement)) return;
            for (const [k, field] of fields.entries()) field.value = short(value[k]!, 4);
        },
    };
    for (const field of fields) {
        field.addEventListener("focus", () => field.select());
        field.addEventListener("keydown", (event) => {
            if (event.key === "Escape") return field.blur();
            if (event.key !== "Enter") return;
            const value = fields.map(({ value }) => (value.trim() === "" ? NaN : Number(value)));
            field.blur();
            if (value.every(Number.isFinite)) options.set(value as [number, number, number]);
            else control.update();
        });
        field.addEventListener("blur", () => setTimeout(() => control.update(), 0));
    }
    control.update();
    return control;
}

export interface TextOptions {
    test: string;
    label: string;
    get: () => string | null;
    set: (value: string) => void;
}

/** A line of text. It is accepted on Enter or when the field loses the focus. */
export function text(options: TextOptions): Control {
    const field = h("input", { type: "text", "data-test": options.test, "aria-label": options.label, autocomplete: "off", spellcheck: "false" });
    leaveOnEnter(field);
    field.addEventListener("change", () => options.set(field.value));
    const element = h("label", { class: "field" }, h("span", {}, options.label), field);
    const control: Control = {
        element,
        update() {
            const value = options.get();
            element.hidden = value === null;
            if (value !== null && document.activeElement !== field) field.value = value;
        },
    };
    control.update();
    return control;
}

/** A titled, foldable group of controls. */
export function section(test: string, title: string, open: boolean, ...content: (HTMLElement | string)[]): HTMLDetailsElement {
    return h("details", { class: "section", open, "data-test": test }, h("summary", {}, title), h("div", { class: "content" }, content));
}
