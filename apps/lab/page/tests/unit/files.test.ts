import { expect, test } from "vitest";
import { take } from "../../src/files.ts";
import type { Lab } from "../../src/lab.ts";

/** A lab that records what is sent and told. The program reads only Abaqus and TetGen files here. */
function recorder() {
    const seen: { uploaded: string[]; sent: unknown[]; told: string[] } = { uploaded: [], sent: [], told: [] };
    const lab = {
        catalogue: { meshes: [{ name: "Abaqus", extensions: ["inp"] }, { name: "TetGen", extensions: ["node", "ele"] }] },
        limits: { upload_bytes: 100 },
        connection: { upload: async (file: File) => void seen.uploaded.push(file.name) },
        send: (request: unknown) => seen.sent.push(request),
        tell: (_: string, { text }: { text: string }) => seen.told.push(text),
    };
    return { seen, lab: lab as unknown as Lab };
}

test("a mesh is accepted if a reader of the program knows its extension", async () => {
    const { seen, lab } = recorder();
    await take(lab, [new File(["*NODE"], "two.INP")]);
    expect(seen).toEqual({ uploaded: ["two.INP"], sent: [{ do: "mesh", name: "two.INP" }], told: [] });
});

test("a pair of TetGen files is sent as one mesh", async () => {
    const { seen, lab } = recorder();
    await take(lab, [new File(["0"], "bar.ele"), new File(["0"], "bar.node")]);
    expect(seen.uploaded).toEqual(["bar.ele", "bar.node"]);
    expect(seen.sent).toEqual([{ do: "mesh", name: "bar.node" }]);
});

test("other files are refused, and the text lists the extensions of the program", async () => {
    const { seen, lab } = recorder();
    await take(lab, [new File(["GIF89a"], "cat.gif")]);
    await take(lab, [new File(["x".repeat(101)], "large.inp")]);
    expect(seen.sent).toEqual([]);
    expect(seen.told[0]).toContain(".inp, .node, .ele");
    expect(seen.told[1]).toContain("large.inp");
});
