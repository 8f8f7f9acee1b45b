// Hands on the body.
import assert from "node:assert/strict";
import { after, before, beforeEach, test } from "node:test";
import { openPage, startBrowser, startProgram } from "./lab.mjs";

let program, browser, lab;
before(async () => {
    program = await startProgram(["tumbling-rod"]);
    browser = await startBrowser();
    lab = await openPage(browser, program.url);
    await lab.open("panel-clock");
    await lab.type("speed-number", 0.25);
});
beforeEach(async () => {
    await lab.scene("tumbling-rod");
});
after(async () => {
    await browser?.close();
    await program?.stop();
});

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
    assert.match(await lab.control("undo-text").textContent(), /pin/);
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
        assert.match(await lab.control("tip").textContent(), /N$/);
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
