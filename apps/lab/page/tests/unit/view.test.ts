import { expect, test } from "vitest";
import { splitAtCreases, uniqueEdges, vertexNormals } from "../../src/view/creases.ts";
import { layout } from "../../src/view/layout.ts";
import { cut } from "../../src/view/cut.ts";
import { brush, pick } from "../../src/view/pick.ts";
import { ballUnder } from "../../src/view/surroundings.ts";
import type { Geometry } from "../../src/protocol.ts";
// @ts-expect-error: plain JavaScript
import { box } from "../mock.mjs";

const cube = (cells: number): { rest: Float32Array; triangles: Uint32Array } => box([1, 1, 1], [cells, cells, cells]);
const geometry = (part: Partial<Geometry>): Geometry => ({
    triangles: new Uint32Array(), lines: new Uint32Array(), points: new Uint32Array(), pinned: new Uint32Array(), material: new Float32Array(), rest: new Float32Array(), tets: new Uint32Array(),
    bodies: [], obstacles: [], up: [0, 1, 0], size: 1, bounds: [[0, 0, 0], [1, 1, 1]], ...part,
});

test("a cube has six faces with their own corners and straight normals", () => {
    const { rest, triangles } = cube(3);
    const { source, index } = splitAtCreases(triangles, rest);
    expect(source.length).toBe(6 * 16);
    expect([...index].map((k) => source[k])).toEqual([...triangles]);
    const positions = new Float32Array(3 * source.length);
    source.forEach((vertex, k) => positions.set(rest.subarray(3 * vertex, 3 * vertex + 3), 3 * k));
    const normals = new Float32Array(positions.length);
    vertexNormals(index, positions, normals);
    for (let k = 0; k < normals.length; k += 3) {
        const sizes = [...normals.subarray(k, k + 3)].map(Math.abs).toSorted();
        expect(sizes[0]).toBeCloseTo(0);
        expect(sizes[2]).toBeCloseTo(1);
        // Outward: away from the centre of the cube.
        const outward = [0, 1, 2].reduce((sum, c) => sum + normals[k + c]! * (positions[k + c]! - 0.5), 0);
        expect(outward).toBeCloseTo(0.5);
    }
});

test("a smooth surface keeps its vertices, and each edge is there once", () => {
    const ring = Array.from({ length: 32 }, (_, k) => [Math.cos((k * Math.PI) / 16), Math.sin((k * Math.PI) / 16)] as const);
    const rest = Float32Array.from(ring.flatMap(([x, y]) => [x, y, 0, x, y, 1]));
    const triangles = Uint32Array.from(ring.flatMap((_, k) => {
        const [a, b] = [2 * k, (2 * k + 2) % 64];
        return [a, b, a + 1, b, b + 1, a + 1];
    }));
    expect(splitAtCreases(triangles, rest).source.length).toBe(64);
    expect(uniqueEdges(triangles, 64).length / 2).toBe(32 * 4);
});

test("the vertex nearest to the hit is picked, on the near side", () => {
    const { rest, triangles } = cube(4);
    const shape = geometry({ rest, triangles });
    const hit = pick(shape, rest, { origin: [0.3, 0.55, 5], direction: [0, 0, -1] }, 0.01);
    expect([...rest.subarray(3 * hit, 3 * hit + 3)]).toEqual([0.25, 0.5, 1]);
    expect(pick(shape, rest, { origin: [3, 0.5, 5], direction: [0, 0, -1] }, 0.01)).toBe(-1);
    expect(pick(shape, rest, { origin: [0.3, 0.55, 5], direction: [0, 0, 1] }, 0.01)).toBe(-1);
});

test("points and ropes are picked within a few pixels", () => {
    const rest = Float32Array.of(0, 0, 0, 1, 0, 0);
    const shape = geometry({ rest, lines: Uint32Array.of(0, 1) });
    expect(pick(shape, rest, { origin: [1.02, 0, 5], direction: [0, 0, -1] }, 0.01)).toBe(1);
    expect(pick(shape, rest, { origin: [1.2, 0, 5], direction: [0, 0, -1] }, 0.01)).toBe(-1);
});

test("the brush takes what is near at rest", () => {
    const { rest } = cube(4);
    expect(brush(rest, 3, 0)).toEqual([3]);
    const near = brush(rest, 3, 0.26);
    expect(near[0]).toBe(3);
    expect(near.length).toBeGreaterThan(3);
});

test("panes cover the window without overlap", () => {
    for (const [width, height] of [[1280, 720], [500, 900]] as const) {
        for (let count = 1; count <= 4; count++) {
            const cells = layout(count, width, height);
            expect(cells.length).toBe(count);
            expect(cells.reduce((sum, cell) => sum + cell.width * cell.height, 0)).toBe(width * height);
        }
    }
    expect(layout(2, 1280, 720)[1]!.x).toBe(640);
    expect(layout(2, 500, 900)[1]!.y).toBe(450);
});

test("a cut leaves whole tets out, closes the surface and lets vertices inside be picked", () => {
    // Two tets that share the face x = 1, turned differently.
    const rest = Float32Array.of(0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 0, 1, 2, 0, 0);
    const tets = Uint32Array.of(0, 1, 2, 3, 4, 2, 1, 3);
    const surface = Uint32Array.of(0, 2, 1, 0, 1, 3, 0, 3, 2, 4, 1, 2, 4, 3, 1, 4, 2, 3);
    const shape = geometry({ rest, tets, triangles: surface });
    expect(cut(shape, "none", 0.5)).toBe(shape);
    expect(cut(shape, "x", 1).triangles.length).toBe(18);
    const half = cut(shape, "x", 0.5);
    expect(half.triangles.length).toBe(12);
    expect([...half.kept!]).toEqual([0, 1, 2, 3]);
    // Every face looks away from the middle of what remains.
    const middle = [0.75, 0.25, 0.25];
    for (let k = 0; k < half.triangles.length; k += 3) {
        const [a, b, c] = [0, 1, 2].map((j) => [0, 1, 2].map((i) => rest[3 * half.triangles[k + j]! + i]!)) as [number[], number[], number[]];
        const [u, v] = [b, c].map((p) => p.map((x, i) => x - a[i]!)) as [number[], number[]];
        const normal = [u[1]! * v[2]! - u[2]! * v[1]!, u[2]! * v[0]! - u[0]! * v[2]!, u[0]! * v[1]! - u[1]! * v[0]!];
        expect(normal.reduce((sum, n, i) => sum + n * (a[i]! - middle[i]!), 0)).toBeGreaterThan(0);
    }
    expect(pick(half, rest, { origin: [5, 0.1, 0.1], direction: [-1, 0, 0] }, 0.001)).toBe(1);
    // What is no solid is not cut.
    const cloth = geometry({ rest: Float32Array.of(...rest, 3, 0, 0, 4, 0, 0, 4, 1, 0), tets, triangles: Uint32Array.of(...surface, 5, 6, 7) });
    expect([...cut(cloth, "x", 0.5).triangles].slice(-3)).toEqual([5, 6, 7]);
});

test("a ball is drawn below the triangles that lie on it", () => {
    // An equilateral triangle with edges of 0.1 on a ball of radius 0.25.
    const [radius, edge] = [0.25, 0.1];
    const height = Math.sqrt(radius ** 2 - edge ** 2 / 3);
    const rest = Float32Array.from([0, 1, 2].flatMap((k) => [(edge / Math.sqrt(3)) * Math.cos((2 * Math.PI * k) / 3), (edge / Math.sqrt(3)) * Math.sin((2 * Math.PI * k) / 3), height]));
    expect(ballUnder(geometry({ rest, triangles: Uint32Array.of(0, 1, 2) }), radius)).toBeLessThan(height);
    expect(ballUnder(geometry({}), radius)).toBeCloseTo(0.995 * radius);
});
