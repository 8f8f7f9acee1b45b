// Tables, notes and fields that check, compare and coarsen share.

import { button, download, h } from "../dom.ts";
import { leaveOnEnter } from "../controls.ts";
import type { Lab } from "../lab.ts";

type Cell = HTMLElement | string | number;

/** A table. The first column names the row; the others are aligned as numbers unless they are words. */
export function table(test: string, header: string[], rows: Cell[][]): HTMLElement {
    const cell = (content: Cell) => h("td", {}, typeof content === "number" ? String(content) : content);
    return h("div", { class: "table" }, h("table", { "data-test": test },
        h("thead", {}, h("tr", {}, header.map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, rows.map((row) => h("tr", {}, row.map(cell))))));
}

export function notes(texts: string[]): HTMLElement[] {
    return texts.length > 0 ? [h("ul", { class: "notes", "data-test": "job-notes" }, texts.map((text) => h("li", {}, text)))] : [];
}

export function heading(text: string): HTMLElement {
    return h("h3", {}, text);
}

export interface Field {
    element: HTMLElement;
    input: HTMLInputElement;
}

/** A field for text or a number. Its value is kept while the page is open. */
export function field(test: string, label: string, title: string, placeholder = ""): Field {
    const input = h("input", { type: "text", "data-test": test, "aria-label": label, title, placeholder, autocomplete: "off", spellcheck: "false" });
    leaveOnEnter(input);
    return { input, element: h("label", { class: "field", title }, h("span", {}, label), input) };
}

/** A button that sets an integrator and a step of the examined pane. */
export function use(lab: Lab, pane: number, integrator: string, step: number): HTMLElement {
    return button("use", `Use ${integrator} with a step of ${step} s`, "Use", () => {
        lab.flush();
        const same = lab.panes[pane]?.integrator === integrator;
        lab.send({
            do: "set", pane: pane < lab.panes.length ? pane : null,
            changes: [...(same ? [] : [{ path: "integrator", value: { name: integrator } }]), { path: "time.step", value: step }],
        });
    }, "chip");
}

/** A button that saves a file of the job. */
export function saver(lab: Lab, job: number, file: string, label: string): HTMLElement {
    return button(`save-${file.replace(".", "-")}`, `Save ${file}`, label, async () => {
        const answer = await fetch(lab.connection.result(job, file));
        if (answer.ok) download(file, await answer.blob());
        else lab.tell("error", { text: await answer.text(), request: "result" });
    });
}
