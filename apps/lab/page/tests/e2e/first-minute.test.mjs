// A newcomer opens the lab and, without reading anything, has pulled a body, changed the material and seen the energy curve.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { openPage, share, SIZE } from "./lab.mjs";

describe("The first minute", () => {
    let program, browser, lab;
    before(async () => {
        ({ program, browser, lab } = await share());
    });
    after(() => lab?.leave());

    test("it moves, and says what to do", async () => {
        await lab.letPass(0.3);
        await lab.shot("first-1-opened");
        assert.equal(await lab.control("hint").textContent(), "Pull it with the mouse");
        for (const name of ["young", "plot-energy", "play", "tool-pull"]) assert.ok(await lab.control(name).isVisible(), `${name} is in sight`);
        const box = await lab.control("young").boundingBox();
        assert.ok(box.y + box.height < SIZE.height, "the stiffness is in sight without scrolling");
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
        await lab.says("hint", /softer or stiffer/);
        assert.ok((await lab.frame()).energy.work !== 0, "the hand did work");
    });

    test("the stiffness changes while it moves, and the energy curve has a past", async () => {
        const stiffness = await lab.setting("body.0.material.E");
        const { t } = await lab.frame();
        await lab.change(() => lab.slide("young", 1));
        assert.ok((await lab.setting("body.0.material.E")) > stiffness);
        await lab.says("hint", /energy/);
        await lab.letPass(0.2);
        assert.ok((await lab.frame()).t > t, "time goes on from where it was");
        assert.ok((await lab.read(() => window.lilyan.truth.histories[0].length)) > 5);
        await lab.shot("first-3-stiffer");
        await lab.until(() => document.querySelector("[data-test=hint]").hidden, "the end of the hints");
        await lab.page.reload();
        await lab.until(() => window.lilyan?.lab.frames.length > 0, "the page again");
        assert.ok(await lab.control("hint").isHidden(), "who knows the way is not told again");
        assert.deepEqual(lab.problems, []);
    });

    /** Fingers on the screen, as the browser reports them. */
    async function fingers(page) {
        const cdp = await page.context().newCDPSession(page);
        return (type, ...points) => cdp.send("Input.dispatchTouchEvent", { type, touchPoints: points.map(({ x, y }, id) => ({ x, y, id })) });
    }

    test("on a phone: pull with a finger, change the material, see the energy; two fingers zoom and move", async () => {
        const phone = await openPage(browser, program.url, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 });
        const touch = await fingers(phone.page);
        await phone.letPass(0.1);
        await phone.shot("phone-1-opened");
        assert.equal(await phone.control("hint").textContent(), "Pull it with your finger");
        for (const name of ["tool-pull", "plot-energy", "softer", "stiffer", "settings"]) assert.ok(await phone.control(name).isVisible(), `${name} is in sight`);
        const wide = await phone.read(() => document.documentElement.scrollWidth);
        assert.ok(wide <= 390, `nothing sticks out: ${wide}`);
        const tools = await phone.control("tool").boundingBox();
        const last = await phone.control("tool-throw").boundingBox();
        assert.ok(last.x + last.width <= tools.x + tools.width + 1, "all tools are in sight");

        const at = await phone.place();
        await touch("touchStart", at);
        await touch("touchMove", { x: at.x + 40, y: at.y - 60 });
        await phone.until(() => window.lilyan.lab.frames[0].grab !== null, "a pull");
        await phone.shot("phone-2-pulled");
        // A second finger lets go of the body and takes the camera.
        const seen = () => phone.read(() => ({ distance: window.lilyan.view.orbit.distance, target: window.lilyan.view.orbit.target.toArray() }));
        await phone.control("show-follow").evaluate((box) => box.click());
        await touch("touchStart", { x: 150, y: 300 }, { x: 250, y: 300 });
        await phone.until(() => window.lilyan.lab.frames[0].grab === null, "the body to be let go");
        const before = await seen();
        await touch("touchMove", { x: 100, y: 300 }, { x: 300, y: 300 });
        await phone.until((far) => Math.abs(window.lilyan.view.orbit.distance / far - 0.5) < 0.05, "half the distance", before.distance);
        const near = await seen();
        await touch("touchMove", { x: 130, y: 340 }, { x: 330, y: 340 });
        await phone.until((old) => window.lilyan.view.orbit.target.toArray().some((x, k) => Math.abs(x - old.target[k]) > 0.01 * old.distance), "the camera to move", near);
        assert.ok(Math.abs((await seen()).distance / near.distance - 1) < 0.05, "without a zoom");
        await touch("touchEnd");
        await phone.click("frame");

        const stiffness = await phone.setting("body.0.material.E");
        await phone.change(() => phone.click("stiffer"));
        assert.ok((await phone.setting("body.0.material.E")) > 2 * stiffness);
        await phone.shot("phone-3-stiffer");
        await phone.click("settings");
        assert.ok(await phone.control("young").isVisible());
        await phone.click("open-check");
        await phone.control("check-verdict").waitFor();
        await phone.shot("phone-4-check");
        assert.deepEqual(phone.problems, []);
    });
});
