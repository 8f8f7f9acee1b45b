// Hands on the body.
import assert from "node:assert/strict";
import { after, before, beforeEach, describe, test } from "node:test";
import { share } from "./lab.mjs";

describe("Hands on the body", () => {
    let lab;
    before(async () => {
        ({ lab } = await share());
        await lab.open("panel-clock");
        await lab.type("speed-number", 0.25);
    });
    beforeEach(async () => {
        await lab.scene("tumbling-rod");
    });
    after(() => lab?.leave());

    const momentum = async () => (await lab.frame()).momentum;
    const difference = (a, b) => Math.hypot(...a.map((x, k) => x - b[k]));

    test("a pull moves momentum into the body; letting go keeps it", async () => {
        const before = await momentum();
        await lab.drag(await lab.place(), 140, -60, async () => {
            await lab.until(() => window.lilyan.lab.frames[0].grab, "a pull");
            const { force, vertex } = (await lab.frame()).grab;
            assert.ok(Math.hypot(...force) > 0 && vertex >= 0);
            await lab.letPass(0.3);
            await lab.shot("touch-pull");
        });
        await lab.until(() => window.lilyan.lab.frames[0].grab === null, "the end of the pull");
        const free = await momentum();
        assert.ok(difference(before, free) > 1, "momentum came in");
        await lab.letPass(0.3);
        const later = await lab.frame();
        assert.ok(difference(free, later.momentum) < 1e-9 * later.scale.momentum, "and stays");
    });

    test("a click pins, and pins hold; a second click frees", async () => {
        await lab.pause();
        await lab.page.keyboard.press("p");
        assert.equal(await lab.control("tool-pin").getAttribute("aria-checked"), "true");
        await lab.type("brush-number", 0.2);
        const at = await lab.place();
        await lab.change(() => lab.page.mouse.click(at.x, at.y));
        const pinned = await lab.read(() => [...window.lilyan.lab.geometry[0].pinned]);
        assert.ok(pinned.length > 1, "the brush took several");
        const where = () => lab.read((v) => [...window.lilyan.lab.frames[0].positions.subarray(3 * v, 3 * v + 3)], pinned[0]);
        const held = await where();
        await lab.click("play");
        await lab.letPass(0.3);
        assert.deepEqual(await where(), held);
        await lab.shot("touch-pinned");
        await lab.says("undo-text", /pin/);
        await lab.change(() => lab.click("unpin-all"));
        assert.equal((await lab.read(() => window.lilyan.lab.geometry[0].pinned.length)), 0);
        await lab.letPass(0.1);
        assert.notDeepEqual(await where(), held);
        await lab.type("brush-number", 0);
    });

    test("a force is drawn, acts, and goes away on a click", async () => {
        await lab.pause();
        await lab.click("tool-force");
        const at = await lab.place();
        await lab.change(() => lab.drag(at, 0, -80, async () => {
            await lab.says("tip", /N$/);
            await lab.shot("touch-force");
        }));
        const [load] = await lab.setting("load");
        assert.ok(load.force[1] > 0, "upwards, as drawn");
        const before = await momentum();
        await lab.click("play");
        await lab.letPass(0.2);
        assert.ok((await momentum())[1] > before[1]);
        await lab.pause();
        await lab.change(() => lab.click("undo"));
        assert.equal(await lab.setting("load"), undefined);
    });

    test("a kick gives the momentum that is shown, at once", async () => {
        await lab.pause();
        await lab.page.keyboard.press("k");
        const before = await momentum();
        const { t } = await lab.frame();
        let told = "";
        await lab.drag(await lab.place(), 100, 0, async () => {
            told = await lab.control("tip").textContent();
            await lab.shot("touch-kick");
        });
        await lab.until((old) => Math.hypot(...window.lilyan.lab.frames[0].momentum.map((x, k) => x - old[k])) > 1e-6, "a kick", before);
        const [number, unit] = told.split(" ");
        const size = Number(number) * (unit === "kN" ? 1e3 : 1);
        assert.ok(Math.abs(difference(await momentum(), before) / size - 1) < 0.02, `${told} against ${difference(await momentum(), before)}`);
        assert.equal((await lab.frame()).t, t);
    });

    test("a throw moves everything; the angular momentum about the middle stays", async () => {
        await lab.pause();
        await lab.page.keyboard.press("t");
        const before = await momentum();
        await lab.drag(await lab.place(), 0, -100);
        await lab.until((old) => window.lilyan.lab.frames[0].momentum[1] > old[1] + 1, "a throw", before);
        await lab.click("play");
        const thrown = await momentum();
        await lab.letPass(0.2);
        const later = await lab.frame();
        assert.ok(difference(thrown, later.momentum) < 1e-9 * later.scale.momentum);
        await lab.shot("touch-thrown");
    });

    test("the numbers of a vertex are seen and set, also inside, and arrows show them", async () => {
        await lab.scene("cube-at-rest");
        await lab.pause();
        await lab.page.keyboard.press("v");
        const shown = () => lab.read(() => window.lilyan.lab.frames[0].watched);
        const set = async (row, values) => {
            for (const [k, axis] of ["x", "y", "z"].entries()) await lab.control(`vertex-${row}-${axis}`).fill(String(values[k]));
            await lab.control(`vertex-${row}-z`).press("Enter");
        };
        const is = (name, values) => lab.until(([key, wanted]) => wanted.every((x, k) => Math.abs(window.lilyan.lab.frames[0].watched?.[key][k] - x) < 1e-9), `${name} ${values}`, [name, values]);
        const at = await lab.place();
        await lab.page.mouse.click(at.x, at.y);
        await lab.until(() => window.lilyan.lab.frames[0].watched, "a chosen vertex");
        await lab.says("vertex-facts", /of cube/);
        await set("momentum", [1, 2, 3]);
        await is("momentum", [1, 2, 3]);
        assert.ok(difference(await momentum(), [1, 2, 3]) < 1e-9, "all the others are at rest");
        await set("velocity", [0, 0.5, 0]);
        await is("velocity", [0, 0.5, 0]);

        // The cut leaves half of the cube, and the vertex in its middle is picked.
        await lab.change(() => lab.click("cut-z"), "the vertices inside");
        const inside = await lab.read(() => {
            const { rest } = window.lilyan.lab.geometry[0];
            for (let v = 0; v < rest.length / 3; v++) if ([0, 1, 2].every((k) => rest[3 * v + k] === 0.5)) return v;
            return -1;
        });
        const middle = await lab.place(0, inside);
        await lab.page.mouse.click(middle.x, middle.y);
        await lab.until((v) => window.lilyan.lab.frames[0].watched?.vertex === v, "the vertex in the middle", inside);
        await lab.shot("touch-vertex-cut");
        await lab.change(() => set("force", [0, 0, 5]), "a force");
        await is("force", [0, 0, 5]);
        await lab.type("vertex-seconds-number", 0);
        await lab.change(() => set("place", [0.55, 0.5, 0.5]), "a place");
        await is("position", [0.55, 0.5, 0.5]);
        assert.ok((await shown()).held);
        await lab.change(() => lab.click("vertex-free"), "free again");
        await lab.until(() => !window.lilyan.lab.frames[0].watched.held, "free again");

        const arrows = () => lab.read(() => ["outside", "each"].map((name) => window.lilyan.view.panes[0].overlay[name].mesh.count));
        assert.deepEqual(await arrows(), [0, 0]);
        await lab.control("show-outside").check();
        await lab.control("show-each").check();
        await lab.until(() => window.lilyan.view.panes[0].overlay.outside.mesh.count === 1 && window.lilyan.view.panes[0].overlay.each.mesh.count > 0, "arrows");
        await lab.shot("touch-vertex-arrows");
        await lab.control("show-outside").uncheck();
        await lab.control("show-each").uncheck();
        await lab.until(() => window.lilyan.lab.frames[0].outside === null && window.lilyan.lab.frames[0].momenta === null, "no arrows");
        assert.deepEqual(await arrows(), [0, 0]);
        await lab.change(() => lab.click("cut-none"), "the whole");
        await lab.click("vertex-leave");
        await lab.until(() => window.lilyan.lab.frames[0].watched === null, "no vertex");
        await lab.page.keyboard.press("g");
    });

    test("a tetrahedron at rest is sound, and goes where it is pushed", async () => {
        await lab.scene("tetrahedron");
        await lab.letPass(0.1);
        assert.ok(await lab.control("failure").isHidden());
        assert.equal(await lab.control("verdict-0-energy").textContent().then((text) => /at rest/.test(text)), true);
        await lab.read(() => window.lilyan.lab.send({ do: "momentum", pane: 0, vertices: [3], momentum: [0, 0, 20] }));
        await lab.until(() => window.lilyan.lab.frames[0].momentum[2] > 19.9, "a push");
        await lab.letPass(0.2);
        assert.ok(difference(await momentum(), [0, 0, 20]) < 1e-9);
        assert.ok(await lab.control("failure").isHidden());
    });

    test("gravity on and off, and a monopole, with strength", async () => {
        await lab.page.keyboard.press("g");
        await lab.change(() => lab.click("gravity"));
        assert.deepEqual(await lab.setting("environment.gravity"), [0, -9.81, 0]);
        await lab.letPass(0.2);
        assert.ok((await momentum())[1] < -1, "it falls");
        await lab.change(() => lab.type("gravity-strength-number", 3));
        assert.deepEqual(await lab.setting("environment.gravity"), [0, -3, 0]);
        await lab.change(() => lab.page.keyboard.press("j"));
        assert.equal(await lab.setting("environment.gravity"), undefined);
        const free = await momentum();
        await lab.letPass(0.2);
        const later = await lab.frame();
        assert.ok(difference(free, later.momentum) < 1e-9 * later.scale.momentum, "it flies on");
        await lab.change(() => lab.click("environment-monopole"));
        const strength = await lab.setting("environment.monopole.strength");
        assert.ok(strength > 0);
        await lab.change(() => lab.slide("monopole-strength", 1));
        assert.ok((await lab.setting("environment.monopole.strength")) > strength);
        const before = await momentum();
        await lab.letPass(0.1);
        assert.ok(difference(before, await momentum()) > 1e-3, "it is attracted");
        await lab.change(() => lab.click("environment-none"));
        assert.equal(await lab.setting("environment.monopole"), undefined);
        assert.deepEqual(lab.problems, []);
    });
});
