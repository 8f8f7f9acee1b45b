// Reads the binary messages: u32 kind, u32 bytes of JSON, JSON, arrays; little-endian.

import type { Frame, FrameInfo, Geometry, GeometryInfo } from "./protocol.ts";

export type Binary =
    | { kind: "geometry"; version: number; panes: Geometry[] }
    /** Version of the geometry that it belongs to. */
    | { kind: "frame"; version: number; number: number; panes: Frame[] };

interface Header {
    number?: number;
    version?: number;
    panes: unknown[];
    arrays: { pane: number; name: string; type: "f32" | "u32"; length: number }[];
}

const text = new TextDecoder();
const NO_FLOATS = new Float32Array(0);
const NO_NUMBERS = new Uint32Array(0);

/** The arrays are views of the message; nothing is copied. */
export function decode(message: ArrayBuffer): Binary {
    const [kind, bytes] = new Uint32Array(message, 0, 2);
    const header = JSON.parse(text.decode(new Uint8Array(message, 8, bytes))) as Header;
    const arrays: Record<string, Float32Array | Uint32Array>[] = header.panes.map(() => ({}));
    let at = 8 + bytes!;
    for (const { pane, name, type, length } of header.arrays) {
        arrays[pane]![name] = type === "f32" ? new Float32Array(message, at, length) : new Uint32Array(message, at, length);
        at += 4 * length;
    }
    if (kind === 1) {
        const panes = header.panes.map((info, k) => geometry(info as GeometryInfo, arrays[k]!));
        return { kind: "geometry", version: header.version ?? 0, panes };
    }
    if (kind === 2) {
        const panes = header.panes.map((info, k) => frame(info as FrameInfo, arrays[k]!));
        return { kind: "frame", version: header.version ?? 0, number: header.number ?? 0, panes };
    }
    throw new Error(`a binary message of unknown kind ${kind}`);
}

function geometry(info: GeometryInfo, arrays: Record<string, Float32Array | Uint32Array>): Geometry {
    const numbers = (name: string) => (arrays[name] as Uint32Array | undefined) ?? NO_NUMBERS;
    const floats = (name: string) => (arrays[name] as Float32Array | undefined) ?? NO_FLOATS;
    const rest = floats("rest");
    return {
        ...info,
        size: longestEdge(rest) || info.size || 1,
        triangles: numbers("triangles"),
        lines: numbers("lines"),
        points: numbers("points"),
        pinned: numbers("pinned"),
        material: floats("material"),
        rest,
        tets: numbers("tets"),
    };
}

function longestEdge(x: Float32Array): number {
    let longest = 0;
    for (let c = 0; c < 3; c++) {
        let low = Infinity;
        let high = -Infinity;
        for (let k = c; k < x.length; k += 3) {
            low = Math.min(low, x[k]!);
            high = Math.max(high, x[k]!);
        }
        longest = Math.max(longest, high - low);
    }
    return longest;
}

function frame(info: FrameInfo, arrays: Record<string, Float32Array | Uint32Array>): Frame {
    const floats = (name: string) => (arrays[name] as Float32Array | undefined) ?? null;
    return {
        ...info,
        positions: floats("positions") ?? NO_FLOATS,
        field: floats("field"),
        forces: floats("forces"),
        outside: floats("outside"),
        momenta: floats("momenta"),
        contacts: floats("contacts"),
    };
}
