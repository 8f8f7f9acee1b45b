"""Coarse scenes against their fine ones: frequencies, motion of a probe, time of a run.

Layers, a soft crack, cavities, fibres and the tagged meshes of other programs; fine tets at least 100 times the coarse
ones. `average` is the thing to beat; `homogenize+eigenfit`, the default, has to have the frequencies to 3 % and the
motion to 10 % over five periods at a hundredth of the time.
"""

import json
import math

import common
import numpy as np

GRAVITY = {"gravity": [0, 0, -9.81]}
METHODS = ("average", "homogenize", "homogenize+eigenfit")


def held_below(axis, value):
    low, high = [-1e3] * 3, [1e3] * 3
    high[axis] = value
    return [{"body": "body", "where": {"box": {"min": low, "max": high}}}]


def scene(mesh, material, pin, probe):
    return {"title": "fine", "time": {"end": 1.0, "step": 0.01}, "integrator": {"name": "implicit-midpoint"},
            "environment": GRAVITY, "body": [{"name": "body", "mesh": mesh, "material": material}], "pin": pin,
            "probe": [{"body": "body", "at": probe, "name": "probe"}], "output": {"fields": [], "replay": False}}


def by_tag(values):
    """A formula of E from {tag: E}."""
    return " + ".join(f"{value!r}*(tag == {tag})" for tag, value in values.items())


def cheese(path):
    """A wheel with holes in one half: an outer cylinder and spheres turned inside out, as one surface."""
    vertices, faces = [], []

    def add(points, triangles):
        first = len(vertices) + 1
        vertices.extend(points)
        faces.extend([[first + i for i in t] for t in triangles])

    n, radius, height = 48, 1.0, 0.5
    ring = [(radius * math.cos(2 * math.pi * k / n), radius * math.sin(2 * math.pi * k / n)) for k in range(n)]
    points = [(x, y, 0.0) for x, y in ring] + [(x, y, height) for x, y in ring] + [(0, 0, 0.0), (0, 0, height)]
    triangles = []
    for k in range(n):
        j = (k + 1) % n
        triangles += [[k, j, n + j], [k, n + j, n + k], [2 * n, j, k], [2 * n + 1, n + k, n + j]]
    add(points, triangles)
    holes = [(0.25, -0.55, 0.22, 0.15), (0.3, 0.0, 0.27, 0.17), (0.28, 0.5, 0.2, 0.14), (0.68, -0.3, 0.25, 0.16),
             (0.7, 0.25, 0.24, 0.17), (0.55, 0.66, 0.27, 0.1), (0.5, -0.68, 0.3, 0.1)]
    rows, columns = 10, 16
    for x, y, z, r in holes:
        points = [(x, y, z - r), (x, y, z + r)]
        for i in range(1, rows):
            t = math.pi * (i / rows - 0.5)
            points += [(x + r * math.cos(t) * math.cos(2 * math.pi * k / columns),
                        y + r * math.cos(t) * math.sin(2 * math.pi * k / columns), z + r * math.sin(t))
                       for k in range(columns)]
        at = lambda i, k: 2 + (i - 1) * columns + k % columns  # noqa: E731
        triangles = []
        for k in range(columns):
            triangles += [[0, at(1, k), at(1, k + 1)], [1, at(rows - 1, k + 1), at(rows - 1, k)]]
            for i in range(1, rows - 1):
                triangles += [[at(i, k), at(i + 1, k), at(i, k + 1)], [at(i, k + 1), at(i + 1, k), at(i + 1, k + 1)]]
        add(points, triangles)
    lines = [f"v {x:.9g} {y:.9g} {z:.9g}" for x, y, z in vertices] + [f"f {a} {b} {c}" for a, b, c in faces]
    path.write_text("\n".join(lines) + "\n")
    return {"file": str(path), "tets": 30000 if common.LONG else 12000}


def finer(path, cells, more):
    """The scene with more cells in the long form, so that it is several hundred times as many tets."""
    if not common.LONG:
        return path
    text = path.read_text()
    assert cells in text, f"{path.name} has other cells than {cells}"
    out = common.folder() / path.name
    out.write_text(text.replace(cells, more))
    return out


def cases():
    built_in = lambda name: common.REPOSITORY / f"scenes/{name}.toml"  # noqa: E731
    # name, fine scene, coarse tets, what `average` is off by at least, what `homogenize` at most (first frequency)
    yield "layered cube", finer(built_in("layered-cube"), "[8, 8, 16]", "[12, 12, 24]"), 48, 1.0, 0.2
    # Under all of its weight the bar swings down by its length; here by a twelfth of it.
    yield "cracked bar", finer(built_in("cracked-bar"), "[40, 8, 8]", "[40, 16, 16]"), 100, 0.5, 0.25
    if not common.LONG:
        return
    fibre = "((y-0.25)^2 + (z-0.25)^2 < 0.01) + ((y-0.75)^2 + (z-0.25)^2 < 0.01)" \
            " + ((y-0.25)^2 + (z-0.75)^2 < 0.01) + ((y-0.75)^2 + (z-0.75)^2 < 0.01)"
    material = {"model": "linear", "nu": 0.3, "rho": 1000}
    yield "fibre bar", scene(common.box([4, 1, 1], [32, 12, 12]), {**material, "E": f"2e5 + 5e7*({fibre})"},
                             held_below(0, 1e-6), [4, 0.5, 0.5]), 250, None, None
    yield "half cheese", scene(cheese(common.folder() / "cheese.obj"), {**material, "E": 1e5},
                               held_below(0, -0.9), [0.9, 0, 0.25]), 300, None, None
    public = [("cube_sphere", "sfepy/cube_sphere.mesh", {1: 1e5, 2: 1e7}, -0.499, [0.5, 0, 0], 66),
              ("perfusion_micro3d", "sfepy/perfusion_micro3d.mesh", {1: 1e7, 2: 1e7, 3: 1e5}, 0.001, [1, 0.5, 0.5], 180),
              ("polyfem cubes", "polyfem/cubes_v41.msh", {1: 1e6, 2: 1e4, 3: 1e6}, -1.04, [1.04, 0, 0], 300)]
    for name, path, young, end, probe, tets in public:
        mesh = common.public_mesh(path)
        if mesh is None:
            common.skip(name, "the public meshes are not here")
            continue
        yield name, scene(mesh, {**material, "E": by_tag(young)}, held_below(0, end), probe), tets, None, None


def coarsened(fine, method, tets):
    directory = common.folder()
    answer = common.lilyan("coarsen", common._scene(fine, directory), "--tets", tets, "--method", method,
                           "-o", directory / "coarse", "--json")
    return directory / "coarse/scene.toml", json.loads(answer.stdout)


def motion(path, frequency, gravity, steps):
    """Probe over five periods of the first mode in so many steps each, and the wall time of a step."""
    step = 1 / frequency / steps
    run = common.run(path, time__step=step, time__end=5 / frequency, output__every=5 / frequency,
                     integrator='{ name = "implicit-midpoint" }', environment__gravity=gravity)
    table = run.probes
    x = np.stack([table[key] for key in list(table)[1:4]], axis=1)
    return x - x[0], run.summary["seconds_per_step_median"]


def main():
    for name, fine, tets, least, most in cases():
        exact = common.modes(fine, 6).frequencies
        gravity = [0, 0, -1.0] if name == "cracked bar" else GRAVITY["gravity"]
        steps = 30 if isinstance(fine, dict) else 60  # the built-in ones are not linear
        moved = None
        for method in METHODS:
            path, report = coarsened(fine, method, tets)
            found = common.modes(path, 6).frequencies
            off = found[:3] / exact[:3] - 1
            text = " ".join(f"{100 * o:+.1f} %" for o in off)
            title = f"{name}, {report['fine']['tets']} to {report['coarse']['tets']} tets, {method}"
            common.figure(f"{title}: first three frequencies off by", text)
            if method == METHODS[-1]:
                common.check(f"{title}: first three frequencies", np.abs(off).max(), 0.03)
            elif least is not None and method == "average":
                common.check(f"{title}: first frequency", f"{off[0]:.3f}", f"≥ {least}", off[0] >= least)
            elif most is not None:
                common.check(f"{title}: first frequency", off[0], most)
            if not common.LONG:
                continue
            if moved is None:
                moved = motion(fine, exact[0], gravity, steps)
            x, seconds = motion(path, exact[0], gravity, steps)
            error = np.abs(x - moved[0]).max() / np.abs(moved[0]).max()
            what = f"{title}: probe, of the deflection, over five periods"
            faster = moved[1] / seconds
            if method == METHODS[-1]:
                common.check(what, error, 0.1)
                common.check(f"{title}: fine step over coarse step, time", f"{faster:.0f}", "≥ 100", faster >= 100)
            else:
                common.figure(what, error)
                common.figure(f"{title}: fine step over coarse step, time", faster)
            common.figure(f"{title}: fine tets over coarse", report["tets_ratio"])


common.start(main)
