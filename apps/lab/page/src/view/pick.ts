// Finds the vertex under the pointer.

import type { Geometry, Vec3 } from "../protocol.ts";

export interface Ray {
    origin: Vec3;
    /** Unit vector. */
    direction: Vec3;
}

/** The vertex nearest to the first intersection of the ray with the surface, or a vertex of a rope or a point near the ray; −1 for none. */
export function pick(geometry: Geometry, positions: Float32Array, ray: Ray, radians: number): number {
    const hit = surfaceHit(geometry.triangles, positions, ray);
    const near = nearestToRay(geometry, positions, ray, radians);
    return near.vertex >= 0 && near.depth < hit.depth ? near.vertex : hit.vertex;
}

function surfaceHit(triangles: Uint32Array, x: Float32Array, ray: Ray): { vertex: number; depth: number } {
    const [ox, oy, oz] = ray.origin;
    const [dx, dy, dz] = ray.direction;
    let depth = Infinity;
    let vertex = -1;
    for (let k = 0; k < triangles.length; k += 3) {
        const a = 3 * triangles[k]!;
        const b = 3 * triangles[k + 1]!;
        const c = 3 * triangles[k + 2]!;
        const ux = x[b]! - x[a]!, uy = x[b + 1]! - x[a + 1]!, uz = x[b + 2]! - x[a + 2]!;
        const vx = x[c]! - x[a]!, vy = x[c + 1]! - x[a + 1]!, vz = x[c + 2]! - x[a + 2]!;
        // [möller–trumbore 1997]
        const px = dy * vz - dz * vy, py = dz * vx - dx * vz, pz = dx * vy - dy * vx;
        const determinant = ux * px + uy * py + uz * pz;
        if (determinant === 0) continue;
        const sx = ox - x[a]!, sy = oy - x[a + 1]!, sz = oz - x[a + 2]!;
        const u = (sx * px + sy * py + sz * pz) / determinant;
        if (u < 0 || u > 1) continue;
        const qx = sy * uz - sz * uy, qy = sz * ux - sx * uz, qz = sx * uy - sy * ux;
        const v = (dx * qx + dy * qy + dz * qz) / determinant;
        if (v < 0 || u + v > 1) continue;
        const t = (vx * qx + vy * qy + vz * qz) / determinant;
        if (t <= 0 || t >= depth) continue;
        depth = t;
        // The corner with the largest barycentric coordinate is close to the nearest one.
        const w = 1 - u - v;
        vertex = w >= u && w >= v ? triangles[k]! : u >= v ? triangles[k + 1]! : triangles[k + 2]!;
    }
    return { vertex, depth };
}

function nearestToRay(geometry: Geometry, x: Float32Array, ray: Ray, radians: number): { vertex: number; depth: number } {
    const [ox, oy, oz] = ray.origin;
    const [dx, dy, dz] = ray.direction;
    const best = { vertex: -1, depth: Infinity };
    let narrowest = radians;
    for (const list of [geometry.lines, geometry.points]) {
        for (const vertex of list) {
            const rx = x[3 * vertex]! - ox, ry = x[3 * vertex + 1]! - oy, rz = x[3 * vertex + 2]! - oz;
            const along = rx * dx + ry * dy + rz * dz;
            if (along <= 0) continue;
            const angle = Math.sqrt(Math.max(rx * rx + ry * ry + rz * rz - along * along, 0)) / along;
            if (angle < narrowest) {
                narrowest = angle;
                best.vertex = vertex;
                best.depth = along;
            }
        }
    }
    return best;
}

/** Vertices within `radius` of `center` in the rest shape; the center is the first. */
export function brush(rest: Float32Array, center: number, radius: number): number[] {
    const found = [center];
    const [x, y, z] = [rest[3 * center]!, rest[3 * center + 1]!, rest[3 * center + 2]!];
    for (let k = 0; radius > 0 && k < rest.length / 3; k++) {
        if (k !== center && Math.hypot(rest[3 * k]! - x, rest[3 * k + 1]! - y, rest[3 * k + 2]! - z) <= radius) found.push(k);
    }
    return found;
}
