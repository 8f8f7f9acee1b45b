// Cuts solids, so that what is inside is seen and can be reached: whole tets are left out, by their place at rest.

import type { Geometry } from "../protocol.ts";

export const AXES = ["x", "y", "z"] as const;
export type Axis = (typeof AXES)[number];

/** What remains below `share` of the extent along an axis. Without tets nothing is cut. */
export function cut(geometry: Geometry, axis: Axis | "none", share: number): Geometry {
    const { tets, rest } = geometry;
    if (axis === "none" || tets.length === 0) return geometry;
    const limit = place(rest, tets, AXES.indexOf(axis), share);
    const along = (vertex: number) => rest[3 * vertex + AXES.indexOf(axis)]!;
    const solid = new Uint8Array(rest.length / 3);
    const kept = new Uint8Array(rest.length / 3).fill(1);
    for (const vertex of tets) {
        solid[vertex] = 1;
        kept[vertex] = 0;
    }
    const faces = new Map<number, [number, number, number]>();
    for (let k = 0; k < tets.length; k += 4) {
        const tet = [tets[k]!, tets[k + 1]!, tets[k + 2]!, tets[k + 3]!] as const;
        if ((along(tet[0]) + along(tet[1]) + along(tet[2]) + along(tet[3])) / 4 > limit) continue;
        for (const vertex of tet) kept[vertex] = 1;
        for (let skipped = 0; skipped < 4; skipped++) addFace(faces, rest, tet, skipped);
    }
    const triangles = [...faces.values()].flat();
    for (let k = 0; k < geometry.triangles.length; k += 3) {
        const triangle = geometry.triangles.subarray(k, k + 3);
        if (!triangle.every((vertex) => solid[vertex])) triangles.push(...triangle);
    }
    const list: number[] = [];
    kept.forEach((is, vertex) => void (is && list.push(vertex)));
    return { ...geometry, triangles: Uint32Array.from(triangles), kept: Uint32Array.from(list) };
}

/** Coordinate of the cut. */
function place(rest: Float32Array, tets: Uint32Array, axis: number, share: number): number {
    let low = Infinity;
    let high = -Infinity;
    for (const vertex of tets) {
        low = Math.min(low, rest[3 * vertex + axis]!);
        high = Math.max(high, rest[3 * vertex + axis]!);
    }
    return low + share * (high - low);
}

/** Adds the face of a tet without one of its vertices, outward; a face that two tets share is taken out. */
function addFace(faces: Map<number, [number, number, number]>, x: Float32Array, tet: readonly number[], skipped: number): void {
    const [a, b, c] = tet.filter((_, k) => k !== skipped) as [number, number, number];
    const count = x.length / 3;
    const [first, second, third] = [a, b, c].toSorted((m, n) => m - n) as [number, number, number];
    const key = (first * count + second) * count + third;
    if (faces.delete(key)) return;
    const to = (vertex: number) => [0, 1, 2].map((k) => x[3 * vertex + k]! - x[3 * a + k]!) as [number, number, number];
    const [[ux, uy, uz], [vx, vy, vz], [wx, wy, wz]] = [to(b), to(c), to(tet[skipped]!)];
    const side = (uy * vz - uz * vy) * wx + (uz * vx - ux * vz) * wy + (ux * vy - uy * vx) * wz;
    faces.set(key, side > 0 ? [a, c, b] : [a, b, c]);
}
