// What should be constant is marked, and what the lab shows is what the books say. (Momenta, damping, explosions: observations.test.mjs.)
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { share } from "./lab.mjs";

describe("Conserved quantities", () => {
    let lab;
    before(async () => {
        ({ lab } = await share("tumbling-rod"));
    });
    after(() => lab?.leave());

    const verdict = (what) => lab.control(`verdict-0-${what}`);
    const is = (what, grade) => lab.until(([name, wanted]) => document.querySelector(`[data-test=verdict-0-${name}]`)?.classList.contains(wanted), `${what}: ${grade}`, [what, grade]);

    test("backward Euler loses energy, and the page says who", async () => {
        await lab.scene("tumbling-rod");
        await lab.change(() => lab.choose("damping-model", "viscous"));
        await lab.letPass(0.3);
        assert.match(await verdict("energy").textContent(), /balance/, "with damping it is the balance that should hold");
        await lab.change(() => lab.choose("damping-model", "none"));
        await lab.change(() => lab.choose("integrator", "backward-euler"));
        await lab.change(() => lab.type("step-size-number", 0.02));
        await lab.letPass(1.5);
        await is("energy", "off");
        assert.match(await verdict("energy").textContent(), /lost by the integrator/);
        assert.ok((await lab.frame()).energy.numerical > 0);
        await lab.shot("truth-3-euler");
    });

    test("a step near the stability limit is warned of, with remedies", async () => {
        await lab.scene("tumbling-rod", false);
        const { limit } = await lab.read(() => window.lilyan.lab.panes[0].stability);
        await lab.change(() => lab.type("step-size-number", (0.95 * limit).toPrecision(3)));
        assert.ok(await lab.control("stability").isVisible());
        await lab.shot("truth-4-limit");
        await lab.change(() => lab.click("remedy-step-0"));
        assert.ok((await lab.setting("time.step")) < 0.6 * limit);
        assert.ok(!(await lab.control("stability").isVisible()));
    });

    test("the range of colours follows a material that changes, at once", async () => {
        await lab.scene("tumbling-rod", false);
        await lab.choose("field", "von_mises");
        await lab.until(() => window.lilyan.lab.frames[0].field?.length > 0 && window.lilyan.view.high > 1, "colours");
        const range = async (preset) => {
            await lab.change(() => lab.click(`preset-${preset}`));
            return lab.read(() => [window.lilyan.view.high, window.lilyan.lab.frames[0].range[1]]);
        };
        const [steel] = await range("steel");
        const [jelly, most] = await range("jelly");
        assert.ok(jelly === most && jelly < 1e-3 * steel, `${steel} Pa to ${jelly} Pa of ${most} Pa`);
        await lab.choose("field", "none");
    });

    test("curves: every board has a past, and thirty seconds fit", async () => {
        // The number of coloured pixels grows with the simulated time, which must not depend on how soon an earlier pause came.
        await lab.scene("tumbling-rod");
        await lab.letPass(1);
        await lab.pause();
        for (const board of ["energy", "loss", "linear", "angular", "cost", "newton"]) assert.ok((await lab.control(`plot-${board}`).count()) === 1);
        await lab.click("window-5");
        await lab.click("window-all");
        await lab.click("window-30");
        const inked = await lab.read(() => {
            const canvas = document.querySelector("[data-test=plot-energy]");
            const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
            let colored = 0;
            for (let k = 0; k < pixels.length; k += 4) if (pixels[k + 3] > 100 && Math.abs(pixels[k] - pixels[k + 2]) > 60) colored += 1;
            return colored;
        });
        assert.ok(inked > 100, "curves are drawn");
        assert.deepEqual(lab.problems, []);
    });
});
