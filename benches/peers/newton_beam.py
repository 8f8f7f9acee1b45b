"""Newton on the common beam: its vertex block descent; explicit, its semi-implicit solver. On the CPU, single precision.

VBD has the stable neo-Hookean model without the logarithm: μ/2 (tr C − 3) + (λ + μ)/2 (J − 1 − μ/(λ + μ))²; a fixed number
of sweeps, no tolerance. The semi-implicit solver has the one with it, which is lilyan's "stable-neo-hookean".
"""

import sys

import common
import newton
import warp

SWEEPS = 50


def beam(points, tets, solver, h, k_mu, k_lambda):
    builder = newton.ModelBuilder(up_axis=newton.Axis.Y, gravity=(0, common.G, 0))
    identity = warp.quat_identity()
    builder.add_soft_mesh(
        pos=warp.vec3(0, 0, 0), rot=identity, scale=1.0, vel=warp.vec3(0, 0, 0), vertices=[warp.vec3(*p) for p in points],
        indices=tets.ravel().tolist(), density=common.RHO, k_mu=k_mu, k_lambda=k_lambda, k_damp=0.0,
        add_surface_mesh_edges=False,
    )
    masses = common.lumped(points, tets)
    for i in range(len(points)):
        builder.particle_mass[i] = float(masses[i]) if points[i, 0] > 0 else 0.0
    builder.color()
    model = builder.finalize(device="cpu")
    model.particle_grid = None  # no contacts
    solve, now, then, control = solver(model), model.state(), model.state(), model.control()

    def step():
        nonlocal now, then
        now.clear_forces()
        solve.step(now, then, control, None, h)
        now, then = then, now

    return step, lambda: (now.particle_q.numpy() - points)[points[:, 0] == 4, 1].mean()


def prepare(points, tets):
    solver = lambda model: newton.solvers.SolverVBD(
        model, iterations=SWEEPS, particle_enable_self_contact=False, particle_enable_tile_solve=False,
        rigid_compliant_alm=True)
    return beam(points, tets, solver, common.H, common.MU, common.LAMBDA)


def explicit(points, tets):
    mu, lam = common.MU * 4 / 3, common.LAMBDA + common.MU * 5 / 6
    solver = lambda model: newton.solvers.SolverSemiImplicit(model, enable_tri_contact=False)
    return beam(points, tets, solver, common.EXPLICIT_H, mu, lam)


if __name__ == "__main__":
    warp.config.quiet = True
    if "--explicit" in sys.argv:
        settings, model = "semi-implicit solver, single precision", "stable-neo-hookean"
    else:
        settings, model = f"VBD, {SWEEPS} sweeps, single precision", "stable neo-Hookean without logarithm"
    common.main("Newton", newton.__version__, settings, prepare, explicit, mass="lumped", material=model)
