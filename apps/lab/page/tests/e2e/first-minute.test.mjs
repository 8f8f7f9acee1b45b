// A newcomer opens the lab and, without reading anything, has pulled a body, changed the material and seen the energy curve.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { openPage, startBrowser, startProgram } from "./lab.mjs";

let program, browser, lab;
before(async () => {
    program = await startProgram();
    browser = await startBrowser();
    lab = await openPage(browser, program.url);
});
after(async () => {
    await browser?.close();
    assert.equal(await program?.stop(), 0, "the program ends cleanly on Ctrl-C");
});

test("it moves, and says what to do", async () => {
    await lab.letPass(0.3);
    await lab.shot("first-1-opened");
    assert.equal(await lab.control("hint").textContent(), "Pull it with the mouse");
    for (const name of ["young", "plot-energy", "play", "tool-pull"]) assert.ok(await lab.control(name).isVisible(), `${name} is in sight`);
    const box = await lab.control("young").boundingBox();
    assert.ok(box.y + box.height < 800, "the stiffness is in sight without scrolling");
    assert.ok(!lab.page.url().includes("token"), "the token is out of the address bar");
});

test("pulling with the mouse pulls, with the spring and its force shown", async () => {
    await lab.drag(await lab.place(), 90, -110, async () => {
        await lab.until(() => window.lilyan.lab.frames[0].grab !== null, "a pull");
        await lab.until(() => document.querySelector("[data-test=tip]").textContent.endsWith("N"), "the force");
        await lab.letPass(0.2);
        await lab.shot("first-2-pulled");
    });
    await lab.until(() => window.lilyan.lab.frames[0].grab === null, "the body to be let go");
    assert.equal(await lab.control("hint").count(), 0, "the hint has done its work");
    assert.ok((await lab.frame()).energy.work !== 0, "the hand did work");
});

test("the stiffness changes while it moves, and the energy curve has a past", async () => {
    const stiffness = await lab.setting("body.0.material.E");
    const { t } = await lab.frame();
    await lab.change(() => lab.slide("young", 1));
    assert.ok((await lab.setting("body.0.material.E")) > stiffness);
    await lab.letPass(0.2);
    assert.ok((await lab.frame()).t > t, "time goes on from where it was");
    assert.ok((await lab.read(() => window.lilyan.truth.histories[0].length)) > 5);
    await lab.shot("first-3-stiffer");
    assert.deepEqual(lab.problems, []);
});
