// What is seen, and moving about in it.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openPage, share, SIZE, startBrowser } from "./lab.mjs";

describe("The picture", () => {
    let program, lab;
    before(async () => {
        ({ program, lab } = await share("spot-landing"));
    });
    after(() => lab?.leave());

    const camera = () => lab.read(() => {
        const { camera, target, distance } = window.lilyan.view.orbit;
        return { eye: camera.position.toArray(), target: target.toArray(), distance };
    });
    const moved = (a, b) => Math.hypot(...a.map((x, k) => x - b[k]));

    test("shaded, with edges, wire and points", async () => {
        for (const style of ["edges", "wire", "points", "shaded"]) {
            await lab.click(`style-${style}`);
            assert.equal(await lab.control(`style-${style}`).getAttribute("aria-checked"), "true");
            await lab.shot(`view-${style}`);
        }
    });

    test("colours by stress, energy, speed and material, with a bar", async () => {
        for (const field of ["von_mises", "energy", "speed", "material"]) {
            await lab.choose("field", field);
            await lab.until((wanted) => window.lilyan.lab.status.show.field === wanted && window.lilyan.lab.frames[0].field?.length > 0, field, field);
            assert.ok(await lab.control("legend").isVisible());
            await lab.until(() => document.querySelector("[data-test=legend-high]").textContent !== "", "the range");
            await lab.shot(`view-${field}`);
        }
        await lab.choose("field", "none");
        assert.ok(!(await lab.control("legend").isVisible()));
    });

    test("forces, momenta, contacts, pins, ground and shadows are drawn or hidden", async () => {
        await lab.control("show-forces").check();
        await lab.control("show-momenta").check();
        await lab.until(() => window.lilyan.lab.frames[0].forces?.length > 0, "forces");
        await lab.until(() => window.lilyan.lab.frames[0].contacts?.length > 0, "contact with the floor");
        await lab.shot("view-arrows");
        const drawn = () => lab.read(() => {
            const { overlay } = window.lilyan.view.panes[0];
            return { forces: overlay.forces.mesh.count, momentum: overlay.momentum.mesh.count, contacts: overlay.contacts.mesh.count };
        });
        const shown = await drawn();
        assert.ok(shown.forces > 0 && shown.momentum === 1, JSON.stringify(shown));
        for (const name of ["forces", "momenta", "contacts"]) await lab.control(`show-${name}`).uncheck();
        await lab.until(() => window.lilyan.lab.frames[0].forces === null && window.lilyan.lab.frames[0].contacts === null, "frames without");
        assert.deepEqual(await drawn(), { forces: 0, momentum: 0, contacts: 0 });
        await lab.control("show-contacts").check();
        await lab.control("show-shadows").uncheck();
        await lab.control("show-shadows").check();
        await lab.scene("tumbling-rod");
        const grounds = () => lab.read(() => window.lilyan.view.panes[0].surroundings.floors.children.length);
        assert.equal(await grounds(), 1);
        await lab.control("show-ground").uncheck();
        assert.equal(await grounds(), 0);
        await lab.control("show-ground").check();
        assert.equal(await grounds(), 1);
        await lab.scene("spot-landing");
    });

    test("the light turns about the body", async () => {
        const from = () => lab.read(() => {
            const { light } = window.lilyan.view.panes[0].surroundings;
            return light.position.clone().sub(light.target.position).normalize().toArray();
        });
        const before = await from();
        await lab.slide("light", 1);
        const after = await from();
        assert.ok(Math.hypot(...after.map((x, k) => x - before[k])) > 0.05 && Math.abs(after[1] - before[1]) < 1e-6, `${before} to ${after}`);
        await lab.shot("view-light-turned");
        await lab.slide("light", -1);
    });

    test("left-drag turns, shift-drag moves, the wheel zooms, F frames", async () => {
        await lab.control("show-follow").uncheck();
        await lab.pause();
        const corner = await lab.read(() => {
            const box = window.lilyan.view.canvas.getBoundingClientRect();
            return { x: box.left + 40, y: box.top + 60 };
        });
        const start = await camera();
        await lab.drag(corner, 150, 20);
        const turned = await camera();
        assert.ok(moved(start.eye, turned.eye) > 0.05 && moved(start.target, turned.target) < 1e-9);
        await lab.page.keyboard.down("Shift");
        await lab.drag(corner, 60, 40);
        await lab.page.keyboard.up("Shift");
        const panned = await camera();
        assert.ok(moved(turned.target, panned.target) > 0.01);
        await lab.page.mouse.wheel(0, -400);
        await lab.until((d) => window.lilyan.view.orbit.distance < 0.9 * d, "a zoom", panned.distance);
        await lab.page.keyboard.press("f");
        const framed = await camera();
        assert.ok(moved(framed.target, panned.target) > 0.01);
        await lab.shot("view-turned");
    });

    test("dark, light and small windows", async () => {
        await lab.click("theme");
        assert.equal(await lab.read(() => document.documentElement.dataset.theme), "light");
        await lab.shot("view-light");
        await lab.click("theme");
        await lab.page.setViewportSize({ width: 620, height: 760 });
        await lab.shot("view-small");
        assert.ok(!(await lab.control("young").isVisible()));
        await lab.click("settings");
        assert.ok(await lab.control("young").isVisible());
        await lab.shot("view-small-settings");
        await lab.click("settings");
        await lab.page.setViewportSize(SIZE);
    });

    test("keys: space, point, backspace, H, question mark", async () => {
        await lab.page.mouse.click(640, 60);
        await lab.page.keyboard.press("Space");
        await lab.until(() => window.lilyan.lab.status.running, "running");
        await lab.page.keyboard.press("Space");
        await lab.until(() => !window.lilyan.lab.status.running, "pausing");
        await lab.still();
        const { t, step } = await lab.frame();
        await lab.page.keyboard.press(".");
        await lab.until((before) => window.lilyan.lab.frames[0].step === before + 1, "one step", step);
        assert.ok((await lab.frame()).t > t);
        await lab.page.keyboard.press("Backspace");
        await lab.until(() => window.lilyan.lab.frames[0].t === 0, "t = 0");
        await lab.page.keyboard.press("h");
        assert.ok(!(await lab.control("young").isVisible()));
        await lab.shot("view-bare");
        await lab.page.keyboard.press("h");
        assert.ok(await lab.control("young").isVisible());
        await lab.page.keyboard.press("?");
        assert.ok(await lab.control("keys").isVisible());
        await lab.shot("view-keys");
        await lab.page.keyboard.press("Escape");
        assert.ok(!(await lab.control("keys").isVisible()));
        assert.deepEqual(lab.problems, []);
    });

    test("with the keyboard alone: Tab reaches controls, Space presses them", async () => {
        await lab.pause();
        await lab.control("show-shadows").focus();
        await lab.page.keyboard.press("Tab");
        const [name, before] = await lab.read(() => [document.activeElement.dataset.test, document.activeElement.checked]);
        await lab.page.keyboard.press("Space");
        assert.equal(await lab.control(name).isChecked(), !before, name);
        assert.ok(!(await lab.read(() => window.lilyan.lab.status.running)), "and does not run");
        await lab.page.keyboard.press("Space");
        // A box that was clicked does not take the key away from the simulation.
        await lab.click("show-pins");
        const clicked = await lab.control("show-pins").isChecked();
        await lab.page.keyboard.press("Space");
        await lab.until(() => window.lilyan.lab.status.running, "running");
        assert.equal(await lab.control("show-pins").isChecked(), clicked);
        await lab.click("show-pins");
    });

    test("without WebGL the page says so and the rest works", async () => {
        const blind = await startBrowser(["--disable-webgl", "--disable-webgl2", "--disable-3d-apis"]);
        const plain = await openPage(blind, program.url);
        assert.match(await plain.control("no-webgl").textContent(), /cannot draw in 3-D/);
        await plain.letPass(0.02);
        await plain.shot("view-no-webgl");
        await blind.close();
    });

    test("choices are not cut", async () => {
        await lab.scene("cantilever");
        await lab.change(() => lab.choose("material-model", "stable-neo-hookean"));
        const cut = await lab.read(() => ["scene", "material-model", "integrator"].filter((name) => {
            const field = document.querySelector(`[data-test=${name}]`);
            const pen = document.createElement("canvas").getContext("2d");
            pen.font = getComputedStyle(field).font;
            // The arrow beside the text takes some room.
            return pen.measureText(field.selectedOptions[0].textContent).width + 30 > field.clientWidth;
        }));
        assert.deepEqual(cut, []);
    });

    test("every control has a name for screen readers", async () => {
        const nameless = await lab.read(() => [...document.querySelectorAll("button, input, select")]
            .filter((element) => !element.getAttribute("aria-label") && !element.textContent.trim() && !element.closest("label")?.textContent.trim())
            .map((element) => element.outerHTML));
        assert.deepEqual(nameless, []);
        // Who speaks the text that is seen has to reach the control (WCAG 2.5.3).
        const renamed = await lab.read(() => [...document.querySelectorAll("button[aria-label], select[aria-label], input[aria-label]")]
            .map((element) => [element.getAttribute("aria-label").toLowerCase(), (element.matches("button") ? element.textContent : element.closest("label")?.querySelector("span")?.textContent ?? "").trim().toLowerCase()])
            .filter(([name, seen]) => !name.includes(seen)));
        assert.deepEqual(renamed, []);
        const untested = await lab.read(() => [...document.querySelectorAll("button, input, select")].filter((element) => !element.dataset.test).map((element) => element.outerHTML));
        assert.deepEqual(untested, []);
    });
});
