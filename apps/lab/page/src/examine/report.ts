// Shows a report in a sandboxed frame of another origin, which can run only the script of the report.

import { button, h } from "../dom.ts";
import type { Lab } from "../lab.ts";

export function showReport(lab: Lab, job: number): void {
    const frame = h("iframe", { class: "report", sandbox: "allow-scripts", referrerpolicy: "no-referrer", title: "Report of the comparison", src: lab.connection.result(job, "report.html"), "data-test": "report" });
    const dialog = h("dialog", { class: "report-window", "aria-label": "Report", "data-test": "report-window" },
        button("report-close", "Close", "close", () => dialog.close(), "small"), frame);
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
}
