// Chooses scenes and prepared comparisons.

import { PANE_COLORS } from "../colors.ts";
import { type Control, section, select } from "../controls.ts";
import { button, h } from "../dom.ts";
import type { Lab } from "../lab.ts";

export function scenePanel(lab: Lab): Control {
    let opened = "";
    const scenes = select({
        test: "scene", label: "Scene",
        choices: () => [{ value: "", label: lab.panes[0]?.title ?? "…" }, ...lab.catalogue.scenes.map(({ name, summary }) => ({ value: name, label: name.replaceAll("-", " "), title: summary }))],
        get: () => opened,
        set: (name) => {
            opened = name;
            if (name === "") return;
            history.replaceState(null, "", location.pathname);
            lab.send({ do: "open", scene: name });
        },
    });
    const summary = h("p", { class: "dim" });
    const gallery = h("div", { class: "gallery", "data-test": "gallery" });
    let entries = "";
    const update = () => {
        if (opened !== "" && lab.panes.length > 1) opened = "";
        scenes.update();
        summary.textContent = lab.catalogue.scenes.find(({ name }) => name === opened)?.summary ?? "";
        const key = JSON.stringify(lab.catalogue.gallery);
        if (key === entries) return;
        entries = key;
        gallery.replaceChildren(...lab.catalogue.gallery.map((entry) => h("button", {
            type: "button", class: "entry", title: entry.look, "data-test": `gallery-${entry.name}`,
            onclick: () => {
                opened = "";
                openGallery(lab, entry.name);
            },
        }, h("b", {}, entry.title), h("span", {}, entry.summary))));
    };
    return { element: section("panel-scene", "Scene", true, scenes.element, summary, h("details", { class: "nested", "data-test": "gallery-fold" }, h("summary", {}, "Prepared comparisons"), gallery)), update };
}

/** What the user should look at in the open comparison. */
export function caption(lab: Lab): HTMLElement {
    const text = h("p");
    const element = h("div", { class: "caption", hidden: true, "data-test": "caption" }, text, button("caption-close", "Close", "close", () => void (element.hidden = true), "small"));
    lab.on("panes", (panes) => {
        const name = new URLSearchParams(location.hash.slice(1)).get("gallery");
        const look = (panes.length > 1 && lab.catalogue.gallery.find((entry) => entry.name === name)?.look) || "";
        if (look === text.textContent) return;
        text.textContent = look;
        element.hidden = look === "";
    });
    return element;
}

export function openGallery(lab: Lab, name: string): void {
    history.replaceState(null, "", `#gallery=${encodeURIComponent(name)}`);
    lab.send({ do: "gallery", name });
}

/** The list of panes, and the choice of the panes that settings change. */
export function panesPanel(lab: Lab): Control {
    const list = h("div", { class: "panes", role: "radiogroup", "aria-label": "Settings are for" });
    const hint = h("p", { class: "dim" });
    let adding = 0;
    const add = button("split", "A copy of this one, to change something in it", "Compare: add a pane", () => {
        if (lab.send({ do: "split" })) adding = lab.panes.length + 1;
    }, "wide");
    lab.on("panes", ({ length }) => {
        // The new pane is there to be changed.
        if (length === adding) lab.setTarget(length - 1);
        adding = 0;
    });
    const update = () => {
        const { panes } = lab;
        list.hidden = panes.length < 2;
        hint.textContent = panes.length < 2 ? "See two settings side by side." : "Settings are for:";
        add.disabled = panes.length >= lab.limits.panes;
        const row = (target: number | null, label: string) => h("div", { class: "pane-row" },
            h("button", {
                type: "button", role: "radio", class: "pane-choice", "aria-checked": String(lab.target === target), "data-test": `target-${target ?? "all"}`,
                onclick: () => lab.setTarget(target),
            }, target === null ? "" : swatch(target), label),
            target === null ? "" : button(`close-${target}`, `Close pane ${target + 1}`, "close", () => void lab.send({ do: "close", pane: target }), "small"));
        if (!list.contains(document.activeElement) || list.childElementCount !== panes.length + 1) {
            list.replaceChildren(row(null, "all panes"), ...panes.map((pane, k) => row(k, `${k + 1}: ${pane.label || pane.title}`)));
        } else {
            for (const [k, choice] of [...list.querySelectorAll(".pane-choice")].entries()) choice.setAttribute("aria-checked", String(lab.target === (k === 0 ? null : k - 1)));
        }
    };
    return { element: section("panel-panes", "Side by side", true, hint, list, add), update };
}

function swatch(k: number): HTMLElement {
    const element = h("i", { class: "dot", "aria-hidden": "true" });
    element.style.background = PANE_COLORS[k % PANE_COLORS.length]!;
    return element;
}
