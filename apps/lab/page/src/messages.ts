// Texts on the page: notices, errors, failures with remedies, a lost connection.

import { button, h } from "./dom.ts";
import type { Lab } from "./lab.ts";
import type { Failure } from "./protocol.ts";

const READ_FOR = 9000;

export class Messages {
    readonly element = h("div", { class: "messages", "aria-live": "polite", "data-test": "messages" });
    readonly failure = h("div", { class: "failure", role: "alertdialog", "aria-label": "The simulation stopped", hidden: true, "data-test": "failure" });
    readonly link = h("div", { class: "lost", role: "alert", hidden: true, "data-test": "lost" });

    constructor(private readonly lab: Lab) {
        lab.on("notice", (text) => this.say(text, "notice"));
        lab.on("error", ({ text }) => this.say(text, "error"));
        lab.on("failure", (failure) => this.fail(failure));
        lab.on("status", ({ running }) => {
            if (running) this.failure.hidden = true;
        });
        lab.on("link", ({ state, attempt }) => this.showLink(state, attempt));
        lab.on("forgotten", (panes) => {
            const scene = panes[0]!;
            this.say("The lab was started again and this is a new session.", "notice", [
                button("restore", "Open the scene that was here", "Restore my scene", () => void lab.send({ do: "open", text: JSON.stringify(scene.scene), name: "restored.json" }), "remedy"),
            ]);
        });
    }

    say(text: string, kind: "notice" | "error", actions: HTMLElement[] = []): void {
        const same = [...this.element.children].find((child) => child.querySelector("p")?.textContent === text);
        same?.remove();
        const message = h("div", { class: `message ${kind}`, "data-test": `message-${kind}`, role: kind === "error" ? "alert" : "status" },
            h("p", {}, text), actions.length > 0 ? h("div", { class: "chips" }, actions) : null,
            button("dismiss", "Dismiss", "close", () => message.remove(), "small"));
        this.element.append(message);
        while (this.element.childElementCount > 4) this.element.firstElementChild!.remove();
        if (actions.length === 0) setTimeout(() => message.remove(), READ_FOR + 40 * text.length);
    }

    private fail({ pane, text, remedies }: Failure): void {
        const where = this.lab.panes.length > 1 ? `Pane ${pane + 1} (${this.lab.panes[pane]?.label ?? ""}) stopped` : "The simulation stopped";
        this.failure.hidden = false;
        this.failure.replaceChildren(
            h("b", {}, where),
            h("p", { "data-test": "failure-text" }, text),
            h("p", { class: "dim" }, "The picture shows the last good state."),
            h("div", { class: "chips" }, remedies.map(({ label, messages }, k) => button(`remedy-${k}`, label, label, () => {
                this.failure.hidden = true;
                for (const message of messages) this.lab.send(message);
            }, "remedy"))),
            button("failure-close", "Close", "close", () => void (this.failure.hidden = true), "small"),
        );
    }

    private showLink(state: string, attempt: number): void {
        if (state === "open") this.link.hidden = true;
        if (state === "lost") {
            this.link.hidden = false;
            this.link.replaceChildren(
                h("b", {}, "The connection to the lab is lost."),
                h("p", {}, attempt < 4
                    ? "The page tries to connect again. The picture shows the last frame, and your settings are kept."
                    : "The lab does not answer. If it was stopped, start it again with “lilyan lab” and open the address that it prints, which has a new key."),
                button("reconnect", "Try again now", "Try again now", () => this.lab.connection.connect(), "remedy"),
            );
        }
        if (state === "no token") {
            const field = h("input", { type: "text", "aria-label": "Address that the lab printed", placeholder: "http://127.0.0.1:…/#token=…", "data-test": "token", autocomplete: "off" });
            const enter = () => {
                const token = field.value.split("token=").pop()!.split("&")[0]!.trim();
                if (token === "") return;
                this.link.hidden = true;
                this.lab.connection.setToken(token);
            };
            field.addEventListener("keydown", (event) => event.key === "Enter" && enter());
            this.link.hidden = false;
            this.link.replaceChildren(
                h("b", {}, "This page needs its key."),
                h("p", {}, "Open the address that “lilyan lab” printed in the terminal, or paste it here."),
                h("div", { class: "chips" }, field, button("token-enter", "Connect", "Connect", enter, "remedy")),
            );
        }
    }
}
