// How many pictures come, and how soon a change is seen. The figures are told; LILYAN_SPEED=1 makes them binding, which is
// fair only with an optimised program on a machine that does nothing else.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import WebSocket from "ws";
import { share } from "./lab.mjs";

const BINDING = process.env.LILYAN_SPEED === "1";
/** Changes whose delay is measured, and how long pictures are counted, ms. */
const CHANGES = BINDING ? 40 : 8;
const COUNTED = BINDING ? 5000 : 1000;

describe("Speed", () => {
    let program, lab;
    before(async () => {
        ({ program, lab } = await share("tumbling-rod"));
    });
    after(() => lab?.leave());

    /** A rod of so many tets, coarse or fine. */
    async function cut(cells) {
        await lab.scene("tumbling-rod");
        await lab.change(() => lab.read((n) => window.lilyan.lab.set("body.0.mesh.box.cells", n), cells), "a finer rod");
        return lab.read(() => window.lilyan.lab.panes[0].elements);
    }

    /** A client that takes messages in and does nothing with them. */
    async function receiver() {
        const socket = new WebSocket(`${program.origin.replace("http", "ws")}/socket?token=${program.token}`);
        const client = { frames: 0, version: -1, newer: () => {}, socket };
        socket.on("message", (data, binary) => {
            if (!binary) return;
            const [kind, length] = [data.readUInt32LE(0), data.readUInt32LE(4)];
            const { version } = JSON.parse(data.subarray(8, 8 + length).toString());
            if (kind === 1) client.version = version;
            else client.frames += 1;
            if (kind === 2) client.newer(version);
        });
        await new Promise((resolve) => socket.on("open", resolve));
        client.opened = new Promise((resolve) => (client.newer = resolve));
        client.set = (path, value) => new Promise((resolve) => {
            const [start, before] = [performance.now(), client.version];
            client.newer = (version) => version > before && resolve(performance.now() - start);
            socket.send(JSON.stringify({ do: "set", pane: null, changes: [{ path, value }] }));
        });
        return client;
    }
    const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

    test("frames per second, and the delay of a change, for a client that only receives", async (t) => {
        await lab.pause();
        const client = await receiver();
        await client.opened;
        await client.set("body.0.mesh.box.cells", [14, 8, 8]);
        const delays = [];
        for (let k = 0; k < CHANGES; k++) {
            delays.push(await client.set("body.0.material.E", 1e5 + k));
            await wait(50);
        }
        delays.sort((a, b) => a - b);
        const p95 = delays[Math.floor(0.95 * CHANGES)];
        await client.set("body.0.mesh.box.cells", [19, 9, 10]);
        client.frames = 0;
        await wait(COUNTED);
        while (client.frames === 0) await wait(100);
        const rate = (1000 * client.frames) / COUNTED;
        client.socket.close();
        t.diagnostic(`10260 tets: ${rate.toFixed(1)} frames per second; 5376 tets: ${delays[CHANGES >> 1].toFixed(0)} ms from a change to its frame, p95 ${p95.toFixed(0)} ms`);
        if (BINDING) assert.ok(rate >= 30 && p95 < 100, `${rate} frames per second, ${p95} ms`);
    });

    test("pictures per second with ten thousand tets and no graphics card", async (t) => {
        const tets = await cut([19, 9, 10]);
        assert.ok(tets > 10_000);
        const [frames, pictures] = await lab.read((counted) => new Promise((resolve) => {
            const { lab, view } = window.lilyan;
            let frames = 0;
            lab.on("frame", () => void (frames += 1));
            const before = view.pictures;
            const began = performance.now();
            const end = () => {
                const seconds = (performance.now() - began) / 1000;
                if (1000 * seconds < counted || view.pictures === before) return void setTimeout(end, 100);
                resolve([frames / seconds, (view.pictures - before) / seconds]);
            };
            end();
        }), COUNTED);
        t.diagnostic(`${tets} tets: ${frames.toFixed(1)} frames received, ${pictures.toFixed(1)} pictures drawn per second`);
        await lab.shot("speed-10k");
        assert.ok(pictures > 0);
        if (BINDING) assert.ok(pictures >= 10, `${pictures} pictures per second`);
    });

    test("from a slider to the first changed frame with five thousand tets", async (t) => {
        const tets = await cut([14, 8, 8]);
        assert.ok(tets > 5000);
        const delays = await lab.read(async (changes) => {
            const { lab } = window.lilyan;
            const range = document.querySelector("[data-test=young]");
            const list = [];
            let done = null;
            lab.on("frame", () => {
                if (done && lab.frameVersion > done.version) done.resolve(performance.now() - done.start);
            });
            for (let k = 0; k < changes; k++) {
                list.push(await new Promise((resolve) => {
                    done = { version: lab.version, start: performance.now(), resolve };
                    range.value = String(300 + (k % 2));
                    range.dispatchEvent(new Event("input", { bubbles: true }));
                    range.dispatchEvent(new Event("change", { bubbles: true }));
                }));
                done = null;
                await new Promise((resolve) => setTimeout(resolve, 100));
            }
            return list.toSorted((a, b) => a - b);
        }, CHANGES);
        const p95 = delays[Math.floor(0.95 * delays.length)];
        t.diagnostic(`${tets} tets: median ${delays[delays.length >> 1].toFixed(0)} ms, p95 ${p95.toFixed(0)} ms`);
        if (BINDING) assert.ok(p95 < 100, `${p95} ms`);
    });

    test("what the page itself does for a frame of fifty thousand tets", async (t) => {
        const tets = await cut([52, 13, 13]);
        assert.ok(tets > 50_000);
        await lab.choose("field", "von_mises");
        await lab.until(() => window.lilyan.lab.frames[0].field?.length > 0, "a frame with colours");
        // The same frame again and again, while nothing else has to be done: reading it, filling buffers, curves.
        const buffer = lab.read(() => new Promise((resolve) => {
            const { connection } = window.lilyan.lab;
            const receive = connection.receive;
            connection.receive = function (data) {
                if (typeof data !== "string" && new Uint32Array(data, 0, 1)[0] === 2) {
                    window.kept = data.slice(0);
                    connection.receive = receive;
                    resolve(data.byteLength);
                }
                receive.call(connection, data);
            };
        }));
        const bytes = await buffer;
        await lab.pause();
        const [frames, curves] = await lab.read((repeats) => {
            const { lab, truth } = window.lilyan;
            const time = (work) => {
                const list = [];
                for (let k = 0; k < repeats; k++) {
                    const start = performance.now();
                    work();
                    list.push(performance.now() - start);
                }
                return list.toSorted((a, b) => a - b)[repeats >> 1];
            };
            truth.pace = Infinity;
            const frames = time(() => lab.connection.receive(window.kept.slice(0)));
            return [frames, time(() => truth.draw())];
        }, BINDING ? 200 : 20);
        t.diagnostic(`${tets} tets, ${(bytes / 1e3).toFixed(0)} kB a frame: ${frames.toFixed(2)} ms to read it and fill buffers, ${curves.toFixed(2)} ms for all curves (12 times a second)`);
        if (BINDING) assert.ok(frames + curves < 12, `${frames} + ${curves} ms of the 16 that there are`);
    });
});
