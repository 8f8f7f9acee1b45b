"""Trajectories converge to SciPy's, each method with the order it claims.

Six tets (a unit cube, stretched, spun, thrown), Saint-Venant–Kirchhoff and logarithmic neo-Hookean, with forces
written here in NumPy from METHODS §1, integrated by SciPy's DOP853 to 1e-12. lilyan's methods run with three
steps, each half of the last: the error at the end must fall with the claimed order, and Richardson's extrapolation
of the last two must come closer still. Mass is lumped, a quarter of each tet per corner.
"""

import common
from common import check, np

E, NU, RHO = 1e4, 0.3, 1000.0
SPIN, SPEED, STRETCH = [0.3, 0.5, 2.0], [0.1, -0.2, 0.3], [1.15, 0.95, 0.9]
END = 0.5  # s: about one period of the lowest elastic mode
# Claimed order, and the longest step, and options.
METHODS = {"variational": (2, 0.01), "verlet": (2, 0.005), "energy-momentum": (2, 0.01), "variational-4": (4, 0.02),
           "rk4": (4, 0.01), "backward-euler": (1, 0.0025), "semi-implicit": (1, 0.0025), "explicit-euler": (1, 0.000625),
           "ere": (2, 0.01), "siere": (1, 0.0025), "siere midpoint": (2, 0.01, {"h_part": "midpoint"}),
           "galerkin": (4, 0.05), "galerkin 6": (6, 0.05, {"order": 6}), "galerkin 8": (8, 0.125, {"order": 8}),
           "galerkin lobatto": (4, 0.05, {"points": "lobatto"}),
           "galerkin lobatto 6": (6, 0.05, {"points": "lobatto", "order": 6})}


def forces(model, rest, tets):
    """f(x) for positions x (n, 3), and the mass of each vertex."""
    lam, mu, _ = common.constants(E, NU)
    edges = np.stack([rest[tets[:, k]] - rest[tets[:, 0]] for k in (1, 2, 3)], axis=2)
    volume = np.linalg.det(edges) / 6
    inverse = np.linalg.inv(edges)
    # ∇N of corners 1, 2, 3 are the rows of the inverse; they add up to nothing with corner 0.
    gradients = np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1)
    mass = np.zeros(len(rest))
    np.add.at(mass, tets.ravel(), np.repeat(RHO * volume / 4, 4))

    def f(x):
        F = np.einsum("eai,eaj->eij", x[tets], gradients)
        if model == "stvk":
            strain = 0.5 * (np.swapaxes(F, 1, 2) @ F - np.eye(3))
            trace = np.trace(strain, axis1=1, axis2=2)[:, None, None]
            P = F @ (2 * mu * strain + lam * trace * np.eye(3))
        else:
            J = np.linalg.det(F)
            inverted = np.swapaxes(np.linalg.inv(F), 1, 2)
            P = mu * (F - inverted) + (lam * np.log(J))[:, None, None] * inverted
        out = np.zeros_like(x)
        np.add.at(out, tets.ravel(), -np.einsum("e,eij,eaj->eai", volume, P, gradients).reshape(-1, 3))
        return out

    return f, mass


def main():
    common.need("scipy")
    from scipy.integrate import solve_ivp
    for model in ("stvk", "neo-hookean-log"):
        def scene(label, step, options={}):
            name = label.split()[0]
            options = options | ({} if name in ("verlet", "rk4", "explicit-euler", "semi-implicit") else {"tolerance": 1e-13})
            return common.one_body(
                common.box([1, 1, 1], [1, 1, 1]), {"model": model, "E": E, "nu": NU, "rho": RHO}, step=step, end=END,
                integrator=name, options=options, fields=["velocity", "displacement", "force", "mass"],
                initial={"stretch": STRETCH, "angular_velocity": SPIN, "velocity": SPEED})

        start = common.run(scene("verlet", 0.01)).frame(0)
        f, mass = forces(model, common.at_rest(start), start.tets)
        x, v = start.points, start.point["velocity"]
        check(f"{model}: nodal forces and masses at the start",
              max(common.off(start.point["force"], f(x)), common.off(start.point["mass"], mass)), 1e-13)
        n = x.size
        answer = solve_ivp(lambda t, y: np.concatenate([y[n:], (f(y[:n].reshape(-1, 3)) / mass[:, None]).ravel()]),
                           (0, END), np.concatenate([x.ravel(), v.ravel()]), "DOP853", rtol=1e-13, atol=1e-14)
        truth = answer.y[:n, -1].reshape(-1, 3)
        moved = np.abs(truth - x).max()
        for name, (order, step, *options) in METHODS.items():
            ends = [common.run(scene(name, step / 2**k, *options)).frame(-1) for k in range(3)]
            assert all(abs(e.time - END) < 1e-12 for e in ends)
            errors = [np.abs(e.points - truth).max() / moved for e in ends]
            slope = np.log2(errors[1] / errors[2])
            check(f"{model}, {name}: order (error {errors[2]:.1e} at h = {step / 4:g})", slope, f"{order} ± 0.1",
                  abs(slope - order) <= 0.1)
            better = (2**order * ends[2].points - ends[1].points) / (2**order - 1)
            check(f"{model}, {name}: error extrapolated, of that at h = {step / 4:g}",
                  np.abs(better - truth).max() / moved / errors[2], 0.1)


common.start(main)
