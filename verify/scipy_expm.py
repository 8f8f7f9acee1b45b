"""Exponential methods on a linear body equal SciPy's matrix exponential.

A clamped, stretched, thrown bar of linear elasticity is a linear system: five long steps of `ere` by products, by
solves and by Arnoldi must be SciPy's expm of the matrices that `modes --matrices` writes, whatever the step; and so
must `siere`, if all its modes are wanted. Lumped and consistent mass, without and with Rayleigh damping.
"""

import common
from common import check, np

ALPHA, BETA, STEP, END = 2.0, 1e-4, 0.05, 0.25


def main():
    common.need("scipy")
    from scipy.linalg import expm
    for mass, damped in (("lumped", False), ("lumped", True), ("consistent", False)):
        def scene(name, options):
            keys = {"damping": {"model": "rayleigh", "alpha": ALPHA, "beta": BETA}} if damped else {}
            return common.one_body(
                common.box([1, 0.3, 0.3], [3, 1, 1]), {"model": "linear", "E": 1e6, "nu": 0.3, "rho": 1000},
                mass=mass, step=STEP, end=END, integrator=name, options=options, fields=["velocity", "displacement"],
                initial={"stretch": [1.05, 0.98, 1.01], "velocity": [0.1, -0.2, 0.3]},
                pin=[{"where": {"box": {"min": [-0.01, -1, -1], "max": [0.01, 2, 2]}}}], **keys)

        found = common.modes(scene("ere", {}), 3, matrices=True)
        start = common.run(scene("ere", {})).frame(0)
        K, M, f = found.K.toarray(), found.M.toarray(), found.free
        u, v = (start.points - common.at_rest(start)).ravel(), start.point["velocity"].ravel()
        n = f.sum()
        inverse = np.linalg.inv(M[np.ix_(f, f)])
        D = (ALPHA * M + BETA * K if damped else 0 * K)[np.ix_(f, f)]
        # (u, v, 1)' of the free unknowns; what is held pulls on them.
        J = np.zeros((2 * n + 1, 2 * n + 1))
        J[:n, n:2 * n] = np.eye(n)
        J[n:2 * n, :n] = -inverse @ K[np.ix_(f, f)]
        J[n:2 * n, n:2 * n] = -inverse @ D
        J[n:2 * n, 2 * n] = -inverse @ K[np.ix_(f, ~f)] @ u[~f]
        truth = (expm(END * J) @ np.concatenate([u[f], v[f], [1]]))[:n]
        what = f"{mass} mass{', damped' if damped else ''}"
        methods = [("ere", {"method": m, "tolerance": 1e-12}) for m in ("lanczos", "shift-invert", "general")]
        for name, options in [*methods, ("siere", {"modes": 200})]:
            end = common.run(scene(name, options)).frame(-1)
            answer = (end.points - common.at_rest(end)).ravel()[f]
            label = f"{name} {options.get('method', 'with all modes')}"
            check(f"{what}, {label}: displacement after five steps", np.abs(answer - truth).max() / np.abs(truth).max(), 1e-9)


common.start(main)
