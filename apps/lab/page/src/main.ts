// Creates the parts of the page and connects them.

import "./style.css";
import { type Actions, toolBar, topBar } from "./bars.ts";
import { takeFragment } from "./connection.ts";
import { type Control, letGo } from "./controls.ts";
import { PANE_COLORS } from "./colors.ts";
import { h } from "./dom.ts";
import { Sheet } from "./examine/sheet.ts";
import { acceptDrops, choose } from "./files.ts";
import { Hints } from "./hints.ts";
import { keysDialog, listen } from "./keys.ts";
import { Lab } from "./lab.ts";
import { Messages } from "./messages.ts";
import { caption, openGallery, panesPanel, scenePanel } from "./panels/compare.ts";
import { Legend, lookPanel, shown, storedLook } from "./panels/look.ts";
import { materialPanel, meshPanel } from "./panels/material.ts";
import { clockPanel, methodPanel } from "./panels/method.ts";
import { treePanel } from "./panels/tree.ts";
import { VertexPanel } from "./panels/vertex.ts";
import { TruthPanel } from "./panels/truth.ts";
import { Gravity, worldPanel } from "./panels/world.ts";
import { Recorder } from "./record.ts";
import { sceneColors, startTheme } from "./theme.ts";
import { Hand } from "./touch.ts";
import { View } from "./view/view.ts";

const lab = new Lab();
const look = storedLook();
const legend = new Legend();
const messages = new Messages(lab);
const gravity = new Gravity(lab);
const truth = new TruthPanel(lab);
const sheet = new Sheet(lab);

const canvas = h("canvas", { tabindex: 0, "aria-label": "The simulation: drag the body to pull it, drag beside it to turn the camera", "data-test": "canvas" });
const labels = h("div", { class: "labels" });
const hints = new Hints(lab);
const stage = h("main", { class: "stage" }, canvas, labels, legend.element, hints.element, caption(lab), messages.failure, messages.link, messages.element);
const app = h("div", { class: "app" }, stage);
document.body.append(app);

let view: View | null = null;
try {
    view = new View(canvas, look);
} catch {
    hints.element.remove();
    stage.append(h("div", { class: "no-webgl", role: "alert", "data-test": "no-webgl" }, h("b", {}, "This browser cannot draw in 3-D."),
        h("p", {}, "WebGL is switched off or missing. Switch hardware acceleration on, or use another browser. The curves and all settings work without it.")));
}
if (view?.software) truth.pace = 200;
const recorder = view ? new Recorder(view, (text) => messages.say(text, "notice"), () => lab.frames.find(({ cuts }) => cuts)?.cut ?? null) : null;
const hand = view ? new Hand(lab, view) : null;
const theme = startTheme(() => {
    view?.setColors(sceneColors());
    truth.draw();
});
const keys = keysDialog();
app.append(keys);

const actions: Actions & { screenshot(): void; gravity(): void } = {
    playPause: () => void lab.send({ do: lab.status.running ? "pause" : "play" }),
    step: () => void lab.send({ do: "step" }),
    reset: () => void lab.send({ do: "reset" }),
    undo: () => {
        lab.flush();
        if (lab.status.can_undo !== null) lab.send({ do: "undo" });
    },
    frameAll: () => view?.frameAll(),
    hidePanels: () => void app.classList.toggle("bare"),
    settings: () => void app.classList.toggle("open"),
    theme: () => theme.toggle(),
    help: () => (keys.open ? keys.close() : keys.showModal()),
    share,
    screenshot: () => void recorder?.screenshot(),
    gravity: () => gravity.toggle(),
};

const top = topBar(lab, actions, recorder);
const tools = hand ? toolBar(lab, hand, gravity) : null;
const vertex = new VertexPanel(lab);
const panels: Control[] = [
    scenePanel(lab), materialPanel(lab), methodPanel(lab), worldPanel(lab, gravity), vertex, lookPanel(lab, look, lookChanged),
    panesPanel(lab), sheet.panel, meshPanel(lab, () => choose(lab)), clockPanel(lab), treePanel(lab),
];
app.prepend(top.element, h("aside", { class: "panel left", "aria-label": "Settings" }, panels.map(({ element }) => element)));
app.append(truth.element);
if (tools) stage.append(tools.element);
stage.append(sheet.element);
sheet.onOpen = () => app.classList.remove("open");
if (hand && tools) {
    hand.onTool = tools.update;
    hand.onPulled = () => hints.pulled();
    hand.onChosen = () => {
        vertex.show();
        app.classList.add("open");
    };
}
listen(actions, hand, view);
acceptDrops(lab);

const updateAll = () => {
    for (const control of [top, ...panels]) control.update();
    tools?.update();
};
const { gallery } = takeFragment();
let galleryWaiting = gallery;
lab.on("hello", () => {
    lab.show(shown(look));
    if (galleryWaiting !== null) lab.send({ do: "gallery", name: galleryWaiting });
    galleryWaiting = null;
    updateAll();
});
lab.on("status", ({ show }) => {
    // Another page of the session may have chosen another field. Ignored shortly after this page sent a choice of its own.
    const waiting = performance.now() < lab.showAsked + 1000;
    if (!waiting && JSON.stringify(show) !== JSON.stringify(shown(look))) {
        const { field, forces, outside, momenta, contacts, inside } = show;
        Object.assign(look, { field, forces, outside, each: momenta, contacts });
        if (inside !== (look.cut !== "none")) look.cut = inside ? "z" : "none";
        lookChanged();
    }
    updateAll();
});
lab.on("panes", (panes) => {
    updateAll();
    labels.replaceChildren(...(panes.length > 1 ? panes.map((pane, k) => {
        const label = h("div", { class: "pane-label", "data-test": `label-${k}` }, pane.label || pane.title);
        label.style.borderColor = PANE_COLORS[k % PANE_COLORS.length]!;
        return label;
    }) : []));
    document.title = panes[0] ? `${panes[0].title} · lilyan lab` : "lilyan lab";
    placeLabels();
});
lab.on("target", updateAll);
lab.on("error", ({ request }) => {
    if (request !== "set") return;
    letGo();
    updateAll();
});
lab.on("geometry", (geometry) => {
    legend.restart();
    view?.setGeometry(geometry);
    tools?.update();
    placeLabels();
});
lab.on("frame", (frames) => {
    legend.see(frames, lab.geometry);
    view?.setRange(legend.low, legend.high);
    view?.setFrames(frames);
    void recorder?.frame();
});
window.addEventListener("hashchange", () => {
    const asked = takeFragment().gallery;
    if (asked !== null) openGallery(lab, asked);
});
window.addEventListener("resize", placeLabels);

function lookChanged(): void {
    legend.setField(look.field);
    legend.see(lab.frames, lab.geometry);
    view?.setRange(legend.low, legend.high);
    view?.setLook(look);
}

/** Places the label of each pane in its corner. */
function placeLabels(): void {
    for (const [k, label] of [...labels.children].entries()) {
        const at = view?.rectangles[k];
        if (at) (label as HTMLElement).style.transform = `translate(${at.x + 10}px, ${at.y + 10}px)`;
    }
}

function share(): void {
    const shown = new URLSearchParams(location.hash.slice(1)).get("gallery");
    if (shown === null) {
        messages.say("A link can only open a prepared comparison. To share this scene as it is, save it and send the file.", "notice");
        return;
    }
    const link = `${location.origin}/#gallery=${encodeURIComponent(shown)}`;
    navigator.clipboard.writeText(link).then(
        () => messages.say(`Copied: ${link}`, "notice"),
        () => messages.say(`The link: ${link}`, "notice"),
    );
}

lookChanged();
updateAll();
new ResizeObserver(placeLabels).observe(stage);
lab.connection.connect();

/** The parts of the page, for tests. */
Object.assign(window, { lilyan: { lab, view, truth, recorder, sheet } });
