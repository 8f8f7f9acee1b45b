"""Fits of coarse meshes to fine ones: frequencies, and the motion of a twisted bar.

A bar at four resolutions, the bar of [chen2019] (Fig. 3.5), and pairs of meshes from there. The motion of the fine twisted
bar comes from SciPy: the implicit midpoint rule with lilyan's K and M and one factorisation.
"""

import json
import resource

import common
import numpy as np

LINEAR = {"model": "linear", "E": 1e5, "nu": 0.3, "rho": 1000}


def bars():
    """One bar, 186 to 14,114 tets."""
    meshes = {n: common.public_mesh(f"polyfem/bar-{n}.msh") for n in (186, 651, 2523, 14114)}
    if None in meshes.values():
        common.skip("one bar at four resolutions", "the public meshes are not here")
        return
    def scene(mesh, **body):
        return common.one_body(mesh, LINEAR, integrator="implicit-midpoint", pin=[{"where": "x < 0.001"}], **body)
    fine = common.modes(scene(meshes[14114])).frequencies
    for n, count in ((186, 13), (651, 10), (2523, 10))[:3 if common.LONG else 2]:
        plain = common.modes(scene(meshes[n])).frequencies
        common.figure(f"bar of {n} tets, plain: first frequency over that of 14114 tets", plain[0] / fine[0])
        fitted = common.modes(scene(meshes[n], fit={"fine": meshes[14114], "modes": count})).frequencies
        common.check(f"bar of {n} tets, {count} modes fitted: ten frequencies", np.abs(fitted / fine - 1).max(), 0.03)
        dac = common.modes(scene(meshes[n], fit={"fine": meshes[14114], "method": "dac"})).frequencies
        common.figure(f"bar of {n} tets, dac: ten frequencies, worst", np.abs(dac / fine - 1).max())


def twisted(name, fine, coarse, pin, probe, velocity, end, step, beta, most, modes):
    """A bar that swings in torsion and decays: coarse, fitted and dac against the fine one."""
    common.need("scipy")
    from scipy.sparse.linalg import splu
    material = {"model": "linear", "E": 1e5, "nu": 0.45, "rho": 1000}

    def scene(mesh, **body):
        return common.one_body(mesh, material, integrator="implicit-midpoint", step=step, end=end,
                               pin=[{"where": pin}], damping={"model": "rayleigh", "beta": beta},
                               initial={"velocity": velocity}, probe=[{"body": "body", "name": "tip", "at": probe}], **body)
    found = common.modes(scene(fine), 1, matrices=True)
    frame = common.run(scene(fine), "--steps", 1).frame(0)
    free = found.free
    K, M = (a[free][:, free].tocsc() for a in (found.K, found.M))
    x, y, z = frame.points.T
    v = np.stack([eval(c, {"x": x, "y": y, "z": z}) + 0 * x for c in velocity], axis=1).ravel()[free]  # noqa: S307
    u = np.zeros_like(v)
    solve = splu((M + (step / 2 * beta + step**2 / 4) * K).tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0,
                 options={"SymmetricMode": True}).solve
    tip = weights(frame, np.array(probe))

    def place(u):
        full = np.zeros(len(free))
        full[free] = u
        return tip[1] @ full.reshape(-1, 3)[tip[0]]
    exact = [place(u)]
    for _ in range(round(end / step)):
        after = solve(M @ v - step * (K @ (u + step / 4 * v)) - step * beta / 2 * (K @ v))
        u, v = u + step / 2 * (v + after), after
        exact.append(place(u))
    exact = np.array(exact)
    for method, body in (("plain", {}), ("dac", {"fit": {"fine": fine, "method": "dac"}}),
                         ("eigenfit", {"fit": {"fine": fine, "modes": modes}})):
        table = common.run(scene(coarse, **body)).probes
        moved = np.stack([table[k] for k in list(table)[1:4]], axis=1)
        error = np.linalg.norm(moved - moved[0] - exact, axis=1).max() / np.linalg.norm(exact, axis=1).max()
        if method == "eigenfit":
            common.check(f"{name}, eigenfit: tip over the run, of its deflection", error, most)
        else:
            common.figure(f"{name}, {method}: tip over the run, of its deflection", error)


def weights(frame, point):
    """The tet that holds a point, and its barycentric coordinates."""
    corners = frame.points[frame.tets]
    matrix = np.concatenate([corners.transpose(0, 2, 1), np.ones((len(corners), 1, 4))], axis=1)
    coordinates = np.linalg.solve(matrix, np.append(point, 1)[None, :, None])[..., 0]
    best = coordinates.min(axis=1).argmax()
    return frame.tets[best], coordinates[best]


def pairs():
    """Fine and coarse meshes of [chen2019], swinging under gravity; nonlinear."""
    for name, fine, coarse, pin in (("armadillo", "arma_0", "arma_3", "y < 0.1"), ("arm", "arm_0", "arm_4", "x < -0.8"),
                                    ("bar", "brick_vert_2", "brick_vert_4", "x < 0.06")):
        meshes = [common.public_mesh(f"gauss/{m}.node") for m in (fine, coarse)]
        if None in meshes:
            common.skip(name, "the public meshes are not here")
            continue
        scene = common.one_body(meshes[0], {"model": "neo-hookean", "E": 3e5, "nu": 0.4, "rho": 1000}, step=0.01, end=1.0,
                                integrator="semi-implicit", environment={"gravity": [0, 0, -3]}, pin=[{"where": pin}])
        for method in ("dac", "eigenfit"):
            directory = common.folder()
            done = common.lilyan("coarsen", common._scene(scene, directory), "--mesh", meshes[1]["file"], "--method", method,
                                 "--compare", "-o", directory / "coarse", "--json")
            _, plain, fitted = json.loads(done.stdout)["consistency"]["runs"]
            gain = plain["probe_error_max"] / fitted["probe_error_max"]
            title = f"{name}: error of plain coarse over {method}"
            if method == "eigenfit":
                common.check(title, f"{gain:.2f}", "≥ 3", gain >= 3)
            else:
                common.figure(title, gain)
            common.figure(f"{name}: cost of a step with {method} over that of the fine mesh", fitted["cost_ratio"])


def cost():
    """C19 Table 3.2: CPU time of a fitted step over that of a plain coarse one, taken in turns."""
    made = {}
    for how in ("homogenize", "homogenize+eigenfit"):
        made[how] = common.folder() / "coarse"
        common.lilyan("coarsen", "layered-cube", "--tets", 192, "--method", how, "-o", made[how])

    def cpu(how, integrator, steps):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        common.lilyan("run", made[how] / "scene.toml", "--threads", 1, "--set", f"integrator.name={integrator}", "--set",
                      f"time.end={0.005 * steps}", "--set", "output.every=100", "-o", common.folder())
        return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
    for integrator in ("semi-implicit", "implicit-midpoint", "backward-euler"):
        turns = [[cpu(how, integrator, 600) - cpu(how, integrator, 20) for how in made] for _ in range(3)]
        plain, fitted = (min(turn[k] for turn in turns) for k in range(2))
        common.check(f"C19 Table 3.2, {integrator}: a fitted step over a plain one, CPU time", f"{fitted / plain:.2f}", "≤ 1.6",
              fitted <= 1.6 * plain)


def main():
    bars()
    twisted("twisted box", common.box([1, 0.6, 0.3], [16, 8, 6]), common.box([1, 0.6, 0.3], [8, 4, 3]), "x < 0.001",
            [1, 0.6, 0.3], ["0", "-3*x*(z-0.15)", "3*x*(y-0.3)"], 4.0, 0.02, 0.01, 0.07, 20)
    if not common.LONG:
        return
    meshes = [common.public_mesh(f"gauss/brick_vert_{k}.node") for k in (2, 4)]
    if None in meshes:
        common.skip("twisted bar of [chen2019]", "the public meshes are not here")
    else:
        twisted("twisted bar of [chen2019]", *meshes, "x < 0.06", [0.97, 0.64, 0.31],
                ["0", "-3*x*(z-0.1665)", "3*x*(y-0.333)"], 4.0, 0.01, 0.01, 0.02, 10)
    cost()
    pairs()


common.start(main)
