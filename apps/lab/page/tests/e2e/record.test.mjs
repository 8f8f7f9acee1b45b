// Pictures, videos, scenes out; scenes and meshes in.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, test } from "node:test";
import { share } from "./lab.mjs";

describe("Files", () => {
    let lab;
    before(async () => {
        ({ lab } = await share("tumbling-rod"));
    });
    after(() => lab?.leave());

    async function download(action) {
        const [file] = await Promise.all([lab.page.waitForEvent("download"), action()]);
        return { name: file.suggestedFilename(), data: readFileSync(await file.path()) };
    }

    /** Drops files on the page, as a hand would. */
    async function drop(files) {
        const transfer = await lab.page.evaluateHandle((list) => {
            const data = new DataTransfer();
            for (const { name, text } of list) data.items.add(new File([text], name));
            return data;
        }, files);
        await lab.page.dispatchEvent("body", "dragenter", { dataTransfer: transfer });
        await lab.page.dispatchEvent("body", "drop", { dataTransfer: transfer });
    }

    test("a picture is a PNG with something in it", async () => {
        const { name, data } = await download(() => lab.click("screenshot"));
        assert.match(name, /\.png$/);
        assert.equal(data.subarray(1, 4).toString(), "PNG");
        assert.ok(data.length > 5000, `${data.length} bytes`);
    });

    test("a video is a WebM", async () => {
        await lab.click("video");
        await lab.until(() => document.querySelector("[data-test=video]").classList.contains("recording"), "recording");
        const pictures = await lab.read(() => window.lilyan.view.pictures);
        await lab.until((before) => window.lilyan.view.pictures > before + 10 && window.lilyan.recorder.videoBytes > 2000, "ten pictures and some data", pictures);
        const { name, data } = await download(() => lab.click("video"));
        assert.match(name, /\.webm$/);
        assert.equal(data.readUInt32BE(0), 0x1a45dfa3, "EBML");
        assert.ok(data.length > 2000, `${data.length} bytes`);
    });

    test("an image sequence is a ZIP of PNGs", async () => {
        await lab.click("images");
        await lab.until(() => document.querySelector("[data-test=images]").classList.contains("recording"), "recording");
        await lab.until(() => window.lilyan.recorder.images.length > 2, "three pictures");
        const { name, data } = await download(() => lab.click("images"));
        assert.match(name, /\.zip$/);
        assert.equal(data.readUInt32LE(0), 0x04034b50);
        assert.ok(data.includes("frame-00001.png") && data.includes("frame-00002.png"));
    });

    let saved = "";
    test("the scene is saved with its state", async () => {
        await lab.still();
        const { name, data } = await download(() => lab.click("save"));
        assert.match(name, /\.toml$/);
        saved = data.toString();
        assert.match(saved, /\[\[body\]\]/);
        assert.match(saved, /state/);
    });

    test("a dropped scene opens at the state it was saved in", async () => {
        const before = await lab.read(() => [...window.lilyan.lab.frames[0].positions]);
        await lab.scene("pendulum");
        await lab.change(() => drop([{ name: "saved.toml", text: saved }]), "the dropped scene");
        await lab.pause();
        await lab.change(() => lab.click("reset"));
        const now = await lab.read(() => [...window.lilyan.lab.frames[0].positions]);
        assert.equal(now.length, before.length);
        const worst = Math.max(...now.map((x, k) => Math.abs(x - before[k])));
        assert.ok(worst < 1e-4, `furthest vertex off by ${worst} m`);
    });

    test("a dropped mesh becomes the body", async () => {
        const mesh = "MeshVersionFormatted 2\nDimension 3\nVertices\n5\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\n1 1 1 0\nTetrahedra\n2\n1 2 3 4 0\n2 3 4 5 0\nEnd\n";
        await lab.scene("tumbling-rod");
        await lab.change(() => drop([{ name: "two.mesh", text: mesh }]), "the dropped mesh");
        assert.equal(await lab.read(() => window.lilyan.lab.panes[0].elements), 2);
        await lab.shot("record-dropped-mesh");
        const { distance, size } = await lab.read(() => ({ distance: window.lilyan.view.orbit.distance, size: window.lilyan.lab.geometry[0].size }));
        assert.ok(distance > size && distance < 8 * size, `the whole of it is in sight: ${distance} m away, ${size} m large`);
        // On a jelly that is held and twisted: nothing of that is left, and time begins again.
        await lab.scene("wobbling-jelly");
        await lab.letPass(0.1);
        await lab.pause();
        await lab.change(() => drop([{ name: "two.mesh", text: mesh }]), "the dropped mesh");
        assert.equal((await lab.frame()).t, 0);
        assert.equal(await lab.read(() => window.lilyan.lab.geometry[0].pinned.length), 0);
        await lab.until(() => /the pins of the mesh before are left out/.test(document.querySelector("[data-test=messages]").textContent), "a notice");
        const lowest = await lab.read(() => Math.min(...window.lilyan.lab.frames[0].positions.filter((_, k) => k % 3 === 1)));
        assert.ok(lowest > 0 && lowest < 0.05, `above the floor: ${lowest}`);
        await lab.shot("record-dropped-jelly");
    });

    test("a mesh of a format that only the program knows is taken", async () => {
        const mesh = "*NODE\n1, 0, 0, 0\n2, 1, 0, 0\n3, 0, 1, 0\n4, 0, 0, 1\n5, 1, 1, 1\n*ELEMENT, TYPE=C3D4\n1, 1, 2, 3, 4\n2, 2, 3, 4, 5\n";
        await lab.scene("tumbling-rod");
        await lab.change(() => drop([{ name: "two.inp", text: mesh }]), "the dropped mesh");
        assert.equal(await lab.read(() => window.lilyan.lab.panes[0].elements), 2);
    });

    test("what is neither is refused in words, and so is a broken scene", async () => {
        await drop([{ name: "cat.gif", text: "GIF89a" }]);
        await lab.until(() => /neither a scene/.test(document.querySelector("[data-test=messages]").textContent), "words");
        await drop([{ name: "broken.toml", text: "[time]\nstep = \"soon\"\n" }]);
        await lab.until(() => /broken\.toml/.test(document.querySelector("[data-test=messages]").textContent), "the error of the scene");
        await lab.shot("record-refused");
        assert.equal(await lab.read(() => window.lilyan.lab.panes[0].elements), 2);
        assert.deepEqual(lab.problems, []);
    });
});
