// Anything can be changed while it moves, and taken back.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { share } from "./lab.mjs";

describe("Settings", () => {
    let lab;
    before(async () => {
        ({ lab } = await share("tumbling-rod"));
    });
    after(() => lab?.leave());

    /** Does something, and tells that time and shape went on from where they were. */
    async function goesOn(action, what) {
        const before = await lab.frame();
        await lab.change(action, what);
        const after = await lab.frame();
        assert.ok(after.t >= before.t - 0.1, `${what}: time goes on`);
        return after;
    }

    test("every integrator of the catalogue can be chosen, with its options", async () => {
        const names = await lab.read(() => window.lilyan.lab.catalogue.integrators.map((entry) => entry.name));
        assert.ok(names.length > 5);
        for (const name of ["variational", "backward-euler", "energy-momentum", "verlet"]) {
            await goesOn(() => lab.choose("integrator", name), name);
            assert.equal(await lab.setting("integrator.name"), name);
            const options = await lab.read(() => window.lilyan.lab.catalogue.integrators.find((entry) => entry.name === window.lilyan.lab.panes[0].integrator).options.map((option) => option.name));
            for (const option of options) assert.ok((await lab.control(`option-${option}`).count()) > 0, `${name} has a control for ${option}`);
        }
        await goesOn(() => lab.choose("integrator", "variational"), "variational");
        await goesOn(() => lab.type("option-alpha-number", 0.6), "alpha");
        assert.equal(await lab.setting("integrator.alpha"), 0.6);
        await lab.shot("settings-integrator");
    });

    test("step, material and its constants, damping", async () => {
        await goesOn(() => lab.type("step-size-number", 0.002), "the step");
        assert.equal(await lab.setting("time.step"), 0.002);
        await goesOn(() => lab.choose("material-model", "stable-neo-hookean"), "the model");
        await goesOn(() => lab.type("young-number", "2e5"), "E");
        await goesOn(() => lab.type("poisson-number", 0.2), "nu");
        await goesOn(() => lab.type("density-number", 800), "rho");
        assert.deepEqual(await lab.setting("body.0.material"), { model: "stable-neo-hookean", E: 2e5, nu: 0.2, rho: 800 });
        await goesOn(() => lab.choose("damping-model", "viscous"), "damping");
        await goesOn(() => lab.type("damping-time-number", 0.02), "its strength");
        assert.equal(await lab.setting("body.0.damping.time"), 0.02);
        await goesOn(() => lab.choose("damping-model", "none"), "no damping");
        assert.equal(await lab.setting("body.0.damping"), undefined);
    });

    test("undo says what it takes back, and takes it back; the motion goes on", async () => {
        await goesOn(() => lab.type("young-number", "3e5"), "E");
        await lab.says("undo-text", /E/);
        assert.match(await lab.control("undo").getAttribute("title"), /Undo: .*Ctrl\+Z/);
        await lab.page.mouse.click(640, 60);
        await goesOn(() => lab.page.keyboard.press("Control+z"), "undo");
        assert.equal(await lab.setting("body.0.material.E"), 2e5);
        await goesOn(() => lab.click("undo"), "undo by click");
        assert.equal(await lab.setting("body.0.damping.time"), 0.02);
    });

    test("a slider that is dragged sends on the way, and lands where it is let go", async () => {
        const stiffness = await lab.setting("body.0.material.E");
        const box = await lab.control("young").boundingBox();
        const y = box.y + box.height / 2;
        const { mouse } = lab.page;
        const { version } = await lab.read(() => ({ version: window.lilyan.lab.version }));
        await mouse.move(box.x + 0.3 * box.width, y);
        await mouse.down();
        for (const part of [0.34, 0.38, 0.42]) {
            await lab.change(() => mouse.move(box.x + part * box.width, y), "a change on the way");
        }
        await mouse.up();
        await lab.until((wanted) => Math.abs(Math.log10(window.lilyan.lab.panes[0].scene.body[0].material.E / wanted)) < 0.3, "the value under the hand", 10 ** (2 + 0.42 * 10));
        assert.ok((await lab.read(() => window.lilyan.lab.version)) - version >= 2, "it changed on the way");
        await lab.until(() => /stiffness/.test(window.lilyan.lab.status.can_undo), "what can be undone");
        await goesOn(() => lab.click("undo"), "undo");
        assert.equal(await lab.setting("body.0.material.E"), stiffness, "one undo takes the whole way back");
    });

    test("floor with stiffness; speed", async () => {
        await goesOn(() => lab.control("floor").check(), "a floor");
        assert.equal((await lab.setting("contact.0")).kind, "plane");
        assert.equal(await lab.read(() => window.lilyan.lab.geometry[0].obstacles[0].kind), "plane");
        await goesOn(() => lab.type("floor-stiffness-number", "1e5"), "its stiffness");
        assert.equal((await lab.setting("contact.0")).stiffness, 1e5);
        await lab.shot("settings-floor");
        await goesOn(() => lab.control("floor").uncheck(), "no floor");
        assert.equal(await lab.setting("contact"), undefined);
        await lab.open("panel-clock");
        await lab.type("speed-number", 0.5);
        await lab.until(() => window.lilyan.lab.status.speed === 0.5, "half speed");
        await lab.control("as-fast").check();
        await lab.until(() => window.lilyan.lab.status.speed === null, "as fast as possible");
        await lab.control("as-fast").uncheck();
        await lab.until(() => window.lilyan.lab.status.speed === 1, "real time");
    });

    test("another mesh of the same shape takes the motion over; what cannot is told", async () => {
        await lab.open("panel-mesh");
        const before = await lab.read(() => window.lilyan.lab.panes[0].elements);
        await goesOn(() => lab.click("refine-finer"), "a finer mesh");
        assert.ok((await lab.read(() => window.lilyan.lab.panes[0].elements)) > 4 * before);
        await goesOn(() => lab.type("cells-x-number", 5), "five cells");
        assert.equal((await lab.setting("body.0.mesh.box.cells"))[0], 5);
        await lab.open("panel-tree");
        const unfold = (path) => lab.control(`fold-${path}`).click();
        // The rod's probe would lie outside of a shorter rod.
        for (const key of ["probe", "probe.0"]) await unfold(key);
        for (const key of ["name", "body", "at"]) assert.ok((await lab.control(`tree-probe.0.${key}`).count()) === 1, key);
        await lab.change(() => lab.click("remove-probe.0"), "no probe");
        for (const key of ["body", "body.0", "body.0.mesh", "body.0.mesh.box"]) await unfold(key);
        await lab.shot("settings-tree");
        await lab.change(() => lab.type("tree-body.0.mesh.box.size", "[2, 2, 2]"));
        assert.deepEqual(await lab.setting("body.0.mesh.box.size"), [2, 2, 2]);
        await lab.until(() => document.querySelector("[data-test=message-notice]"), "a notice that the shape is new");
        await lab.shot("settings-notice");
    });

    test("a value that cannot be is refused in words, and nothing changes", async () => {
        const before = await lab.setting("body.0.material.nu");
        await lab.type("poisson-number", 0.7);
        await lab.until(() => document.querySelector("[data-test=message-error]"), "an error");
        const text = await lab.control("message-error").first().textContent();
        assert.match(text, /nu|Poisson/i);
        assert.equal(await lab.setting("body.0.material.nu"), before);
        await lab.shot("settings-refused");
    });

    test("the settings are still there when the page is loaded again", async () => {
        const scene = await lab.read(() => window.lilyan.lab.panes[0].scene);
        await lab.page.reload();
        await lab.until(() => window.lilyan?.lab.frames.length > 0, "a frame");
        assert.deepEqual(await lab.read(() => window.lilyan.lab.panes[0].scene), scene);
        assert.deepEqual(lab.problems, []);
    });
});
