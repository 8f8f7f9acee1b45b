// When things go wrong: steps that fail, and a program that goes away.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openPage, SIZE, startProgram, theBrowser } from "./lab.mjs";

describe("Failures", () => {
    let program, browser, lab;
    before(async () => {
        program = await startProgram(["tumbling-rod"]);
        browser = await theBrowser();
        lab = await openPage(browser, program.url);
    });
    after(async () => {
        await lab?.leave();
        await program?.stop();
    });

    /** Makes the rod explode. */
    async function explode() {
        await lab.scene("tumbling-rod", false);
        const { limit } = await lab.read(() => window.lilyan.lab.panes[0].stability);
        await lab.change(() => lab.type("step-size-number", (1.5 * limit).toPrecision(3)));
        await lab.click("play");
        await lab.until(() => !document.querySelector("[data-test=failure]").hidden, "an explosion");
    }
    const remedy = (pattern) => lab.control("failure").locator("button.remedy", { hasText: pattern });

    test("halving the step goes on from the last good state", async () => {
        await explode();
        await lab.shot("failure-remedies");
        const step = await lab.setting("time.step");
        await remedy(/Halve/).click();
        await lab.until((old) => window.lilyan.lab.panes[0].scene.time.step < 0.6 * old && window.lilyan.lab.status.running, "half the step", step);
        assert.ok(await lab.control("failure").isHidden());
    });

    test("an implicit integrator goes on with the same step", async () => {
        await explode();
        const step = await lab.setting("time.step");
        await remedy(/implicit/).click();
        await lab.until(() => window.lilyan.lab.panes[0].integrator !== "verlet" && window.lilyan.lab.status.running, "another integrator");
        assert.equal(await lab.setting("time.step"), step);
        await lab.letPass(0.2);
    });

    test("undo takes back what made it explode", async () => {
        await explode();
        const { limit } = await lab.read(() => window.lilyan.lab.panes[0].stability);
        await remedy(/Take back/).click();
        await lab.until((most) => window.lilyan.lab.panes[0].scene.time.step < most && window.lilyan.lab.status.running, "the step before", limit);
    });

    test("a lost connection is told, and the page comes back to where it was", async () => {
        await lab.scene("tumbling-rod");
        await lab.change(() => lab.type("young-number", "3e5"));
        const version = await lab.read(() => window.lilyan.lab.version);
        // The network goes away, not the program.
        await lab.read(() => window.lilyan.lab.connection.socket.close());
        await lab.until(() => !document.querySelector("[data-test=lost]").hidden, "the banner");
        await lab.says("lost", /connection to the lab is lost/);
        await lab.until(() => document.querySelector("[data-test=lost]").hidden, "a new connection");
        assert.equal(await lab.setting("body.0.material.E"), 3e5);
        assert.ok((await lab.read(() => window.lilyan.lab.version)) >= version);
        const { t } = await lab.frame();
        await lab.until((old) => window.lilyan.lab.frames[0].t > old, "frames", t);
    });

    test("a program that is gone is told, and the page keeps its settings", async () => {
        await program.stop();
        await lab.until(() => !document.querySelector("[data-test=lost]").hidden, "the banner");
        await lab.shot("failure-lost");
        assert.equal(await lab.control("young-number").inputValue(), "3e5");
        // The same port, a new token: the page says what to do, and takes the address.
        const port = new URL(program.url).port;
        program = await startProgram(["pendulum"], Number(port));
        await lab.read((token) => window.lilyan.lab.connection.setToken(token), program.token);
        await lab.until(() => document.querySelector("[data-test=restore]"), "the offer to bring the scene back");
        await lab.shot("failure-restore");
        await lab.change(() => lab.click("restore"));
        assert.equal(await lab.setting("body.0.material.E"), 3e5);
    });

    test("a page without its token says what it needs, and takes it", async () => {
        const context = await browser.newContext({ viewport: SIZE });
        const page = await context.newPage();
        await page.goto(`${program.origin}/`);
        await page.locator("[data-test=token]").waitFor();
        await page.locator("[data-test=token]").fill(program.url);
        await page.locator("[data-test=token-enter]").click();
        await page.waitForFunction(() => window.lilyan?.lab.frames.length > 0);
        await context.close();
    });
});
