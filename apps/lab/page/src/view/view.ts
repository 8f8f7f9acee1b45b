// The picture: one canvas and one camera; each pane has a part of the window.

import * as THREE from "three";
import type { FieldName, Frame, Geometry, Vec3 } from "../protocol.ts";
import { PANE_COLORS } from "../colors.ts";
import { BodyView, type Style } from "./body.ts";
import { OrbitCamera } from "./camera.ts";
import { type Axis, cut } from "./cut.ts";
import { layout, type Rectangle } from "./layout.ts";
import { Overlay } from "./overlay.ts";
import { pick, type Ray } from "./pick.ts";
import { type Colors, Surroundings } from "./surroundings.ts";

export interface Look {
    style: Style;
    flat: boolean;
    field: FieldName;
    forces: boolean;
    contacts: boolean;
    outside: boolean;
    /** The momentum of the whole, and of each vertex. */
    momenta: boolean;
    each: boolean;
    pins: boolean;
    ground: boolean;
    shadows: boolean;
    follow: boolean;
    /** Direction of the light, degrees about the vertical. */
    light: number;
    /** The axis across which solids are cut, and where, as a part of their size at rest. */
    cut: Axis | "none";
    cutAt: number;
}

interface Pane {
    scene: THREE.Scene;
    surroundings: Surroundings;
    body: BodyView;
    overlay: Overlay;
    geometry: Geometry;
    /** What remains of it after the cut. */
    cut: Geometry;
    frame: Frame | null;
    center: THREE.Vector3;
}

/** Levels of quality, best first. A lower level is used if drawing is slow, for example without a graphics card. */
const QUALITIES = [
    { pixels: 2, shadows: true },
    { pixels: 1, shadows: true },
    { pixels: 1, shadows: false },
    { pixels: 0.75, shadows: false },
    { pixels: 0.5, shadows: false },
];
/** If pictures are further apart than this, ms, twenty times in a row, the next level is used. */
const SLOW = 60;

export class View {
    readonly orbit = new OrbitCamera();
    rectangles: Rectangle[] = [];
    /** Called after each picture. */
    onDrawn: () => void = () => {};
    pictures = 0;

    private readonly renderer: THREE.WebGLRenderer;
    private panes: Pane[] = [];
    private colors: Colors | null = null;
    private dirty = true;
    /** The scene that the camera shows, and whether the camera has to be set when the next positions are known. */
    private shown = "";
    private framing = false;
    private low = 0;
    private high = 1;
    /** Whether there is no graphics card; then pictures are simpler and fewer. */
    readonly software = drawsInSoftware();
    private quality = 0;
    private waited = 0;
    private slow = 0;
    private lastTick = 0;

    /** Throws an error if there is no WebGL. */
    constructor(readonly canvas: HTMLCanvasElement, private look: Look) {
        this.quality = this.software ? 2 : 0;
        this.renderer = new THREE.WebGLRenderer({ canvas, antialias: !this.software, powerPreference: "high-performance" });
        this.renderer.shadowMap.enabled = true;
        this.renderer.shadowMap.type = THREE.PCFShadowMap;
        this.renderer.autoClear = false;
        const tick = (now: number) => {
            requestAnimationFrame(tick);
            this.measure(now);
            if (this.dirty) this.draw();
        };
        requestAnimationFrame(tick);
        new ResizeObserver(() => this.resize()).observe(canvas.parentElement!);
        this.resize();
    }

    invalidate(): void {
        this.dirty = true;
    }

    setColors(colors: Colors): void {
        this.colors = colors;
        for (const [k, pane] of this.panes.entries()) this.recolor(pane, k);
        this.invalidate();
    }

    setLook(look: Look): void {
        const ground = look.ground !== this.look.ground;
        const recut = look.cut !== this.look.cut || look.cutAt !== this.look.cutAt;
        // A copy, so that the next change can be detected.
        this.look = { ...look };
        for (const [k, pane] of this.panes.entries()) {
            if (recut) this.recut(pane);
            pane.body.setStyle(look.style, look.flat);
            pane.body.setColored(look.field !== "none");
            pane.surroundings.light.castShadow = look.shadows && QUALITIES[this.quality]!.shadows;
            pane.surroundings.lightAngle = (look.light * Math.PI) / 180;
            if (ground) pane.surroundings.build(pane.geometry, look.ground);
            this.recolor(pane, k);
            this.refresh(pane);
        }
        this.invalidate();
    }

    setGeometry(list: Geometry[]): void {
        const before = this.panes;
        // Most changes keep the shape. Then the drawn bodies stay, and only pins and obstacles are new.
        this.panes = list.map((geometry, k) => (before[k] && sameShape(before[k].geometry, geometry) ? this.renew(before[k], geometry) : this.make(geometry)));
        for (const pane of before) if (!this.panes.includes(pane)) this.dispose(pane);
        this.setLook(this.look);
        this.resize();
        if (list.length === 0) return;
        this.orbit.setUp(list[0]!.up);
        // A mesh from a file can be in another place than the one before.
        const shown = JSON.stringify(list.map(({ bodies, size, rest }) => [bodies.map(({ name }) => name), size.toPrecision(2), middleOf(rest, size)]));
        this.framing ||= shown !== this.shown;
        this.shown = shown;
        if (this.framing) this.frameAll();
    }

    private make(geometry: Geometry): Pane {
        const remaining = cut(geometry, this.look.cut, this.look.cutAt);
        const pane: Pane = {
            scene: new THREE.Scene(), surroundings: new Surroundings(this.software), body: new BodyView(remaining, this.software), overlay: new Overlay(geometry),
            geometry, cut: remaining, frame: null, center: new THREE.Vector3(),
        };
        pane.scene.add(pane.surroundings.group, pane.body.group, pane.overlay.group);
        pane.surroundings.build(geometry, this.look.ground);
        return pane;
    }

    private recut(pane: Pane): void {
        pane.cut = cut(pane.geometry, this.look.cut, this.look.cutAt);
        pane.scene.remove(pane.body.group);
        pane.body.dispose();
        pane.body = new BodyView(pane.cut, this.software);
        pane.scene.add(pane.body.group);
        const { y, height } = this.rectangles[0] ?? { y: 0, height: 1 };
        pane.body.setPixels((height - y) * this.renderer.getPixelRatio());
    }

    private renew(pane: Pane, geometry: Geometry): Pane {
        const around = ({ obstacles, up }: Geometry) => JSON.stringify([obstacles, up]);
        if (around(pane.geometry) !== around(geometry)) pane.surroundings.build(geometry, this.look.ground);
        if (!sameNumbers(pane.geometry.pinned, geometry.pinned)) {
            pane.scene.remove(pane.overlay.group);
            pane.overlay.dispose();
            pane.overlay = new Overlay(geometry);
            pane.scene.add(pane.overlay.group);
        }
        pane.geometry = geometry;
        pane.cut = { ...geometry, triangles: pane.cut.triangles, kept: pane.cut.kept };
        return pane;
    }

    setFrames(frames: Frame[]): void {
        for (const [k, frame] of frames.entries()) {
            const pane = this.panes[k];
            if (!pane || frame.positions.length !== pane.geometry.rest.length) continue;
            pane.frame = frame;
            this.refresh(pane);
        }
        if (this.framing) this.frameAll();
        else if (this.panes[0]?.frame) this.followBody(this.panes[0]);
        this.framing = false;
        this.invalidate();
    }

    /** Range of the field over all panes, so that equal colours have equal values. */
    setRange(low: number, high: number): void {
        this.low = low;
        this.high = high;
    }

    private refresh(pane: Pane): void {
        const { frame, geometry } = pane;
        centerOf(frame?.positions ?? geometry.rest, pane.center);
        pane.surroundings.follow(pane.center);
        if (!frame) return;
        const field = this.look.field === "material" ? geometry.material : frame.field;
        pane.body.update(frame, field, this.low, this.high);
        pane.overlay.update(frame, this.look, pane.center);
    }

    private readonly lastCenter = new THREE.Vector3();
    private followBody(pane: Pane): void {
        if (this.look.follow) this.orbit.target.add(pane.center).sub(this.lastCenter);
        this.lastCenter.copy(pane.center);
        this.orbit.update();
    }

    frameAll(): void {
        const box = new THREE.Box3();
        const point = new THREE.Vector3();
        for (const pane of this.panes) {
            const x = pane.frame?.positions ?? pane.geometry.rest;
            for (let k = 0; k < x.length; k += 3) box.expandByPoint(point.set(x[k]!, x[k + 1]!, x[k + 2]!));
        }
        if (box.isEmpty()) return;
        const sphere = box.getBoundingSphere(new THREE.Sphere());
        const first = this.rectangles[0] ?? { width: 1, height: 1 };
        const pane = this.panes[0]!;
        centerOf(pane.frame?.positions ?? pane.geometry.rest, this.lastCenter);
        // A body that hangs on pins needs room to swing.
        const swing = pane.geometry.pinned.length > 0 && pane.geometry.pinned.length < 0.1 * pane.geometry.rest.length ? 1.3 : 1;
        this.orbit.frame(sphere.center, swing * Math.max(sphere.radius, 0.55 * pane.geometry.size), first.width / first.height);
        this.invalidate();
    }

    private recolor(pane: Pane, k: number): void {
        if (!this.colors) return;
        const { background } = this.colors;
        pane.scene.background = background;
        pane.scene.fog = new THREE.Fog(background, 8 * pane.geometry.size, 30 * pane.geometry.size);
        pane.surroundings.recolor(this.colors);
        pane.body.setColors(new THREE.Color(PANE_COLORS[k % PANE_COLORS.length]), this.colors.edge);
    }

    private resize(): void {
        const { clientWidth: width, clientHeight: height } = this.canvas.parentElement!;
        if (width === 0 || height === 0) return;
        this.renderer.setPixelRatio(Math.min(devicePixelRatio, QUALITIES[this.quality]!.pixels));
        this.renderer.setSize(width, height);
        this.rectangles = layout(Math.max(this.panes.length, 1), width, height);
        const { y, height: first } = this.rectangles[0]!;
        for (const pane of this.panes) pane.body.setPixels((first - y) * this.renderer.getPixelRatio());
        this.draw();
    }

    /** Draws at once, before a picture of the canvas is taken. */
    draw(): void {
        this.dirty = false;
        const { height } = this.canvas.parentElement!.getBoundingClientRect();
        this.renderer.setScissorTest(true);
        for (const [k, pane] of this.panes.entries()) {
            const at = this.rectangles[k];
            if (!at) continue;
            const bottom = height - at.y - at.height;
            const gap = this.panes.length > 1 ? 1 : 0;
            this.renderer.setViewport(at.x, bottom, at.width, at.height);
            this.renderer.setScissor(at.x + gap, bottom + gap, at.width - 2 * gap, at.height - 2 * gap);
            this.orbit.setAspect(at.width / at.height);
            const fog = pane.scene.fog as THREE.Fog | null;
            if (fog) {
                fog.near = this.orbit.distance + 3 * pane.geometry.size;
                fog.far = 3 * this.orbit.distance + 15 * pane.geometry.size;
            }
            this.renderer.clear();
            this.renderer.render(pane.scene, this.orbit.camera);
        }
        this.pictures += 1;
        this.onDrawn();
    }

    private measure(now: number): void {
        const interval = now - this.lastTick;
        this.lastTick = now;
        // A long time between two ticks can also mean that the page was hidden.
        if (!this.dirty || interval > 1000) return;
        this.waited += 0.1 * (interval - this.waited);
        this.slow = this.waited > SLOW ? this.slow + 1 : 0;
        if (this.slow < 20 || this.quality === QUALITIES.length - 1) return;
        this.slow = 0;
        this.quality += 1;
        this.setLook(this.look);
        this.resize();
    }

    paneAt(x: number, y: number): number {
        return this.rectangles.findIndex((at) => x >= at.x && y >= at.y && x < at.x + at.width && y < at.y + at.height);
    }

    private readonly near = new THREE.Vector3();
    /** The ray from the camera through a point of the window. */
    ray(pane: number, x: number, y: number): Ray {
        const at = this.rectangles[pane]!;
        this.orbit.setAspect(at.width / at.height);
        const { camera } = this.orbit;
        camera.updateMatrixWorld();
        this.near.set((2 * (x - at.x)) / at.width - 1, 1 - (2 * (y - at.y)) / at.height, 0.5).unproject(camera);
        const direction = this.near.sub(camera.position).normalize();
        return { origin: camera.position.toArray() as Vec3, direction: direction.toArray() as Vec3 };
    }

    pick(pane: number, x: number, y: number): number {
        const shown = this.panes[pane];
        if (!shown?.frame) return -1;
        const at = this.rectangles[pane]!;
        const pixel = (2 * Math.tan((this.orbit.camera.fov * Math.PI) / 360)) / at.height;
        return pick(shown.cut, shown.frame.positions, this.ray(pane, x, y), 12 * pixel);
    }

    vertex(pane: number, vertex: number, into: THREE.Vector3): boolean {
        const x = this.panes[pane]?.frame?.positions;
        if (!x || 3 * vertex + 2 >= x.length) return false;
        into.set(x[3 * vertex]!, x[3 * vertex + 1]!, x[3 * vertex + 2]!);
        return true;
    }

    /** The position of a point in pixels of the window. */
    project(pane: number, point: THREE.Vector3): { x: number; y: number } {
        const at = this.rectangles[pane]!;
        this.orbit.setAspect(at.width / at.height);
        this.near.copy(point).project(this.orbit.camera);
        return { x: at.x + ((this.near.x + 1) / 2) * at.width, y: at.y + ((1 - this.near.y) / 2) * at.height };
    }

    drawTool(pane: number, from: THREE.Vector3 | null, along: THREE.Vector3): void {
        this.panes[pane]?.overlay.drawTool(from, along);
        this.invalidate();
    }

    private dispose(pane: Pane): void {
        pane.body.dispose();
        pane.overlay.dispose();
        pane.surroundings.dispose();
    }
}

function drawsInSoftware(): boolean {
    const gl = document.createElement("canvas").getContext("webgl2");
    const info = gl?.getExtension("WEBGL_debug_renderer_info");
    const name = gl && info ? String(gl.getParameter(info.UNMASKED_RENDERER_WEBGL)) : "";
    gl?.getExtension("WEBGL_lose_context")?.loseContext();
    return /swiftshader|llvmpipe|software|basic render/i.test(name);
}

function sameNumbers(a: ArrayLike<number>, b: ArrayLike<number>): boolean {
    if (a.length !== b.length) return false;
    for (let k = 0; k < a.length; k++) if (a[k] !== b[k]) return false;
    return true;
}

function sameShape(a: Geometry, b: Geometry): boolean {
    return (["triangles", "lines", "points", "rest", "tets"] as const).every((name) => sameNumbers(a[name], b[name]));
}

/** The middle of the box around the body at rest, in half sizes. */
function middleOf(rest: Float32Array, size: number): number[] {
    return [0, 1, 2].map((c) => {
        let low = Infinity;
        let high = -Infinity;
        for (let k = c; k < rest.length; k += 3) {
            low = Math.min(low, rest[k]!);
            high = Math.max(high, rest[k]!);
        }
        return Math.round((low + high) / size);
    });
}

function centerOf(x: Float32Array, into: THREE.Vector3): void {
    let sx = 0, sy = 0, sz = 0;
    for (let k = 0; k < x.length; k += 3) {
        sx += x[k]!;
        sy += x[k + 1]!;
        sz += x[k + 2]!;
    }
    const n = Math.max(x.length / 3, 1);
    into.set(sx / n, sy / n, sz / n);
}
