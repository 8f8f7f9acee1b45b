import { expect, test } from "vitest";
import { splitAtCreases, uniqueEdges, vertexNormals } from "../../src/view/creases.ts";
import { layout } from "../../src/view/layout.ts";
import { brush, pick } from "../../src/view/pick.ts";
import type { Geometry } from "../../src/protocol.ts";
// @ts-expect-error: plain JavaScript
import { box } from "../mock.mjs";

const cube = (cells: number): { rest: Float32Array; triangles: Uint32Array } => box([1, 1, 1], [cells, cells, cells]);
const geometry = (part: Partial<Geometry>): Geometry => ({
    triangles: new Uint32Array(), lines: new Uint32Array(), points: new Uint32Array(), pinned: new Uint32Array(), material: new Float32Array(), rest: new Float32Array(),
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
