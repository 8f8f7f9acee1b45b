// Pointer tools: pull, pin, push, kick and throw the body; beside the body the pointer turns the camera.

import * as THREE from "three";
import { h } from "./dom.ts";
import type { Lab } from "./lab.ts";
import { length3, withUnit } from "./numbers.ts";
import { Pinch } from "./pinch.ts";
import type { Vec3 } from "./protocol.ts";
import { at } from "./scene.ts";
import { brush } from "./view/pick.ts";
import type { View } from "./view/view.ts";

export const TOOLS = ["pull", "pin", "force", "kick", "throw", "vertex"] as const;
export type Tool = (typeof TOOLS)[number];

interface Drag {
    what: "turn" | "pan" | Tool;
    pane: number;
    vertex: number;
    vertices: number[];
    /** The plane through the grabbed point, perpendicular to the line of sight. */
    plane: THREE.Plane;
    x: number;
    y: number;
    to: THREE.Vector3;
    moved: boolean;
}

export class Hand {
    tool: Tool = "pull";
    /** Radius of the region that is pinned or pushed, as a share of the body's size. */
    brush = 0;
    /** Factor of the strength of a drag. */
    strength = 1;
    onTool: () => void = () => {};
    onPulled: () => void = () => {};
    onChosen: () => void = () => {};

    private drag: Drag | null = null;
    private readonly pinch = new Pinch();
    private readonly tip = h("div", { class: "tip", hidden: true, "data-test": "tip", role: "status" });
    private readonly from = new THREE.Vector3();
    private readonly along = new THREE.Vector3();
    private moveWaiting = false;

    constructor(private readonly lab: Lab, private readonly view: View) {
        const { canvas } = view;
        canvas.parentElement!.append(this.tip);
        canvas.addEventListener("pointerdown", (event) => this.down(event));
        canvas.addEventListener("pointermove", (event) => this.move(event));
        canvas.addEventListener("pointerup", (event) => this.up(event));
        canvas.addEventListener("pointercancel", (event) => this.up(event));
        canvas.addEventListener("contextmenu", (event) => event.preventDefault());
        canvas.addEventListener("wheel", (event) => {
            event.preventDefault();
            view.orbit.zoom(Math.exp(event.deltaY * 0.001));
            view.invalidate();
        }, { passive: false });
        lab.on("frame", () => this.showForce());
    }

    setTool(tool: Tool): void {
        this.tool = tool;
        this.onTool();
    }

    private place(event: PointerEvent): { x: number; y: number } {
        const box = this.view.canvas.getBoundingClientRect();
        return { x: event.clientX - box.left, y: event.clientY - box.top };
    }

    private down(event: PointerEvent): void {
        const { x, y } = this.place(event);
        if (event.pointerType === "touch") {
            this.pinch.down(event.pointerId, { x, y });
            // A second finger moves the camera; the grab of the first one ends.
            if (this.pinch.active) {
                if (this.drag) this.end(this.drag, true);
                return;
            }
        }
        const pane = this.view.paneAt(x, y);
        if (pane < 0 || this.drag) return;
        this.view.canvas.setPointerCapture(event.pointerId);
        // The picture gets the keys again instead of the last field.
        if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
        const camera = event.button !== 0 || event.shiftKey || event.altKey;
        const vertex = camera ? -1 : this.view.pick(pane, x, y);
        const what = event.shiftKey || event.button !== 0 ? "pan" : vertex < 0 ? "turn" : this.tool;
        const drag: Drag = { what, pane, vertex, vertices: [], plane: new THREE.Plane(), x, y, to: new THREE.Vector3(), moved: false };
        this.drag = drag;
        if (vertex < 0) return;
        const geometry = this.lab.geometry[pane]!;
        drag.vertices = brush(geometry.rest, vertex, this.brush * geometry.size);
        this.view.vertex(pane, vertex, this.from);
        drag.to.copy(this.from);
        const sight = this.view.orbit.camera.getWorldDirection(new THREE.Vector3());
        drag.plane.setFromNormalAndCoplanarPoint(sight, this.from);
        if (what === "vertex") {
            this.lab.watch(pane, vertex);
            this.onChosen();
        }
        if (what === "pin") this.pin(drag);
        if (what === "pull") {
            this.lab.send({ do: "grab", pane, vertex, to: drag.to.toArray() as Vec3 });
            this.onPulled();
        }
    }

    private move(event: PointerEvent): void {
        const { x, y } = this.place(event);
        const pinched = this.pinch.move(event.pointerId, { x, y });
        if (pinched) {
            const { height } = this.view.canvas.getBoundingClientRect();
            this.view.orbit.zoom(1 / pinched.factor);
            this.view.orbit.pan(pinched.dx / height, pinched.dy / height);
            this.view.invalidate();
            return;
        }
        if (!this.drag) {
            if (event.pointerType !== "touch") this.hover(x, y);
            return;
        }
        const { drag, view } = this;
        const height = view.rectangles[drag.pane]?.height ?? 1;
        if (Math.hypot(x - drag.x, y - drag.y) > 2) drag.moved = true;
        if (drag.what === "turn") view.orbit.turn((3 * (x - drag.x)) / height, (3 * (y - drag.y)) / height);
        else if (drag.what === "pan") view.orbit.pan((x - drag.x) / height, (y - drag.y) / height);
        else {
            const ray = view.ray(drag.pane, x, y);
            const line = new THREE.Ray(new THREE.Vector3(...ray.origin), new THREE.Vector3(...ray.direction));
            line.intersectPlane(drag.plane, drag.to);
            this.act(drag, false, x, y);
        }
        drag.x = x;
        drag.y = y;
        view.invalidate();
    }

    private up(event: PointerEvent): void {
        this.pinch.up(event.pointerId);
        if (!this.drag) return;
        const { x, y } = this.place(event);
        Object.assign(this.drag, { x, y });
        this.end(this.drag, false);
    }

    /** Ends the drag. If it is cancelled, a tool that acts at the end does not act. */
    private end(drag: Drag, givenUp: boolean): void {
        if (drag.vertex >= 0 && (!givenUp || drag.what === "pull")) this.act(drag, true, drag.x, drag.y);
        this.drag = null;
        this.tip.hidden = true;
        this.view.drawTool(drag.pane, null, this.along);
    }

    private act(drag: Drag, done: boolean, x: number, y: number): void {
        const { lab, view } = this;
        const { pane, vertices } = drag;
        if (drag.what === "pin" || drag.what === "vertex") return;
        if (drag.what === "pull") {
            if (done) {
                this.moveWaiting = false;
                lab.send({ do: "release" });
                lab.tell("touched", pane);
            } else if (!this.moveWaiting) {
                // One message per drawn picture, since pointers report much more often.
                this.moveWaiting = true;
                requestAnimationFrame(() => {
                    if (this.moveWaiting && this.drag === drag) lab.send({ do: "grab", pane, vertex: drag.vertex, to: drag.to.toArray() as Vec3 });
                    this.moveWaiting = false;
                });
            }
            return;
        }
        view.vertex(pane, drag.vertex, this.from);
        this.along.subVectors(drag.to, this.from);
        const scale = this.scale(drag.what as Tool, pane);
        const value = this.along.clone().multiplyScalar(scale.perMetre).toArray() as Vec3;
        view.drawTool(pane, this.from, this.along);
        this.showTip(x, y, withUnit(length3(value), scale.unit));
        if (!done) return;
        if (drag.what === "force") lab.send({ do: "force", pane, vertices, force: drag.moved ? value : [0, 0, 0] });
        if (drag.what === "kick" && drag.moved) lab.send({ do: "kick", pane, vertices, momentum: value });
        if (drag.what === "throw" && drag.moved) lab.send({ do: "throw", pane, velocity: value });
        lab.tell("touched", pane);
    }

    private pin({ pane, vertex, vertices }: Drag): void {
        const held = new Set(this.lab.geometry[pane]!.pinned);
        if (held.has(vertex)) this.lab.send({ do: "unpin", pane, vertices: vertices.filter((v) => held.has(v)) });
        else this.lab.send({ do: "pin", pane, vertices: vertices.filter((v) => !held.has(v)) });
        this.lab.tell("touched", pane);
    }

    /**
     * What a drag of one metre stands for: a force that strains the body by some per cent, an impulse or a throw that
     * moves it by its own size within a second or so.
     */
    private scale(tool: Tool, pane: number): { perMetre: number; unit: string } {
        const scene = this.lab.panes[pane]?.scene ?? {};
        const constant = (name: string, otherwise: number) => {
            const value = at(scene, `body.0.material.${name}`);
            return typeof value === "number" ? value : otherwise;
        };
        const { size, bounds } = this.lab.geometry[pane]!;
        const edges = [0, 1, 2].map((k) => Math.max(bounds[1][k]! - bounds[0][k]!, 0.02 * size));
        const volume = edges[0]! * edges[1]! * edges[2]!;
        const speed = 2 * Math.sqrt(9.81 * size);
        const mass = volume * constant("rho", 1000);
        const perSize = {
            force: Math.min(0.1 * constant("E", 1e5) * (volume / size), 200 * mass),
            kick: 0.5 * mass * speed,
            throw: speed,
            pull: 0,
            pin: 0,
            vertex: 0,
        }[tool];
        const unit = { force: "N", kick: "N s", throw: "m/s", pull: "N", pin: "", vertex: "" }[tool];
        return { perMetre: (this.strength * perSize) / size, unit };
    }

    private hover(x: number, y: number): void {
        const pane = this.view.paneAt(x, y);
        const over = pane >= 0 && this.view.pick(pane, x, y) >= 0;
        this.view.canvas.style.cursor = over ? (this.tool === "pull" ? "grab" : "crosshair") : "default";
    }

    /** Shows the force of the spring beside the pointer. */
    private showForce(): void {
        const { drag } = this;
        if (drag?.what !== "pull") return;
        const grab = this.lab.frames[drag.pane]?.grab;
        if (!grab) return;
        const force = typeof grab.force === "number" ? grab.force : length3(grab.force);
        this.showTip(drag.x, drag.y, withUnit(force, "N"));
    }

    private showTip(x: number, y: number, text: string): void {
        this.tip.hidden = false;
        this.tip.textContent = text;
        this.tip.style.transform = `translate(${Math.round(x + 16)}px, ${Math.round(y - 28)}px)`;
    }
}
