#!/usr/bin/env python3
"""Makes the meshes of the scenes in this folder: stand-ins of our own for bodies whose meshes are not free.

Each is a set of cells of a grid, six tets per cell, and a map that bends the grid. `scenes/papers/meshes.py` writes them beside
itself.
"""

import itertools
import math
from pathlib import Path


def write(name, cells, place, same=lambda node: node):
    """A mesh file; `place` maps a node of the grid to a point, `same` nodes that are glued to one."""
    numbers, tets = {}, []
    for cell in cells:
        for order in itertools.permutations(range(3)):
            at, tet = list(cell), [cell]
            for axis in order:
                at[axis] += 1
                tet.append(tuple(at))
            tets.append([numbers.setdefault(same(node), len(numbers)) for node in tet])
    points = [place(*node) for node in numbers]
    with open(Path(__file__).parent / name, "w") as file:
        print("MeshVersionFormatted 1\nDimension 3\nVertices", len(points), sep="\n", file=file)
        for x in points:
            print(*(f"{c + 0.0:.5g}" for c in x), 0, file=file)
        print("Tetrahedra", len(tets), sep="\n", file=file)
        for tet in tets:
            a, b, c, d = (points[i] for i in tet)
            e = [[q - p for p, q in zip(a, x)] for x in (b, c, d)]
            volume = sum(e[0][i] * (e[1][i - 2] * e[2][i - 1] - e[1][i - 1] * e[2][i - 2]) for i in range(3))
            assert abs(volume) > 1e-12, f"{name}: a flat tet"
            print(*(i + 1 for i in (tet if volume > 0 else tet[:2] + tet[:1:-1])), 0, file=file)
        print("End", file=file)
    print(f"{name}: {len(points)} vertices, {len(tets)} tets")


def rope(turns=3, per_turn=24, radius=0.15, pitch=0.06, width=0.03):
    """A square section swept along a helix."""
    def place(i, j, k):
        angle = 2 * math.pi * i / per_turn
        out = radius + width * (j - 0.5)
        return out * math.cos(angle), out * math.sin(angle), width * (k - 0.5) - pitch * i / per_turn
    write("rope.mesh", [(i, 0, 0) for i in range(turns * per_turn)], place)


def tower():
    """Four legs, a platform, a shaft: 3 m high."""
    legs = [(i, j, k) for i in (0, 3) for j in (0, 3) for k in range(7)]
    platform = [(i, j, k) for i in range(4) for j in range(4) for k in (7, 8)]
    shaft = [(i, j, k) for i in (1, 2) for j in (1, 2) for k in range(9, 20)]

    def place(i, j, k):
        half = 0.08 + 0.52 * math.exp(-0.16 * k)
        return half * (i / 2 - 1), half * (j / 2 - 1), 0.15 * k
    write("tower.mesh", legs + platform + shaft, place)


def tree():
    """A trunk and branches at three heights, which rise outwards: 2.4 m high."""
    cells = [(0, 0, k) for k in range(12)]
    for height, length in ((5, 6), (8, 5), (11, 4)):
        for r in range(1, length + 1):
            cells += [(r, 0, height), (-r, 0, height), (0, r, height), (0, -r, height)]
            if r == 3:
                cells += [(r, s, height) for s in (1, 2, -1, -2)] + [(-r, s, height) for s in (1, 2, -1, -2)]

    def place(i, j, k):
        x, y, z = 0.1 * (i - 0.5), 0.1 * (j - 0.5), 0.2 * k
        thin = 1 - 0.5 * k / 12 if abs(i - 0.5) < 1 and abs(j - 0.5) < 1 else 1
        return thin * x, thin * y, z + 0.35 * (math.hypot(x, y) if k > 4 else 0)
    write("tree.mesh", cells, place)


def bridge():
    """A deck on two piers with a parapet: 20 m long."""
    deck = [(i, j, 3) for i in range(40) for j in range(3)]
    parapet = [(i, j, 4) for i in range(40) for j in (0, 2)]
    piers = [(i, j, k) for i in (12, 13, 26, 27) for j in range(3) for k in range(3)]
    write("bridge.mesh", deck + parapet + piers, lambda i, j, k: (0.5 * i, 0.8 * j, 1.0 * k if k < 3 else 3 + 0.4 * (k - 3)))


def honeycomb(across=5, rows=5):
    """A sheet of hexagonal cells: a wall of bricks whose beds zigzag."""
    cells = []
    for i, j in itertools.product(range(8 * across + 1), range(4 * rows + 1)):
        bed, course = j % 4 == 0, j // 4
        if bed or i % 8 == 4 * (course % 2):
            cells.append((i, j, 0))

    def place(i, j, k):
        zigzag = abs((i + 4 * ((j // 4) % 2)) % 8 - 4) / 4 - 0.5
        return 0.025 * i, 0.035 * j + 0.03 * (zigzag if j % 4 in (0, 1) else 0), 0.05 * k
    write("honeycomb.mesh", cells, place)


def moebius(around=48, across=4):
    """A band with half a twist, 1 m wide."""
    def same(node):
        i, j, k = node
        return (0, across - j, 1 - k) if i == around else node

    def place(i, j, k):
        angle, w, t = 2 * math.pi * i / around, 0.3 * (j / across - 0.5), 0.04 * (k - 0.5)
        cos, sin = math.cos(angle / 2), math.sin(angle / 2)
        out, up = 0.35 + w * cos - t * sin, w * sin + t * cos
        return out * math.cos(angle), out * math.sin(angle), up
    write("moebius.mesh", [(i, j, 0) for i in range(around) for j in range(across)], place, same)


def tetrahedron():
    """A regular tetrahedron around the origin; one tet."""
    with open(Path(__file__).parent / "tetrahedron.mesh", "w") as file:
        print("MeshVersionFormatted 1\nDimension 3\nVertices\n4\n1 1 1 0\n1 -1 -1 0\n-1 1 -1 0\n-1 -1 1 0\nTetrahedra\n1\n1 3 2 4 0\nEnd",
              file=file)


for make in (rope, tower, tree, bridge, honeycomb, moebius, tetrahedron):
    make()
