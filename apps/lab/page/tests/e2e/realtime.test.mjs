// Real-time mode: what does not fit into the time of a frame is cut, and everything that was cut is shown.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { share } from "./lab.mjs";

describe("Real time", () => {
    let lab;
    before(async () => {
        ({ lab } = await share());
        await lab.open("panel-clock");
    });
    after(() => lab?.leave());

    const note = () => lab.control("realtime-note").textContent();
    const frame = () => lab.frame();

    test("it is off, and nothing is said, until it is switched on", async () => {
        assert.equal(await lab.control("realtime").isChecked(), false);
        assert.equal(await lab.control("realtime-note").isHidden(), true);
        assert.equal(await lab.control("budget-number").inputValue(), "16");
        const { realtime, cuts } = await frame();
        assert.deepEqual([realtime, cuts], [null, null]);
    });

    test("the pace is shown, and what is cut where more is asked for than fits", async () => {
        await lab.click("realtime");
        await lab.until(() => /× real time; tolerance/.test(document.querySelector("[data-test=realtime-note]").textContent), "the pace");
        // More than any machine can do.
        await lab.type("speed-number", 100);
        await lab.type("budget-number", 4);
        await lab.until(() => window.lilyan.lab.frames[0].realtime?.overrun && window.lilyan.lab.frames[0].cuts, "the least effort");
        await lab.until(() => /even the least effort.*steps cut short/.test(document.querySelector("[data-test=realtime-note]").textContent), "words");
        assert.match(await note(), /tolerance 0\.1 \(asked for 1e-8\);/);
        // The bar and the note are written at different times.
        await lab.until(() => /× real time; .*steps cut short/.test(document.querySelector("[data-test=pace]").textContent), "the same in the bar");
        await lab.control("realtime").scrollIntoViewIfNeeded();
        await lab.shot("realtime-cut");
    });

    test("switched off, nothing is cut any more, and what was cut stays marked in all that is saved", async () => {
        await lab.type("speed-number", 1);
        await lab.click("realtime");
        await lab.until(() => !window.lilyan.lab.status.realtime && window.lilyan.lab.frames[0].realtime === null, "off");
        const before = (await frame()).cuts;
        await lab.letPass(0.2);
        const { cuts } = await frame();
        assert.ok(cuts.steps === before.steps && cuts.of > before.of, JSON.stringify([before, cuts]));
        await lab.until(() => /^\d+ of \d+ steps cut short/.test(document.querySelector("[data-test=realtime-note]").textContent), "the mark");
        for (const action of ["screenshot", "save"]) {
            const [file] = await Promise.all([lab.page.waitForEvent("download"), lab.click(action)]);
            assert.match(file.suggestedFilename(), /after-cut-steps/);
        }
        await lab.change(() => lab.click("reset"), "a new run");
        await lab.until(() => window.lilyan.lab.frames[0].cuts === null && document.querySelector("[data-test=realtime-note]").hidden, "no mark");
        const [file] = await Promise.all([lab.page.waitForEvent("download"), lab.click("screenshot")]);
        assert.doesNotMatch(file.suggestedFilename(), /cut/);
        assert.deepEqual(lab.problems, []);
    });
});
