// Scenes and meshes that the user drops on the page or chooses.

import type { Lab } from "./lab.ts";

const SCENES = [".toml", ".json"];

/** Endings of the mesh files that the program reads. */
const meshEndings = (lab: Lab) => lab.catalogue.meshes.flatMap(({ extensions }) => extensions.map((e) => `.${e}`));

export async function take(lab: Lab, files: File[]): Promise<void> {
    const ending = (file: File) => file.name.slice(file.name.lastIndexOf(".")).toLowerCase();
    const known = meshEndings(lab);
    const scene = files.find((file) => SCENES.includes(ending(file)));
    const meshes = files.filter((file) => known.includes(ending(file)));
    if (!scene && meshes.length === 0) {
        lab.tell("error", { text: `${files[0]?.name ?? "This"} is neither a scene (${SCENES.join(", ")}) nor a mesh (${known.join(", ")}).`, request: "open" });
        return;
    }
    try {
        for (const mesh of meshes) {
            if (mesh.size > lab.limits.upload_bytes) throw new Error(`${mesh.name} is larger than ${Math.round(lab.limits.upload_bytes / 1e6)} MB`);
            await lab.connection.upload(mesh);
        }
    } catch (problem) {
        lab.tell("error", { text: `The mesh could not be loaded: ${problem instanceof Error ? problem.message : problem}`, request: "mesh" });
        return;
    }
    // A scene can name meshes that were dropped with it. A mesh alone replaces that of the first body. TetGen meshes are pairs of files.
    if (scene) lab.send({ do: "open", text: await scene.text(), name: scene.name });
    else lab.send({ do: "mesh", name: (meshes.find((mesh) => ending(mesh) !== ".ele") ?? meshes[0]!).name });
}

export function acceptDrops(lab: Lab): void {
    let depth = 0;
    const mark = () => document.body.classList.toggle("dropping", depth > 0);
    window.addEventListener("dragenter", () => {
        depth += 1;
        mark();
    });
    window.addEventListener("dragleave", () => {
        depth -= 1;
        mark();
    });
    window.addEventListener("dragover", (event) => event.preventDefault());
    window.addEventListener("drop", (event) => {
        event.preventDefault();
        depth = 0;
        mark();
        const files = [...(event.dataTransfer?.files ?? [])];
        if (files.length > 0) void take(lab, files);
    });
}

export function choose(lab: Lab): void {
    const input = document.createElement("input");
    input.type = "file";
    input.multiple = true;
    input.accept = [...SCENES, ...meshEndings(lab)].join(",");
    input.onchange = () => void take(lab, [...(input.files ?? [])]);
    input.click();
}
