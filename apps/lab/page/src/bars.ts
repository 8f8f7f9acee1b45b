// The bar at the top (time, recording, appearance) and the bar with the pointer tools.

import { type Control, segments, slider } from "./controls.ts";
import { button, download, h, type IconName, icon, setIcon } from "./dom.ts";
import type { Lab } from "./lab.ts";
import { linear, logarithmic, seconds, short } from "./numbers.ts";
import type { Gravity } from "./panels/world.ts";
import { numberAt } from "./scene.ts";
import type { Recorder } from "./record.ts";
import { type Hand, type Tool } from "./touch.ts";

export interface Actions {
    playPause(): void;
    step(): void;
    reset(): void;
    undo(): void;
    frameAll(): void;
    hidePanels(): void;
    settings(): void;
    theme(): void;
    help(): void;
    share(): void;
}

export function topBar(lab: Lab, actions: Actions, recorder: Recorder | null): Control {
    const play = button("play", "Play (Space)", "play", actions.playPause, "primary");
    const picture = play.querySelector("svg")!;
    const undo = button("undo", "Nothing to undo", "undo", actions.undo);
    const undoText = h("span", { class: "undo-text", "data-test": "undo-text" });
    const clock = h("span", { class: "clock", "data-test": "clock", title: "Simulated time" });
    const pace = h("span", { class: "pace", "data-test": "pace", role: "status" });
    const video = button("video", "Record a video (WebM)", "video", () => recorder?.toggleVideo());
    const images = button("images", "Record an image sequence (PNG in a ZIP)", "images", () => recorder?.toggleImages());
    const record = recorder ? [
        button("screenshot", "Save a picture (PNG)", "camera", () => void recorder.screenshot()), video, images,
    ] : [];
    const settings = button("settings", "Settings", "Settings", actions.settings, "only-small");
    settings.prepend(icon("panels"));
    const element = h("header", { class: "top" },
        h("h1", {}, "lilyan ", h("span", {}, "lab")),
        h("div", { class: "group" },
            settings, play,
            button("step", "One step (.)", "step", actions.step), button("reset", "Back to t = 0 (Backspace)", "reset", actions.reset), undo, undoText),
        clock, pace,
        h("div", { class: "group end" }, record,
            button("save", "Save the scene with its current state (TOML)", "save", () => void lab.send({ do: "save", pane: lab.target ?? 0, state: true })),
            button("share", "Copy a link to this comparison or scene", "link", actions.share),
            button("frame", "Frame all (F)", "frame", actions.frameAll),
            button("hide", "Hide the panels (H)", "panels", actions.hidePanels, "not-small"),
            button("theme", "Dark or light", "theme", actions.theme),
            button("help", "Keys (?)", "help", actions.help)));
    lab.on("file", ({ name, text }) => download(name, new Blob([text], { type: "application/toml" })));
    if (recorder) recorder.onChange = () => update();

    const tick = () => {
        const frame = lab.frames[0];
        if (!frame) return;
        clock.textContent = `t = ${seconds(frame.t)}`;
        const cut = lab.frames.find((other) => other.cut)?.cut;
        const behind = Math.max(...lab.frames.map((other) => other.behind ?? 0));
        pace.textContent = cut ?? (behind > 0.5 ? "slower than asked" : "");
        pace.title = [pace.textContent, behind > 0 ? `${short(behind)} s behind` : ""].filter(Boolean).join("; ");
    };
    let last = 0;
    lab.on("frame", () => {
        if (performance.now() - last < 100) return;
        last = performance.now();
        tick();
    });
    const update = () => {
        const { running, can_undo } = lab.status;
        setIcon(picture, running ? "pause" : "play");
        const label = running ? "Pause (Space)" : "Play (Space)";
        play.title = label;
        play.setAttribute("aria-label", label);
        play.setAttribute("aria-pressed", String(running));
        undo.disabled = can_undo === null;
        undo.title = can_undo === null ? "Nothing to undo" : `Undo: ${can_undo} (Ctrl+Z)`;
        undo.setAttribute("aria-label", undo.title);
        undoText.textContent = can_undo ?? "";
        video.classList.toggle("recording", recorder?.filming ?? false);
        images.classList.toggle("recording", recorder?.collecting ?? false);
        video.title = recorder?.filming ? "Stop and save the video" : "Record a video (WebM)";
        images.title = recorder?.collecting ? "Stop and save the images" : "Record an image sequence (PNG in a ZIP)";
        tick();
    };
    return { element, update };
}

const TOOL_NAMES: Record<Tool, { label: string; title: string; picture: IconName }> = {
    pull: { label: "Pull", title: "Pull with a spring (G)", picture: "hand" },
    pin: { label: "Pin", title: "Pin where you click; again to free it (P)", picture: "pin" },
    force: { label: "Force", title: "Drag to apply a constant force; click to remove it (O)", picture: "force" },
    kick: { label: "Kick", title: "Drag an impulse (K)", picture: "kick" },
    vertex: { label: "Vertex", title: "Click on a vertex to see its numbers and to set them (V)", picture: "vertex" },
    throw: { label: "Throw", title: "Drag a velocity for the whole body (T)", picture: "throw" },
};

export function toolBar(lab: Lab, hand: Hand, gravity: Gravity): Control {
    const tools = segments({
        test: "tool", label: "Tool of the mouse",
        choices: (Object.keys(TOOL_NAMES) as Tool[]).map((value) => ({ value, label: TOOL_NAMES[value].label, title: TOOL_NAMES[value].title })),
        get: () => hand.tool,
        set: (value) => hand.setTool(value as Tool),
    });
    for (const [k, tool] of (Object.keys(TOOL_NAMES) as Tool[]).entries()) tools.element.children[k]!.prepend(icon(TOOL_NAMES[tool].picture));
    const strength = slider({ test: "strength", label: "Strength", unit: "×", scale: logarithmic(0.05, 20), get: () => (["force", "kick", "throw"].includes(hand.tool) ? hand.strength : null), set: (value) => void (hand.strength = value) });
    const brush = slider({ test: "brush", label: "Brush", unit: "", title: "Radius of what is pinned or pushed, as a part of the body's size", scale: linear(0, 0.5), get: () => (["pin", "force", "kick"].includes(hand.tool) ? hand.brush : null), set: (value) => void (hand.brush = value) });
    const free = button("unpin-all", "Free everything that is pinned", "Unpin all", () => {
        for (const k of lab.panes.keys()) {
            lab.send({ do: "unpin", pane: k });
            lab.tell("touched", k);
        }
    });
    const cut = button("gravity", "Remove gravity", "Remove gravity", () => gravity.toggle());
    // On a small screen the settings are hidden, so the stiffness has buttons here.
    const stiffness = () => numberAt(lab.shown?.scene ?? {}, "body.0.material.E");
    const times = (factor: number) => () => lab.set("body.0.material.E", Number((factor * (stiffness() ?? 1)).toPrecision(3)));
    const softer = button("softer", "A third of the stiffness", "Softer", times(1 / 3), "only-small");
    const stiffer = button("stiffer", "Three times the stiffness", "Stiffer", times(3), "only-small");
    const update = () => {
        for (const control of [tools, strength, brush]) control.update();
        softer.hidden = stiffer.hidden = stiffness() === null;
        free.hidden = hand.tool !== "pin";
        cut.textContent = gravity.on ? "Remove gravity" : "Add gravity";
        cut.title = gravity.on ? "Remove gravity (J)" : "Add gravity (J)";
        cut.setAttribute("aria-pressed", String(gravity.on));
    };
    return { element: h("div", { class: "tools" }, tools.element, strength.element, brush.element, free, softer, stiffer, cut), update };
}
