"""Who keeps the energy, and who survives: the scenes of [chen2019], Figs. 4.11 and 6.5–6.12, in kind.

Bodies are twisted and let go, or hung up and let go, with steps far beyond the explicit limit. What counts is the
energy above that of rest (for what hangs: of equilibrium), at the end and as a part of that at the start: 1 is right,
0 is all lost. Material, step and number of modes are those of the thesis where it says them; its ball and its rope are
made here, its other meshes are public. `--figure PATH` draws the curves as SVG.
"""

import itertools
import sys

import common
import curves
from common import check, figure, np

METHODS = {
    "semi-implicit": {},
    "backward-euler": {},
    "implicit-midpoint": {},
    "ere": {},
    "siere": {},
}


def rubber(young, model="neo-hookean"):
    return {"model": model, "E": young, "nu": 0.45, "rho": 1000}


def twisted_bar():
    cells = [16, 4, 4] if common.LONG else [8, 2, 2]
    return dict(mesh=common.box([4, 1, 1], cells), material=rubber(5e6), step=0.005, steps=100, modes=10,
                initial={"twist": {"axis": [1, 0, 0], "degrees": 20}})


def strongly_twisted_bar():
    """Ends turn by more than 0.1 rad in a step: `ere` is only of second order there."""
    return twisted_bar() | dict(initial={"twist": {"axis": [1, 0, 0], "degrees": 90}})


def ball():
    """Radius 10 cm, a shell of 2 cm a hundred times as stiff as the core, held at the top, pulled down by 20 g."""
    tets = 4637 if common.LONG else 1000
    return dict(mesh={"sphere": {"radius": 0.1, "tets": tets}}, step=0.005, steps=100 if common.LONG else 60, modes=5,
                material=rubber("1e6 + 99e6*(sqrt(x^2 + y^2 + z^2) > 0.08)"), gravity=[0, 0, -20 * 9.81],
                hold="z > 0.09")


def honeycomb():
    """Held at its left side, sagging in its plane; the stiffer of the thesis' two."""
    return dict(mesh=common.public_mesh("gauss/hex_sheet_5.node"), step=0.01, steps=60, modes=5,
                material=rubber("1e8 + 99e8*(abs(x) > 0.43 || abs(y) > 0.33)"), gravity=[0, -9.81, 0],
                hold="x < -0.49")


def moebius_ball():
    """Hung by the eye of its stiff core."""
    return dict(mesh=common.public_mesh("gauss/moebius_5.node"), step=0.02, steps=50, modes=5, slow={"ere"},
                material=rubber("1e8 + 99e8*(x^2 + y^2 < 0.005)", "stvk"), gravity=[0, 0, -9.81], hold="z > 0.465")


def cuboid():
    """So twisted that the stiffness is indefinite."""
    return dict(mesh=common.public_mesh("gauss/brick_surf_5.node"), step=0.01, steps=60, modes=5,
                material=rubber(1e5), initial={"twist": {"axis": [1, 0, 0], "degrees": 270}})


def rope():
    """A coil that falls open."""
    return dict(mesh=helix(), step=0.01, steps=150, modes=1, material=rubber(1e6), gravity=[0, 0, -9.81],
                hold="abs(y) < 0.02 && x > 0.12 && z > -0.02")


def helix(turns=3, radius=0.15, pitch=0.06, width=0.03, across=2, per_turn=24):
    """A mesh file of a square section swept along a helix, six tets per cell."""
    count, m = turns * per_turn + 1, across + 1
    angle = np.linspace(0, 2 * np.pi * turns, count)
    cos, sin, zero = np.cos(angle), np.sin(angle), 0 * angle
    centre = np.stack([radius * cos, radius * sin, -pitch * angle / (2 * np.pi)], 1)
    outwards = np.stack([cos, sin, zero], 1)
    along = np.stack([-radius * sin, radius * cos, zero - pitch / (2 * np.pi)], 1)
    along /= np.linalg.norm(along, axis=1)[:, None]
    up = np.cross(along, outwards)
    grid = np.linspace(-0.5, 0.5, m) * width
    points = (centre[:, None, None] + grid[:, None, None] * outwards[:, None, None]
              + grid[:, None] * up[:, None, None]).reshape(-1, 3)
    tets = []
    for cell in itertools.product(range(count - 1), range(across), range(across)):
        for order in itertools.permutations(range(3)):
            at, tet = list(cell), [(cell[0] * m + cell[1]) * m + cell[2]]
            for axis in order:
                at[axis] += 1
                tet.append((at[0] * m + at[1]) * m + at[2])
            tets.append(tet)
    path = common.folder() / "helix.mesh"
    with open(path, "w") as file:
        print("MeshVersionFormatted 1\nDimension 3\nVertices", len(points), sep="\n", file=file)
        for x in points:
            print(*x, 0, file=file)
        print("Tetrahedra", len(tets), sep="\n", file=file)
        for tet in tets:
            print(*(i + 1 for i in tet), 0, file=file)
        print("End", file=file)
    return {"file": str(path)}


def build(scene, method, step=None, steps=None):
    keys = {k: scene[k] for k in ("initial",) if k in scene}
    if "gravity" in scene:
        keys["environment"] = {"gravity": scene["gravity"]}
        keys["pin"] = [{"body": "body", "where": {"expression": scene["hold"]}}]
    step = step or scene["step"]
    options = {"modes": scene["modes"], "select": "motion"} if method == "siere" else METHODS[method]
    return common.one_body(scene["mesh"], scene["material"], step=step, end=(steps or scene["steps"]) * step,
                           integrator=method, options=options, **keys)


def energies(scene):
    """Energy above equilibrium of each method, as a part of the start's; cut short where a run could not go on."""
    floor = 0.0
    if "gravity" in scene:
        # Steps so long that nothing is left but the way to equilibrium.
        floor = common.run(build(scene, "backward-euler", 10.0, 20)).energy["total"][-1]
    found = {}
    for method in (m for m in METHODS if m not in scene.get("slow", ())):
        result = common.run(build(scene, method), may_stop=True)
        table = result.energy
        found[method] = table["t"], (table["total"] - floor) / (table["total"][0] - floor), result
    return found


def main():
    pictures = []
    keeping = [twisted_bar, ball] + ([honeycomb, moebius_ball] if common.LONG else [])
    for make in keeping:
        judge(make, pictures, {"siere": 0.7, "ere": 0.9, "implicit-midpoint": 0.95})
    judge(strongly_twisted_bar, pictures, {"siere": 0.5, "ere": 0.5, "implicit-midpoint": 0.95})
    if common.LONG:
        survive(rope, pictures)
        survive(cuboid, pictures)
    if "--figure" in sys.argv:
        curves.draw(sys.argv[sys.argv.index("--figure") + 1], pictures)


def name(make):
    return make.__name__.replace("_", " ")


def measured(make, pictures):
    scene = make()
    if scene["mesh"] is None:
        common.skip(name(make), "the public meshes are not here")
        return None, None
    found = energies(scene)
    pictures.append((name(make), scene["step"] * scene["steps"], {m: f[:2] for m, f in found.items()}))
    kept = {m: left[-1] if result.code == 0 else float("nan") for m, (_, left, result) in found.items()}
    return found, kept


def judge(make, pictures, least):
    _, kept = measured(make, pictures)
    if kept is None:
        return
    for method in ("semi-implicit", "backward-euler"):
        lost = np.isnan(kept[method]) or kept[method] < 0.5
        check(f"{name(make)}, {method} loses energy: left", kept[method], "< 0.5", bool(lost))
    for method, floor in least.items():
        if method not in kept:
            common.skip(f"{name(make)}, {method}", "takes more than twenty times as long as siere")
            continue
        ok = floor < kept[method] < 1.1
        check(f"{name(make)}, {method} keeps it: left", kept[method], f"> {floor}", bool(ok))


def survive(make, pictures):
    found, kept = measured(make, pictures)
    if kept is None:
        return
    for method, (times, left, result) in found.items():
        halved = result.summary["halved_steps"] if result.code == 0 else float("nan")
        figure(f"{name(make)}, {method}: time reached (s)", times[-1])
        figure(f"{name(make)}, {method}: energy left", left[-1])
        figure(f"{name(make)}, {method}: steps halved", halved)
    check(f"{name(make)}, siere goes on to the end", "yes" if found["siere"][2].code == 0 else "no", "yes",
          found["siere"][2].code == 0)


if __name__ == "__main__":
    common.start(main)
