// Check, compare and coarsen from the page, beside what moves.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { share } from "./lab.mjs";

describe("Check, compare, coarsen", () => {
    let program, lab;
    before(async () => {
        ({ program, lab } = await share("tumbling-rod"));
    });
    after(() => lab?.leave());

    const cells = (name) => lab.control(name).locator("tbody tr").evaluateAll((rows) => rows.map((row) => [...row.children].map((cell) => cell.textContent)));
    const ended = (name, what) => lab.control(name).waitFor().catch(async () => {
        throw new Error(`waited in vain for ${what}; the sheet says: ${await lab.control("sheet").textContent()}`);
    });

    test("check: limits, damping and warnings of the scene as it is set now, and a step to use", async () => {
        await lab.change(() => lab.choose("integrator", "backward-euler"));
        await lab.change(() => lab.type("step-size-number", 0.02));
        await lab.click("open-check");
        await ended("check-verdict", "the diagnosis");
        await lab.shot("examine-check");
        await lab.says("check-verdict", /warning/);
        await lab.says("outcome", /backward-euler will damp mode 1/);
        const modes = await cells("check-modes");
        assert.equal(modes.length, 6);
        assert.ok(modes.every(([, hz, , lost]) => hz.endsWith("Hz") && lost.endsWith("%")), JSON.stringify(modes));
        const verlet = (await cells("check-limits")).find(([name]) => name === "verlet");
        const { limit } = await lab.read(() => window.lilyan.lab.panes[0].stability ?? { limit: null });
        assert.equal(limit, null, "backward Euler has no limit");
        await lab.change(() => lab.control("check-limits").locator("tr", { hasText: "verlet" }).locator("button").first().click());
        assert.equal(await lab.setting("integrator.name"), "verlet");
        const stability = await lab.read(() => window.lilyan.lab.panes[0].stability);
        assert.ok(stability.share > 0.8 && stability.share < 1, "the proposed step is below the limit");
        assert.ok(Math.abs(Number(verlet[1].split(" ")[0]) / stability.limit - 1) < 0.01, `${verlet} is the limit that the pane tells, ${stability.limit}`);
    });

    test("compare: runs in the background, while the pane keeps moving, and shows table, advice and report", async () => {
        await lab.scene("tumbling-rod");
        await lab.click("open-compare");
        for (const name of ["verlet", "variational", "energy-momentum", "backward-euler"]) assert.ok(await lab.control(`compare-${name}`).isChecked(), name);
        await lab.control("compare-energy-momentum").uncheck();
        await lab.control("compare-variational").uncheck();
        await lab.control("compare-steps").fill("0.004, 0.002");
        await lab.control("compare-end").fill("0.2");
        await lab.shot("examine-compare-form");
        const { t } = await lab.frame();
        await lab.click("compare-run");
        // The job may be done before the page is looked at again.
        await lab.until(() => window.lilyan.sheet.busy || document.querySelector("[data-test=compare-table]"), "the job");
        await ended("compare-table", "the comparison");
        await lab.shot("examine-compare");
        assert.ok((await lab.frame()).t > t, "the pane went on");
        const rows = await cells("compare-table");
        assert.deepEqual(rows.map(([name, step]) => `${name} ${step}`).toSorted(), ["backward-euler 0.002", "backward-euler 0.004", "verlet 0.002", "verlet 0.004"]);
        assert.ok(rows.filter(([name]) => name === "backward-euler").every(([, , error]) => /%/.test(error)));
        assert.ok((await lab.control("compare-advice").locator("p").count()) >= 2);
        await lab.click("report-open");
        const report = lab.page.frameLocator("[data-test=report]");
        await report.locator("h1").waitFor();
        assert.match(await report.locator("body").textContent(), /Comparison of integrators/);
        await report.locator("canvas").first().waitFor();
        await lab.shot("examine-report");
        await lab.click("report-close");
        const [download] = await Promise.all([lab.page.waitForEvent("download"), lab.click("save-compare-csv")]);
        assert.match(readFileSync(await download.path(), "utf8"), /^integrator,step,status/);
        assert.deepEqual(lab.problems, []);
    });

    test("the report is for the page alone: its token, its frame, no scripts but its own", async () => {
        const { session, token } = await lab.read(() => ({ session: sessionStorage.getItem("lilyan.session"), token: sessionStorage.getItem("lilyan.token") }));
        const number = await lab.read(() => window.lilyan.sheet.job.job);
        const ask = (query, headers = {}) => lab.page.request.get(`${program.origin}/result?${new URLSearchParams(query)}`, { headers });
        const right = { token, session, job: String(number), file: "report.html" };
        const answer = await ask(right);
        assert.equal(answer.status(), 200);
        const policy = answer.headers()["content-security-policy"];
        assert.match(policy, /^default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-[^']+'; .*frame-ancestors 'self'; sandbox allow-scripts$/);
        for (const wrong of [{ token: "0" }, { session: "x" }, { job: "999" }, { job: "../job-1" }, { file: "../../x" }, { file: "checkpoint" }, { file: "" }]) {
            const refused = await ask({ ...right, ...wrong });
            assert.ok([403, 404].includes(refused.status()), `${JSON.stringify(wrong)}: ${refused.status()}`);
        }
        assert.equal((await ask(right, { origin: "http://evil.test" })).status(), 403);
        assert.equal((await ask(right, { "sec-fetch-site": "cross-site" })).status(), 403);
        assert.equal((await ask(right, { host: "evil.test" })).status(), 403);
    });

    test("cancel stops it soon, and the next can begin", async () => {
        await lab.click("examine-compare");
        await lab.control("compare-steps").fill("0.0001");
        await lab.control("compare-end").fill("2");
        await lab.control("compare-budget").fill("60");
        await lab.click("compare-run");
        await lab.until(() => window.lilyan.sheet.busy && window.lilyan.sheet.job.share > 0, "progress");
        await lab.says("job-text", /Comparing.*step/);
        await lab.shot("examine-progress");
        // One at a time.
        await lab.read(() => window.lilyan.lab.send({ do: "check", pane: 0 }));
        await lab.until(() => /one thing at a time/.test(document.querySelector("[data-test=messages]").textContent), "a refusal");
        await lab.click("job-cancel");
        await lab.until(() => window.lilyan.sheet.job.state === "cancelled", "the end");
        assert.ok(await lab.control("job-cancelled").isVisible());
        await lab.click("open-check");
        await ended("check-verdict", "another job");
    });

    test("what cannot be compared is said in the page's words", async () => {
        await lab.click("examine-compare");
        await lab.control("compare-steps").fill("5");
        await lab.control("compare-end").fill("0.1");
        await lab.click("compare-run");
        await ended("job-failed", "a refusal");
        const text = await lab.control("job-failed").textContent();
        assert.match(text, /longer than the scene/);
        assert.doesNotMatch(text, /--|built-in/);
        await lab.control("compare-steps").fill("soon");
        await lab.click("compare-run");
        await lab.until(() => /positive numbers/.test(document.querySelector("[data-test=messages]").textContent), "the reason");
    });

    test("coarsen: fine, coarse and corrected frequencies, and the coarse body beside the fine one", async () => {
        await lab.scene("layered-cube");
        await lab.open("panel-mesh");
        await lab.change(() => lab.read(() => window.lilyan.lab.set("body.0.mesh.box.cells", [4, 4, 8])), "a smaller cube");
        await lab.click("open-coarsen");
        assert.equal(await lab.control("coarsen-method").inputValue(), "homogenize+eigenfit");
        await lab.control("coarsen-tets").fill("48");
        await lab.control("coarsen-modes").fill("6");
        await lab.click("coarsen-run");
        await ended("coarsen-frequencies", "the coarse body");
        await lab.until(() => window.lilyan.lab.panes.length === 2 && window.lilyan.lab.frames.length === 2, "a second pane");
        await lab.shot("examine-coarsen");
        const [fine, coarse] = await lab.read(() => window.lilyan.lab.panes.map(({ elements, label }) => ({ elements, label })));
        assert.equal(fine.elements, 768);
        assert.ok(coarse.elements < 100, `${coarse.elements} tets`);
        assert.match(coarse.label, /coarse, 48 tets, homogenize\+eigenfit/);
        const rows = await cells("coarsen-frequencies");
        assert.equal(rows.length, 6);
        const hertz = (cell) => Number(cell.split(" ")[0]);
        for (const row of rows) assert.ok(Math.abs(hertz(row[3]) / hertz(row[1]) - 1) < 0.02, `corrected is fine: ${row}`);
        assert.ok(Math.abs(hertz(rows[0][2]) / hertz(rows[0][1]) - 1) > 0.005, "the coarse mesh alone is off");
        const files = {};
        for (const name of ["scene-toml", "coarse-vtu"]) {
            const [download] = await Promise.all([lab.page.waitForEvent("download"), lab.click(`save-${name}`)]);
            files[name] = readFileSync(await download.path(), "utf8");
        }
        assert.match(files["scene-toml"], /coarse\.vtu/);
        assert.match(files["coarse-vtu"], /UnstructuredGrid/);
        await lab.click("sheet-close");
        await lab.letPass(0.5);
        const times = await lab.read(() => window.lilyan.lab.frames.map((frame) => frame.t));
        assert.ok(Math.abs(times[0] - times[1]) < 0.05, `together: ${times}`);
        await lab.shot("examine-beside");
        assert.deepEqual(lab.problems, []);
    });

    test("a page that is loaded again sees what was found", async () => {
        await lab.page.reload();
        await lab.until(() => window.lilyan?.sheet?.job?.state === "done", "the last job");
        await lab.click("open-coarsen");
        assert.equal((await cells("coarsen-frequencies")).length, 6);
    });
});
