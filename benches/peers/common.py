"""The common beam, for programs that know nothing of lilyan.

Box 4 × 1 × 1 m of 4n × n × n cubes, each cut into six Kuhn tets; E = 1e6 Pa, nu = 0.45, rho = 1000 kg/m³,
neo-Hookean with ln J, face x = 0 clamped, gravity -9.81 in y, from rest, backward Euler with h = 0.01 s, consistent mass.
A step ends when the norm of the residual is below 1e-6 of that at its start. "Tip" is the mean displacement in y of
the nodes at x = 4.
"""

import argparse
import itertools
import json
import time

import numpy as np

E, NU, RHO, G, H, TOLERANCE = 1e6, 0.45, 1000.0, -9.81, 0.01, 1e-6
MU, LAMBDA = E / (2 * (1 + NU)), E * NU / ((1 + NU) * (1 - 2 * NU))


def kuhn(n):
    """Points and tets, positively oriented."""
    cells = np.array([4 * n, n, n])
    grid = np.stack(np.meshgrid(*(np.arange(c + 1) for c in cells), indexing="ij"), -1).reshape(-1, 3)
    number = lambda at: (at[:, 0] * (n + 1) + at[:, 1]) * (n + 1) + at[:, 2]
    corner = np.stack(np.meshgrid(*(np.arange(c) for c in cells), indexing="ij"), -1).reshape(-1, 3)
    tets = []
    for order in itertools.permutations(range(3)):
        path = [corner]
        for axis in order:
            path.append(path[-1] + np.eye(3, dtype=int)[axis])
        if np.linalg.det(np.array([p[0] - corner[0] for p in path[1:]])) < 0:
            path[2], path[3] = path[3], path[2]
        tets.append(np.stack([number(p) for p in path], 1))
    return grid / n, np.concatenate(tets)


def main(name, version, settings, prepare):
    """`prepare(points, tets)` returns a function that takes one step, and one that tells the tip."""
    parser = argparse.ArgumentParser()
    parser.add_argument("-n", type=int, default=8, help="cells across")
    parser.add_argument("--steps", type=int, default=100)
    arguments = parser.parse_args()
    points, tets = kuhn(arguments.n)
    step, tip = prepare(points, tets)
    times, newton = [], []
    for _ in range(arguments.steps):
        start = time.perf_counter()
        newton.append(step())
        times.append(time.perf_counter() - start)
    print(json.dumps({
        "program": name, "version": version, "settings": settings, "tets": len(tets), "steps": arguments.steps,
        "seconds_per_step": float(np.median(times)), "newton_per_step": float(np.mean(newton)), "tip": float(tip()),
    }))
