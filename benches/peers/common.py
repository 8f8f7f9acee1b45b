"""The common beam, for programs that know nothing of lilyan.

Box 4 × 1 × 1 m of 4n × n × n cubes, each cut into six Kuhn tets; E = 1e6 Pa, nu = 0.45, rho = 1000 kg/m³,
neo-Hookean with ln J, face x = 0 clamped, gravity -9.81 in y, from rest, backward Euler with h = 0.01 s, consistent mass.
A step ends when the norm of the residual is below 1e-6 of that at its start. "Tip" is the mean displacement in y of
the nodes at x = 4.

The explicit job: the same with symplectic Euler, h = 2e-4 s.
"""

import argparse
import itertools
import json
import time

import numpy as np

E, NU, RHO, G, H, TOLERANCE = 1e6, 0.45, 1000.0, -9.81, 0.01, 1e-6
INNER = 3e-4  # for linear systems solved by iteration: just close enough for two Newton iterations
MU, LAMBDA = E / (2 * (1 + NU)), E * NU / ((1 + NU) * (1 - 2 * NU))
EXPLICIT_H = 2e-4


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


def lumped(points, tets):
    """Mass of each point."""
    edges = points[tets[:, 1:]] - points[tets[:, :1]]
    return np.bincount(tets.ravel(), np.repeat(RHO * np.linalg.det(edges) / 24, 4), len(points))


def newton(u, gradient, correct):
    """Newton's method from `u`, which it changes. `gradient(u)`; `correct(u, g)` solves for the correction.
    Returns the number of iterations."""
    first = None
    for k in itertools.count():
        g = gradient(u)
        size = np.linalg.norm(g)
        first = first or size
        if size <= TOLERANCE * first:
            return k
        if not k < 50:
            raise RuntimeError(f"Newton's method does not converge: {size / first:g} after {k} iterations")
        u -= correct(u, g)


def main(name, version, settings, prepare=None, explicit=None, **more):
    """Runs a program and prints its figures as a line of JSON.

    `prepare(points, tets)` returns a function that takes one step (and may return its Newton iterations) and one
    that tells the tip; `explicit` the same for the explicit job. `more` says what differs from the common beam:
    `mass="lumped"`, `material="stable neo-Hookean"`, …
    """
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("-n", type=int, default=8, help="cells across")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=np.inf, help="stop after the step in which these are over")
    parser.add_argument("--explicit", action="store_true", help="the explicit job")
    arguments = parser.parse_args()
    prepare = explicit if arguments.explicit else prepare
    if prepare is None:
        parser.error("this program has no such method")
    points, tets = kuhn(arguments.n)
    step, tip = prepare(points, tets)
    times, iterations = [], []
    while len(times) < arguments.steps and not (sum(times) > arguments.seconds and len(times) > 2):
        start = time.perf_counter()
        iterations.append(step())
        times.append(time.perf_counter() - start)
    seconds = float(np.median(times))
    counted = {"newton_per_step": float(np.mean(iterations))} if None not in iterations else {}
    if arguments.explicit:
        counted["million_tets_per_second"] = len(tets) / seconds / 1e6
    print(json.dumps({
        "program": name, "version": version, "settings": settings, **more, "n": arguments.n, "tets": len(tets),
        "steps": len(times), "seconds_per_step": seconds, **counted, "tip": float(tip()),
    }))
