// Hints for new users, one at a time: pull, change the material, look at the energy. A hint disappears when the user has done it. Hints are
// not shown again to a user who has changed the material.

import { h } from "./dom.ts";
import type { Lab } from "./lab.ts";

const KNOWN = "lilyan.knows";
/** How long the last hint stays, ms. */
const READ_FOR = 8000;

type Stage = "pull" | "change" | "look";

export class Hints {
    readonly element = h("div", { class: "hint", "data-test": "hint", role: "status" });
    private stage: Stage | null = null;

    constructor(lab: Lab) {
        const finger = matchMedia("(pointer: coarse)").matches;
        this.texts = {
            pull: finger ? "Pull it with your finger" : "Pull it with the mouse",
            change: "Now make it softer or stiffer",
            look: "and see what that does to its energy",
        };
        this.show(localStorage.getItem(KNOWN) === null ? "pull" : null);
        let before = "";
        lab.on("panes", (panes) => {
            // A user who compares panes needs no hints.
            if (panes.length > 1) this.show(null);
            const material = JSON.stringify(panes.map((pane) => [pane.title, pane.scene.body]));
            if (this.stage === "change" && before !== "" && material !== before) this.changed();
            before = material;
        });
    }

    private readonly texts: Record<Stage, string>;

    pulled(): void {
        if (this.stage === "pull") this.show("change");
    }

    private changed(): void {
        this.show("look");
        localStorage.setItem(KNOWN, "1");
        setTimeout(() => this.show(null), READ_FOR);
    }

    private show(stage: Stage | null): void {
        this.stage = stage;
        this.element.hidden = stage === null;
        if (stage === null) return;
        this.element.textContent = this.texts[stage];
        this.element.dataset.points = stage;
    }
}
