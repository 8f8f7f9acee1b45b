// A stand-in for the lab: serves dist/ and speaks PROTOCOL.md with a box that wobbles by formula.
// For work on the page alone:  npm run build && npm run mock
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { WebSocketServer } from "ws";

const ROOT = fileURLToPath(new URL("../dist/", import.meta.url));
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
const CSP = "default-src 'self'; frame-ancestors 'none'";

/** The surface of a box of cells: positions and triangles. */
export function box(size, cells) {
    const index = new Map();
    const rest = [];
    const at = (i, j, k) => {
        const key = `${i},${j},${k}`;
        if (!index.has(key)) {
            index.set(key, rest.length / 3);
            rest.push((i * size[0]) / cells[0], (j * size[1]) / cells[1], (k * size[2]) / cells[2]);
        }
        return index.get(key);
    };
    const triangles = [];
    for (let axis = 0; axis < 3; axis++) {
        const [u, v] = [(axis + 1) % 3, (axis + 2) % 3];
        for (const side of [0, cells[axis]]) {
            for (let a = 0; a < cells[u]; a++) {
                for (let b = 0; b < cells[v]; b++) {
                    const corner = (da, db) => {
                        const c = [0, 0, 0];
                        c[axis] = side;
                        c[u] = a + da;
                        c[v] = b + db;
                        return at(...c);
                    };
                    const quad = [corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1)];
                    if (side === 0) quad.reverse();
                    triangles.push(quad[0], quad[1], quad[2], quad[0], quad[2], quad[3]);
                }
            }
        }
    }
    return { rest: Float32Array.from(rest), triangles: Uint32Array.from(triangles) };
}

/** A binary message as the server writes it. */
export function encode(kind, json, arrays) {
    json.arrays = arrays.map(({ pane, name, data }) => ({ pane, name, type: data instanceof Uint32Array ? "u32" : "f32", length: data.length }));
    let text = Buffer.from(JSON.stringify(json));
    text = Buffer.concat([text, Buffer.alloc((4 - (text.length % 4)) % 4, " ")]);
    const head = Buffer.alloc(8);
    head.writeUInt32LE(kind, 0);
    head.writeUInt32LE(text.length, 4);
    return Buffer.concat([head, text, ...arrays.map(({ data }) => Buffer.from(data.buffer, data.byteOffset, data.byteLength))]);
}

const scene = () => ({
    title: "Mock", time: { end: 8, step: 0.004 }, integrator: { name: "verlet" },
    body: [{ name: "rod", mesh: { box: { size: [3.5, 1, 1], cells: [14, 4, 4] } }, material: { model: "neo-hookean", E: 1e5, nu: 0.3, rho: 1000 } }],
});
const CATALOGUE = {
    integrators: [
        { name: "variational", summary: "symplectic", explicit: false, options: [
            { name: "alpha", summary: "where forces are taken", kind: "number", default: 0.5, choices: null },
            { name: "solve", summary: "how", kind: "word", default: "minimize", choices: ["minimize", "root"] },
            { name: "reinject", summary: "residual", kind: "flag", default: true, choices: null }] },
        { name: "verlet", summary: "explicit, symplectic", explicit: true, options: [] },
    ],
    materials: [{ name: "neo-hookean", summary: "" }, { name: "stvk", summary: "" }],
    damping: [{ name: "viscous", summary: "Kelvin–Voigt", numbers: [{ name: "time", summary: "Relaxation time", unit: "s", example: 0.01 }], start: { model: "viscous", time: 0.01 } }],
    contacts: [],
    scenes: [{ name: "tumbling-rod", summary: "an elastic rod tumbling in space" }],
    gallery: [{ name: "pendulum", title: "Pendulum", summary: "three integrators", look: "which one stops" }],
    coarsening: [{ name: "homogenize", summary: "tensors" }],
    meshes: [{ name: "Gmsh", summary: "tets", extensions: ["msh"] }],
};

class Session {
    panes = [{ scene: scene() }];
    undo = [];
    running = true;
    t = 0;
    grab = null;
    watch = { pane: 0, vertex: null };
    show = { field: "none", forces: false, contacts: true };

    constructor(socket) {
        this.socket = socket;
        this.tell({ event: "hello", session: "mock", version: "0", catalogue: CATALOGUE, limits: { tets: 1e5, panes: 4, upload_bytes: 1e8 } });
        this.status();
        this.describe();
        this.timer = setInterval(() => this.frame(), 33);
        socket.on("message", (data) => this.receive(JSON.parse(data)));
        socket.on("close", () => clearInterval(this.timer));
    }

    tell(event) {
        this.socket.send(JSON.stringify(event));
    }

    status() {
        this.tell({ event: "status", running: this.running, speed: 1, budget_ms: 16, realtime: false, can_undo: this.undo.at(-1)?.text ?? null, show: this.show });
    }

    describe() {
        this.shapes = this.panes.map(({ scene }) => box(scene.body[0].mesh.box.size, scene.body[0].mesh.box.cells));
        const yes = { energy: true, linear: true, angular: true };
        this.tell({ event: "panes", panes: this.panes.map(({ scene }, k) => ({
            title: scene.title, label: `${scene.integrator.name}`, scene, integrator: scene.integrator.name, step: scene.time.step, elements: 1000, vertices: this.shapes[k].rest.length / 3,
            conserved: yes, keeps: yes, allowed: { energy: 0.02, linear: 1e-8, angular: 1e-8 }, stability: scene.integrator.name === "verlet" ? { limit: 0.01, share: scene.time.step / 0.01, text: "The step is near its limit." } : null, warnings: [], notes: [],
        })) });
        const arrays = this.shapes.flatMap(({ rest, triangles }, pane) => [
            { pane, name: "triangles", data: triangles }, { pane, name: "pinned", data: Uint32Array.from(this.panes[pane].pinned ?? []) },
            { pane, name: "material", data: new Float32Array(rest.length / 3).fill(5) }, { pane, name: "rest", data: rest },
        ]);
        this.socket.send(encode(1, { panes: this.panes.map(() => ({ bodies: [{ name: "rod", first: 0, count: 1 }], obstacles: [], up: [0, 1, 0], size: 3.5, bounds: [[0, 0, 0], [3.5, 1, 1]] })) }, arrays));
    }

    frame() {
        if (this.running) this.t += 1 / 30;
        const arrays = [];
        const panes = this.shapes.map(({ rest }, pane) => {
            const x = new Float32Array(rest.length);
            const field = new Float32Array(rest.length / 3);
            const w = Math.sqrt(this.panes[pane].scene.body[0].material.E / 1e5) * 3;
            for (let k = 0; k < rest.length; k += 3) {
                const bend = 0.2 * Math.sin(w * this.t) * Math.cos((Math.PI * rest[k]) / 3.5) ** 2;
                const turn = 0.4 * this.t;
                const [px, py, pz] = [rest[k] - 1.75, rest[k + 1] + bend, rest[k + 2]];
                x[k] = px * Math.cos(turn) - pz * Math.sin(turn);
                x[k + 1] = py;
                x[k + 2] = px * Math.sin(turn) + pz * Math.cos(turn);
                field[k / 3] = Math.abs(bend);
            }
            arrays.push({ pane, name: "positions", data: x });
            if (this.show.field !== "none") arrays.push({ pane, name: "field", data: field });
            if (this.show.forces) arrays.push({ pane, name: "forces", data: x });
            const elastic = 50 * Math.sin(w * this.t) ** 2;
            const lost = pane * 5 * Math.min(this.t, 5);
            return {
                t: this.t, step: Math.round(this.t / 0.004), energy: { kinetic: 100 - elastic - lost, elastic, gravity: 0, other: 0, total: 100 - lost, work: 0, physical: 0, numerical: lost },
                momentum: [0, 1e-14, 0], angular: [100, 50, 200], scale: { momentum: 30, angular: 240 }, round_off: { energy: 1e-12, momentum: 1e-12, angular: 1e-12 }, cost_ms: 1 + 0.1 * Math.random(), newton: 3, behind: 0, realtime: null, cuts: null, cut: null,
                grab: this.grab && this.grab.pane === pane ? { vertex: this.grab.vertex, to: this.grab.to, force: 123.4 } : null, range: [0, 0.2], watched: this.watched(pane, x),
            };
        });
        if (this.socket.bufferedAmount < 1e6) this.socket.send(encode(2, { number: 0, panes }, arrays));
    }

    watched(pane, x) {
        const { vertex } = this.watch;
        if (this.watch.pane !== pane || vertex === null) return null;
        return { vertex, body: "rod", number: vertex, mass: 2.5, position: [...x.subarray(3 * vertex, 3 * vertex + 3)], velocity: [0, 0.4, 0], momentum: [0, 1, 0], force: [0, 0, 0], held: false };
    }

    change(text, action) {
        this.undo.push({ text, panes: structuredClone(this.panes) });
        action();
        this.describe();
        this.status();
    }

    receive(message) {
        const does = {
            play: () => (this.running = true),
            pause: () => (this.running = false),
            step: () => (this.t += 0.004),
            reset: () => (this.t = 0),
            undo: () => {
                this.panes = this.undo.pop().panes;
                this.describe();
            },
            show: () => {
                const { do: _, ...show } = message;
                this.show = show;
            },
            watch: () => (this.watch = message),
            grab: () => (this.grab = message),
            release: () => (this.grab = null),
            split: () => this.change("adding a pane", () => this.panes.push(structuredClone(this.panes.at(-1)))),
            close: () => this.change("closing a pane", () => this.panes.splice(message.pane, 1)),
            set: () => this.change(message.changes.map(({ path }) => path).join(", "), () => {
                for (const pane of message.pane === null ? this.panes : [this.panes[message.pane]]) for (const { path, value } of message.changes) assign(pane.scene, path, value);
            }),
            pin: () => this.change("a pin", () => (this.panes[message.pane].pinned = message.vertices)),
            kick: () => this.tell({ event: "failure", pane: 0, text: "The body flew apart at t = 1.2 s.", remedies: [{ label: "Halve the step", messages: [{ do: "play" }] }] }),
            save: () => this.tell({ event: "file", name: "mock.toml", text: "title = \"Mock\"\n" }),
        }[message.do];
        if (does) does();
        else this.tell({ event: "error", text: `The mock does not know “${message.do}”.`, request: message.do });
        this.status();
    }
}

function assign(target, path, value) {
    const keys = path.split(".");
    const last = keys.pop();
    for (const key of keys) target = target[key] ??= {};
    if (value === null) delete target[last];
    else target[last] = value;
}

export function serve(port) {
    const server = createServer(async (request, answer) => {
        const path = new URL(request.url, "http://x").pathname;
        const name = path === "/" ? "index.html" : path.slice(1);
        try {
            if (!/^[\w.-]+$/.test(name)) throw new Error("no such file");
            const data = await readFile(ROOT + name);
            answer.writeHead(200, { "content-type": TYPES[name.slice(name.lastIndexOf("."))] ?? "application/octet-stream", "content-security-policy": CSP });
            answer.end(data);
        } catch {
            answer.writeHead(404).end();
        }
    });
    new WebSocketServer({ server, path: "/socket" }).on("connection", (socket) => new Session(socket));
    return new Promise((resolve) => server.listen(port, "127.0.0.1", () => resolve(server)));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const port = Number(process.env.PORT ?? 8123);
    await serve(port);
    console.log(`http://127.0.0.1:${port}/#token=mock`);
}
