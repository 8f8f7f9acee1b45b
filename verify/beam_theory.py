"""Frequencies converge to those of Timoshenko's beam under refinement.

A 10 x 1 x 1 m bar, clamped and free, with 2, 4 and 8 cells across, 4, 8 and 16 in the long form (Kuhn tets,
consistent mass; linear tets are too stiff, less so with every halving). The three values are extrapolated to h = 0
with the order they show. Theory: the ordinary differential equations of Timoshenko's beam (Cowper's shear
coefficient), solved with SciPy's matrix exponential; the thin beam of Euler and Bernoulli would be 0.8 % (clamped)
and 3.5 % (free) higher. Along the bar: wave speed √(E/ρ), a quarter and half a wave. Then the bars of PolyFEM's
data, whose first frequencies are known from another program (README of the public mesh set).
"""

import common
from common import check, np

E, NU, RHO, LENGTH, SIDE = 1e7, 0.3, 1000.0, 10.0, 1.0
BAR_SERIES = {186: 0.06982, 651: 0.04682, 2523: 0.03524, 14114: 0.02852}


def timoshenko(clamped):
    """First bending frequency (Hz): y' = A(ω) y with y = (w, φ, M, Q)."""
    from scipy.linalg import expm
    from scipy.optimize import brentq
    area, inertia = SIDE**2, SIDE**4 / 12
    shear = 10 * (1 + NU) / (12 + 11 * NU) * E / (2 * (1 + NU)) * area

    def determinant(omega):
        A = np.zeros((4, 4))
        A[0, 1], A[0, 3] = 1, 1 / shear  # w' = φ + Q/κGA
        A[1, 2] = 1 / (E * inertia)  # φ' = M/EI
        A[2, 1], A[2, 3] = -RHO * inertia * omega**2, -1  # M' = −Q − ρIω²φ
        A[3, 0] = -RHO * area * omega**2  # Q' = −ρAω²w
        T = expm(A * LENGTH)
        # Free at the far end; clamped, M and Q are unknown at the near one, free, w and φ.
        return np.linalg.det(T[2:, 2:] if clamped else T[2:, :2])

    euler = (1.8751040687 if clamped else 4.7300407449) ** 2 * np.sqrt(E * inertia / (RHO * area)) / LENGTH**2
    grid = np.linspace(0.5 * euler, 1.2 * euler, 200)
    values = [determinant(w) for w in grid]
    for a, b, fa, fb in zip(grid, grid[1:], values, values[1:]):
        if fa * fb < 0:
            return brentq(determinant, a, b, xtol=1e-12) / (2 * np.pi)
    raise RuntimeError("no root")


def main():
    common.need("scipy")
    speed = np.sqrt(E / RHO)
    for clamped in (True, False):
        kind = "cantilever" if clamped else "free bar"
        bending, along = [], []
        for n in (4, 8, 16) if common.LONG else (2, 4, 8):
            keys = {"pin": [{"where": "x < 0.001"}]} if clamped else {}
            scene = common.one_body(common.box([LENGTH, SIDE, SIDE], [10 * n, n, n]),
                                    {"model": "linear", "E": E, "nu": NU, "rho": RHO}, mass="consistent", **keys)
            found = common.modes(scene, 8 if clamped else 14, shapes=True)
            # Kuhn tets prefer one diagonal: the bending frequency is the mean of its two directions.
            first = 0 if clamped else 6
            bending.append(np.sqrt(np.mean(found.frequencies[first:first + 2] ** 2)))
            share = [np.sum(s[:, 0] ** 2) / np.sum(s**2) for s in found.shapes[first:]]
            along.append(found.frequencies[first + next(k for k, s in enumerate(share) if s > 0.9)])
        theory = timoshenko(clamped)
        limit, order = extrapolate(bending)
        check(f"{kind}: first bending, {', '.join(f'{f:.4f}' for f in bending)} → {limit:.4f} Hz, Timoshenko",
              limit / theory - 1, 0.01)
        if common.LONG:  # Coarser meshes are not yet near their limit.
            check(f"{kind}: order of convergence", order, "2 ± 0.2", abs(order - 2) <= 0.2)
        theory = speed / ((4 if clamped else 2) * LENGTH)
        limit, _ = extrapolate(along)
        check(f"{kind}: first along the bar, {', '.join(f'{f:.4f}' for f in along)} → {limit:.4f} Hz, wave speed",
              limit / theory - 1, 0.01)

    for tets, known in BAR_SERIES.items():
        mesh = common.public_mesh(f"polyfem/bar-{tets}.msh")
        if mesh is None:
            common.skip(f"PolyFEM's bar, {tets} tets: first bending frequency (Hz)", "the public mesh set is not here")
            continue
        low = common.tets_of(mesh).points[:, 0].min()
        scene = common.one_body(mesh, {"model": "linear", "E": 1e6, "nu": 0.3, "rho": 1000},
                                pin=[{"where": f"x < {low + 1e-6}"}])
        f = common.modes(scene, 1).frequencies[0]
        check(f"PolyFEM's bar, {tets} tets: first bending frequency (Hz)", f"{f:.6f}", f"{known:.5f}", abs(f - known) <= 0.51e-5)


def extrapolate(values):
    """Limit and order of a sequence with halved mesh size: aₖ = a + C 2^(−pk)."""
    a, b, c = values
    ratio = (a - b) / (b - c)
    return c - (b - c) / (ratio - 1), np.log2(ratio)


common.start(main)
