import { expect, test } from "vitest";
import { decode } from "../../src/wire.ts";
// @ts-expect-error: plain JavaScript
import { encode } from "../mock.mjs";

const message = (kind: number, json: object, arrays: object[]): ArrayBuffer => {
    const bytes = encode(kind, json, arrays) as Uint8Array;
    return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength) as ArrayBuffer;
};

test("a frame of two panes comes back as it was written", () => {
    const frame = decode(message(2, { number: 7, panes: [{ t: 0.5 }, { t: 0.25 }] }, [
        { pane: 0, name: "positions", data: Float32Array.of(1, 2, 3) },
        { pane: 0, name: "field", data: Float32Array.of(0.5) },
        { pane: 1, name: "positions", data: Float32Array.of(4, 5, 6) },
    ]));
    if (frame.kind !== "frame") throw new Error("not a frame");
    expect(frame.number).toBe(7);
    expect(frame.panes.map(({ t }) => t)).toEqual([0.5, 0.25]);
    expect([...frame.panes[0]!.positions]).toEqual([1, 2, 3]);
    expect([...frame.panes[0]!.field!]).toEqual([0.5]);
    expect([...frame.panes[1]!.positions]).toEqual([4, 5, 6]);
    expect(frame.panes[1]!.field).toBeNull();
});

test("a geometry has every array, empty where none was sent", () => {
    const geometry = decode(message(1, { panes: [{ size: 2, up: [0, 0, 1] }] }, [{ pane: 0, name: "triangles", data: Uint32Array.of(0, 1, 2) }]));
    if (geometry.kind !== "geometry") throw new Error("not a geometry");
    expect([...geometry.panes[0]!.triangles]).toEqual([0, 1, 2]);
    expect(geometry.panes[0]!.lines.length).toBe(0);
    expect(geometry.panes[0]!.size).toBe(2);
});

test("an unknown kind is refused", () => {
    expect(() => decode(message(9, { panes: [] }, []))).toThrow("unknown kind 9");
});
