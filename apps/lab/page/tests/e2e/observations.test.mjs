// What the user of Kharevych's program could see by hand, seen here: with clicks and keys alone.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { share } from "./lab.mjs";

describe("Observations by hand", () => {
    let lab;
    before(async () => {
        ({ lab } = await share());
    });
    after(() => lab?.leave());

    const is = (what, grade) => lab.until(([name, wanted]) => document.querySelector(`[data-test=verdict-0-${name}]`)?.classList.contains(wanted), `${what}: ${grade}`, [what, grade]);

    /** How much both momenta change while the rod tumbles on, relative to all that moves. */
    async function drifts(seconds) {
        const first = await lab.frame();
        await lab.letPass(seconds);
        const later = await lab.frame();
        return ["momentum", "angular"].map((name) => Math.hypot(...later[name].map((x, k) => x - first[name][k])) / later.scale[name]);
    }

    test("momenta, damping, an explosion, and the same step with alpha = 1/2", async (t) => {
        // Without forces momenta are exact.
        await lab.scene("tumbling-rod");
        await lab.letPass(0.5);
        const free = await drifts(1);
        assert.ok(free.every((drift) => drift < 1e-12), `without forces: ${free}`);
        await is("linear", "exact");
        await is("angular", "exact");
        await lab.shot("observed-1-momenta");

        // Damping takes energy and leaves momenta.
        await lab.change(() => lab.choose("damping-model", "viscous"));
        await lab.change(() => lab.type("damping-time-number", 0.02));
        const full = await lab.frame();
        const damped = await drifts(1);
        const spent = await lab.frame();
        assert.ok(spent.energy.physical > 0 && spent.energy.total < full.energy.total, "energy is taken");
        assert.ok(damped.every((drift) => drift < 1e-12), `with damping: ${damped}`);
        await is("linear", "exact");
        await is("angular", "exact");
        await lab.shot("observed-2-damping");
        t.diagnostic(`drift of momenta: ${free.map((x) => x.toExponential(0))} free, ${damped.map((x) => x.toExponential(0))} damped; ${(100 * (1 - spent.energy.total / full.energy.total)).toFixed(1)} % of the energy taken in 1 s`);
        await lab.change(() => lab.choose("damping-model", "none"));

        // A too large explicit step explodes, and the page says why and what helps.
        await lab.click("reset");
        await lab.pause();
        const told = await lab.control("panel-method").textContent();
        const limit = Number(/stable step \(([\d.]+) ms\)/.exec(told)[1]) / 1000;
        const step = Number((1.5 * limit).toPrecision(3));
        await lab.change(() => lab.type("step-size-number", step));
        await lab.says("stability", /above the limit.*will explode/);
        await lab.click("play");
        await lab.control("failure").waitFor();
        const why = await lab.control("failure-text").textContent();
        assert.match(why, /verlet/);
        assert.match(why, /up to which verlet is stable|stable step of verlet is about|flown apart/);
        await lab.shot("observed-3-explosion");

        // The same step with α = ½ does not.
        await lab.click("failure-close");
        await lab.click("reset");
        await lab.change(() => lab.choose("integrator", "variational"));
        assert.equal(await lab.control("option-alpha-number").inputValue(), "0.5");
        assert.equal(Number(await lab.control("step-size-number").inputValue()), step);
        await lab.click("play");
        const implicit = await drifts(2);
        assert.ok(await lab.control("failure").isHidden());
        assert.ok(implicit.every((drift) => drift < 1e-6), `with alpha = 1/2: ${implicit}`);
        await is("linear", "exact");
        await is("angular", "exact");
        await lab.shot("observed-4-half");
        assert.deepEqual(lab.problems, []);
    });
});
