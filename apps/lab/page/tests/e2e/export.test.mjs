// An exported .glb, played by three.js: in every frame its vertices are where those of the .obj of that frame are.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { after, before, describe, test } from "node:test";
import { AnimationMixer, Vector3 } from "three";
import { GLTFLoader } from "three/addons/loaders/GLTFLoader.js";

const PROGRAM = process.env.LILYAN ?? fileURLToPath(new URL("../../../../../target/debug/lilyan", import.meta.url));

describe("An exported .glb", () => {
    const folder = mkdtempSync(join(tmpdir(), "lilyan-export-"));
    const run = join(folder, "run");
    before(() => {
        const lilyan = (...words) => {
            const done = spawnSync(PROGRAM, words, { encoding: "utf8" });
            assert.equal(done.status, 0, done.stderr);
        };
        lilyan("run", "tumbling-bar", "--steps", "12", "--set", "output.every=0.01", "-o", run);
        lilyan("export", run, "--to", "glb", "--field", "von_mises");
        lilyan("export", run, "--to", "obj");
    });
    after(() => rmSync(folder, { recursive: true }));

    test("plays in three.js", async () => {
        const file = readFileSync(join(run, "export", "run.glb"));
        const buffer = file.buffer.slice(file.byteOffset, file.byteOffset + file.length);
        const gltf = await new Promise((resolve, reject) => new GLTFLoader().parse(buffer, "", resolve, reject));
        let mesh;
        gltf.scene.traverse((node) => { if (node.isMesh) mesh = node; });
        const [clip] = gltf.animations;
        const { times } = clip.tracks[0];
        assert.ok(times.length > 3 && mesh.geometry.morphAttributes.color, "frames and colours");
        const mixer = new AnimationMixer(gltf.scene);
        mixer.clipAction(clip).play();
        // The last is the first again where the motion repeats.
        for (let frame = 0; frame < times.length - 1; frame++) {
            mixer.setTime(times[frame]);
            const text = readFileSync(join(run, "export", "obj", `${String(frame).padStart(6, "0")}.obj`), "utf8");
            const places = text.split("\n").filter((line) => line.startsWith("v ")).map((line) => new Vector3(...line.slice(2).split(" ").map(Number)));
            const seen = new Vector3();
            for (let v = 0; v < mesh.geometry.attributes.position.count; v += 7) {
                mesh.getVertexPosition(v, seen);
                const apart = Math.min(...places.map((place) => place.distanceTo(seen)));
                assert.ok(apart < 1e-5, `frame ${frame}, vertex ${v}: ${apart} m`);
            }
        }
    });
});
