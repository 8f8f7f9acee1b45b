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
    ["G  P  O  K  T", "pull, pin, force, kick, throw"],
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

/** Keys belong to what is being typed in, if anything. */
function typing(event: KeyboardEvent): boolean {
    const target = event.target as HTMLElement;
    if (target.isContentEditable || target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
    return target instanceof HTMLInputElement && ["text", "number", "search"].includes(target.type);
}

/** Whether a control has the focus because somebody went there with the keyboard. */
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
        g: () => hand?.setTool("pull"), p: () => hand?.setTool("pin"), o: () => hand?.setTool("force"), k: () => hand?.setTool("kick"), t: () => hand?.setTool("throw"),
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
        // Who goes from control to control with the keyboard presses them with Space; who clicked one pauses with it.
        if (event.key === " " && pressing(target)) return;
        // A slider moves with the arrows, and a button that was clicked is not clicked again by Space.
        if (event.key.startsWith("Arrow") && target instanceof HTMLInputElement) return;
        const action = does[event.key.length === 1 ? event.key.toLowerCase() : event.key];
        if (!action) return;
        event.preventDefault();
        action();
    });
    // Space on a focused button or box would press it as well when let go.
    window.addEventListener("keyup", (event) => {
        if (event.key === " " && !typing(event) && !pressing(event.target as HTMLElement)) event.preventDefault();
    });
}
