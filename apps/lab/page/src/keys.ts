// The keyboard.

import type { Actions } from "./bars.ts";
import { button, h } from "./dom.ts";
import type { Hand } from "./touch.ts";
import type { View } from "./view/view.ts";

const KEYS: [string, string][] = [
    ["Space", "run or pause"],
    [".", "one step"],
    ["Backspace", "back to t = 0"],
    ["Ctrl+Z", "undo the last change of a setting"],
    ["F", "frame all"],
    ["H", "hide or show the panels"],
    ["G  P  O  K  T  V", "pull, pin, force, kick, throw, vertex"],
    ["J", "gravity off or on"],
    ["S", "save a picture"],
    ["drag the body", "use the tool on it"],
    ["drag beside it", "turn the camera (Alt: also on the body)"],
    ["Shift+drag", "move the camera"],
    ["wheel, + −", "zoom"],
    ["two fingers", "zoom and move the camera"],
    ["arrows", "turn the camera"],
    ["?", "these keys"],
];

export function keysDialog(): HTMLDialogElement {
    const dialog = h("dialog", { class: "keys", "aria-label": "Keys", "data-test": "keys" },
        h("h2", {}, "Keys"),
        h("dl", {}, KEYS.flatMap(([key, does]) => [h("dt", {}, ...key.split("  ").flatMap((k) => [h("kbd", {}, k), " "])), h("dd", {}, does)])),
        button("keys-close", "Close", "close", () => dialog.close(), "small"));
    dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
    return dialog;
}

/** Whether the user is typing into a field, which then gets the keys. */
function typing(event: KeyboardEvent): boolean {
    const target = event.target as HTMLElement;
    if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
    return target instanceof HTMLInputElement && ["text", "number", "search"].includes(target.type);
}

/** Whether a control got the focus by the keyboard. */
let reached = false;
window.addEventListener("focusin", (event) => void (reached = (event.target as HTMLElement).matches(":focus-visible")));
window.addEventListener("pointerdown", () => void (reached = false));

function pressing(target: HTMLElement): boolean {
    return reached && target.matches("button, summary, input[type=checkbox]");
}

export function listen(actions: Actions & { screenshot(): void; gravity(): void }, hand: Hand | null, view: View | null): void {
    const turn = (dx: number, dy: number) => {
        view?.orbit.turn(dx, dy);
        view?.invalidate();
    };
    const zoom = (factor: number) => {
        view?.orbit.zoom(factor);
        view?.invalidate();
    };
    const does: Record<string, () => void> = {
        " ": actions.playPause, ".": actions.step, Backspace: actions.reset, f: actions.frameAll, h: actions.hidePanels, "?": actions.help,
        g: () => hand?.setTool("pull"), p: () => hand?.setTool("pin"), o: () => hand?.setTool("force"), k: () => hand?.setTool("kick"), t: () => hand?.setTool("throw"), v: () => hand?.setTool("vertex"),
        j: actions.gravity, s: actions.screenshot,
        ArrowLeft: () => turn(-0.1, 0), ArrowRight: () => turn(0.1, 0), ArrowUp: () => turn(0, 0.1), ArrowDown: () => turn(0, -0.1),
        "+": () => zoom(0.9), "-": () => zoom(1.1),
    };
    window.addEventListener("keydown", (event) => {
        if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z" && !typing(event)) {
            event.preventDefault();
            return actions.undo();
        }
        if (event.ctrlKey || event.metaKey || event.altKey || typing(event)) return;
        const target = event.target as HTMLElement;
        // Space presses a control that got the focus by the keyboard; after a click it pauses the simulation.
        if (event.key === " " && pressing(target)) return;
        // Arrows move a slider. Space does not press a button again that was clicked.
        if (event.key.startsWith("Arrow") && target instanceof HTMLInputElement) return;
        const action = does[event.key.length === 1 ? event.key.toLowerCase() : event.key];
        if (!action) return;
        event.preventDefault();
        action();
    });
    // Releasing Space would press the focused button or box as well.
    window.addEventListener("keyup", (event) => {
        if (event.key === " " && !typing(event) && !pressing(event.target as HTMLElement)) event.preventDefault();
    });
}
