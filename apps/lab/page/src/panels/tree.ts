// All settings of the scene, as in the scene file.

import { type Control, leaveOnEnter, section } from "../controls.ts";
import { button, h } from "../dom.ts";
import type { Lab } from "../lab.ts";
import type { Json } from "../protocol.ts";
import { formatValue, isObject, parseValue } from "../scene.ts";

/** Of longer lists (positions, edges) only the length is shown. */
const LONG = 400;

export function treePanel(lab: Lab): Control {
    const tree = h("div", { class: "tree", role: "tree", "aria-label": "All settings of the scene" });
    const panel = section("panel-tree", "All settings", false, tree);
    const open = new Set<string>([""]);
    let shown = "";
    const update = () => {
        const scene = lab.shown?.scene;
        if (!scene || !panel.open || tree.contains(document.activeElement)) return;
        const key = `${lab.target} ${JSON.stringify(scene)}`;
        if (key === shown) return;
        shown = key;
        tree.replaceChildren(...children(lab, scene, "", open));
    };
    panel.addEventListener("toggle", () => {
        shown = "";
        update();
    });
    tree.addEventListener("focusout", () => setTimeout(update, 0));
    return { element: panel, update };
}

function children(lab: Lab, value: { [key: string]: Json } | Json[], path: string, open: Set<string>): HTMLElement[] {
    const rows = Object.entries(value).map(([key, child]) => node(lab, key, child, path === "" ? key : `${path}.${key}`, open));
    return Array.isArray(value) ? rows : [...rows, adder(lab, path)];
}

function node(lab: Lab, key: string, value: Json, path: string, open: Set<string>): HTMLElement {
    const nested = isObject(value) || (Array.isArray(value) && (value.some(isObject) || (value.some(Array.isArray) && JSON.stringify(value).length < LONG)));
    const remove = button(`remove-${path}`, `Remove ${path}`, "close", () => lab.set(path, null), "small");
    if (!nested) return h("div", { class: "leaf", role: "treeitem" }, h("span", { title: path }, key), field(lab, value, path), remove);
    const details = h("details", { open: open.has(path), role: "treeitem" }, h("summary", { "data-test": `fold-${path}` }, key, Array.isArray(value) ? null : remove), h("div", { class: "branch" }, children(lab, value as { [key: string]: Json }, path, open)));
    details.addEventListener("toggle", () => (details.open ? open.add(path) : open.delete(path)));
    return details;
}

function field(lab: Lab, value: Json, path: string): HTMLElement {
    if (typeof value === "boolean") {
        const box = h("input", { type: "checkbox", "data-test": `tree-${path}`, "aria-label": path, onchange: () => lab.set(path, box.checked) });
        box.checked = value;
        return box;
    }
    const shown = formatValue(value);
    if (shown.length > LONG) return h("span", { class: "dim" }, Array.isArray(value) ? `${value.length} entries` : `${shown.length} characters`);
    const input = h("input", { type: "text", "data-test": `tree-${path}`, "aria-label": path, autocomplete: "off", spellcheck: "false", onchange: () => lab.set(path, parseValue(input.value)) });
    input.value = shown;
    leaveOnEnter(input);
    return input;
}

/** A line that adds a key. */
function adder(lab: Lab, path: string): HTMLElement {
    const name = path === "" ? "root" : path;
    const key = h("input", { type: "text", placeholder: "new key", "aria-label": `New key in ${name}`, "data-test": `add-key-${name}`, autocomplete: "off" });
    const value = h("input", { type: "text", placeholder: "value, Enter", "aria-label": `Its value`, "data-test": `add-value-${name}`, autocomplete: "off" });
    value.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || key.value.trim() === "") return;
        lab.set(path === "" ? key.value.trim() : `${path}.${key.value.trim()}`, parseValue(value.value));
        value.blur();
    });
    return h("div", { class: "leaf add" }, key, value);
}
