// Finds the corners of a surface that share one normal.
//
// Vertices on sharp edges are duplicated, so that a box has flat faces and a ball is round.

export interface Split {
    /** The mesh vertex of each drawn vertex. */
    source: Uint32Array;
    /** Drawn vertices of the triangles. */
    index: Uint32Array;
}

export function splitAtCreases(triangles: Uint32Array, rest: Float32Array, degrees = 35): Split {
    const corners = triangles.length;
    const normals = faceNormals(triangles, rest);
    const threshold = Math.cos((degrees * Math.PI) / 180);
    const parent = new Uint32Array(corners).map((_, k) => k);
    const find = (k: number): number => {
        while (parent[k] !== k) k = parent[k] = parent[parent[k]!]!;
        return k;
    };

    const vertices = rest.length / 3;
    const seen = new Map<number, number>();
    for (let corner = 0; corner < corners; corner++) {
        const next = corner % 3 === 2 ? corner - 2 : corner + 1;
        const a = triangles[corner]!;
        const b = triangles[next]!;
        const edge = Math.min(a, b) * vertices + Math.max(a, b);
        const other = seen.get(edge);
        if (other === undefined) {
            seen.set(edge, corner);
            continue;
        }
        if (dot(normals, Math.floor(corner / 3), Math.floor(other / 3)) < threshold) continue;
        const otherNext = other % 3 === 2 ? other - 2 : other + 1;
        const same = triangles[other] === a;
        parent[find(corner)] = find(same ? other : otherNext);
        parent[find(next)] = find(same ? otherNext : other);
    }

    const index = new Uint32Array(corners);
    const number = new Map<number, number>();
    const source: number[] = [];
    for (let corner = 0; corner < corners; corner++) {
        const root = find(corner);
        let drawn = number.get(root);
        if (drawn === undefined) {
            drawn = source.length;
            number.set(root, drawn);
            source.push(triangles[corner]!);
        }
        index[corner] = drawn;
    }
    return { source: Uint32Array.from(source), index };
}

/** Each edge of the triangles once. */
export function uniqueEdges(triangles: Uint32Array, vertices: number): Uint32Array {
    const seen = new Set<number>();
    const edges: number[] = [];
    for (let corner = 0; corner < triangles.length; corner++) {
        const a = triangles[corner]!;
        const b = triangles[corner % 3 === 2 ? corner - 2 : corner + 1]!;
        const edge = Math.min(a, b) * vertices + Math.max(a, b);
        if (seen.has(edge)) continue;
        seen.add(edge);
        edges.push(a, b);
    }
    return Uint32Array.from(edges);
}

/** Normals of drawn vertices: those of their triangles, weighted by area. Allocates nothing. */
export function vertexNormals(index: Uint32Array, positions: Float32Array, normals: Float32Array): void {
    normals.fill(0);
    for (let k = 0; k < index.length; k += 3) {
        const a = 3 * index[k]!;
        const b = 3 * index[k + 1]!;
        const c = 3 * index[k + 2]!;
        const ux = positions[b]! - positions[a]!;
        const uy = positions[b + 1]! - positions[a + 1]!;
        const uz = positions[b + 2]! - positions[a + 2]!;
        const vx = positions[c]! - positions[a]!;
        const vy = positions[c + 1]! - positions[a + 1]!;
        const vz = positions[c + 2]! - positions[a + 2]!;
        const x = uy * vz - uz * vy;
        const y = uz * vx - ux * vz;
        const z = ux * vy - uy * vx;
        normals[a]! += x;
        normals[a + 1]! += y;
        normals[a + 2]! += z;
        normals[b]! += x;
        normals[b + 1]! += y;
        normals[b + 2]! += z;
        normals[c]! += x;
        normals[c + 1]! += y;
        normals[c + 2]! += z;
    }
    for (let k = 0; k < normals.length; k += 3) {
        const x = normals[k]!;
        const y = normals[k + 1]!;
        const z = normals[k + 2]!;
        const scale = 1 / (Math.sqrt(x * x + y * y + z * z) || 1);
        normals[k] = x * scale;
        normals[k + 1] = y * scale;
        normals[k + 2] = z * scale;
    }
}

function faceNormals(triangles: Uint32Array, positions: Float32Array): Float32Array {
    const each = new Uint32Array(triangles.length).map((_, k) => k);
    const apart = new Float32Array(3 * triangles.length);
    for (let corner = 0; corner < triangles.length; corner++) {
        apart.set(positions.subarray(3 * triangles[corner]!, 3 * triangles[corner]! + 3), 3 * corner);
    }
    const normals = new Float32Array(apart.length);
    vertexNormals(each, apart, normals);
    return normals;
}

/** Dot product of the normals of two faces; `normals` has one for each of their three corners. */
function dot(normals: Float32Array, f: number, g: number): number {
    return normals[9 * f]! * normals[9 * g]! + normals[9 * f + 1]! * normals[9 * g + 1]! + normals[9 * f + 2]! * normals[9 * g + 2]!;
}
