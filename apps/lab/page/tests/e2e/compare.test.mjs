// Side by side.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { share } from "./lab.mjs";

describe("Side by side", () => {
    let program, lab;
    before(async () => {
        ({ program, lab } = await share("tumbling-rod"));
    });
    after(() => lab?.leave());

    test("a pane is added at the same state, changed by itself, and both go on together", async () => {
        await lab.change(() => lab.click("split"));
        assert.equal(await lab.read(() => window.lilyan.lab.panes.length), 2);
        assert.equal(await lab.control("target-1").getAttribute("aria-checked"), "true", "settings are for the new pane");
        await lab.change(() => lab.choose("integrator", "backward-euler"));
        await lab.change(() => lab.type("step-size-number", 0.02));
        assert.equal(await lab.setting("integrator.name", 0), "verlet");
        assert.equal(await lab.setting("integrator.name", 1), "backward-euler");
        await lab.says("label-1", /backward-euler/);
        await lab.letPass(1);
        const times = await lab.read(() => window.lilyan.lab.frames.map((frame) => frame.t));
        assert.ok(Math.abs(times[0] - times[1]) < 0.05, `synchronised: ${times}`);
        await lab.shot("compare-two");
        const [kept, lost] = await lab.read(() => window.lilyan.lab.frames.map((frame) => frame.energy.numerical));
        assert.ok(lost > 10 * Math.abs(kept), "one of them loses energy");
    });

    test("settings for all panes at once", async () => {
        await lab.click("target-all");
        await lab.change(() => lab.type("young-number", "2e5"));
        assert.deepEqual([await lab.setting("body.0.material.E", 0), await lab.setting("body.0.material.E", 1)], [2e5, 2e5]);
    });

    test("one camera for all, and hands on each", async () => {
        await lab.drag(await lab.place(1), 60, -60, async () => {
            await lab.until(() => window.lilyan.lab.frames[1].grab && !window.lilyan.lab.frames[0].grab, "a pull in the second pane only");
        });
        await lab.change(() => lab.click("close-1"));
        assert.equal(await lab.read(() => window.lilyan.lab.panes.length), 1);
    });

    test("the gallery: every prepared comparison opens, moves and says what differs", async () => {
        const entries = await lab.read(() => window.lilyan.lab.catalogue.gallery);
        for (const wanted of ["pendulum", "tumbling-rod", "swinging-cube", "twisted-bar"]) assert.ok(entries.some(({ name }) => name === wanted), wanted);
        await lab.control("gallery-fold").locator("summary").click();
        for (const { name } of entries) {
            await lab.change(() => lab.click(`gallery-${name}`), name);
            const labels = await lab.read(() => window.lilyan.lab.panes.map((pane) => pane.label));
            assert.ok(labels.length >= 2 && new Set(labels).size === labels.length, `${name}: ${labels}`);
            assert.ok((await lab.control("caption").textContent()).length > 20, "it says what to look at");
            await lab.letPass(0.1);
            await lab.shot(`compare-gallery-${name}`);
            assert.ok(lab.page.url().endsWith(`#gallery=${name}`));
        }
    });

    test("a link leads to the comparison", async () => {
        await lab.page.goto(`${program.origin}/#gallery=pendulum`);
        await lab.page.reload();
        await lab.until(() => window.lilyan?.lab.panes.length > 1 && window.lilyan.lab.panes[0].title.includes("Pendulum"), "the pendulum");
        await lab.click("share");
        await lab.until(() => /#gallery=pendulum/.test(document.querySelector("[data-test=messages]").textContent), "the link in words");
        assert.deepEqual(lab.problems, []);
    });
});
