"""Scenes of PolyFEM and MuJoCo, imported and run

PolyFEM's own test scenes (github.com/polyfem/polyfem-data, in POLYFEM_DATA) hold the norm of the displacement at the end, here as
√∫|u|² over the rest volume. Free fall has no other error than rounding; where bodies touch, the allowance is the distance of the
barrier times √V, within which they may rest, and half a percent. MuJoCo's models (model/flex, in MUJOCO_MODELS) have no
reference: they are imported, checked and run for some steps.
"""

import json
import os
from pathlib import Path

import common
from common import REPOSITORY, check, folder, lilyan, need, np, skip

# Scene, steps, whether bodies have touched by then.
POLYFEM = [
    ("unit-tests/5-cubes", 1, False),
    ("unit-tests/5-cubes-fast", 5, False),
    ("unit-tests/tet-corner", 1, False),
    ("unit-tests/erleben/cliff-edges", 1, False),
    ("unit-tests/face-vertex", 200, True),
    ("unit-tests/vertex-face", 200, True),
    ("friction/high-school-physics-slopetest-mu=0.49", 1, True),
]
# No judges: balanced on edges, or driven through obstacles; they must be imported and take their steps.
POLYFEM_RUN = [
    ("unit-tests/2-cubes", 5),
    ("unit-tests/edge-edge", 100),
    ("unit-tests/vertex-vertex", 50),
    ("unit-tests/erleben/wedges", 20),
    ("unit-tests/erleben/spike-in-crack", 50),
    ("higher-order/ball-bounce/P2", 5),
]
MUJOCO = ["press", "floppy", "jelly"]


def data(variable, beside):
    """A folder that a variable names, or one beside the repository."""
    places = [os.environ[variable]] if variable in os.environ else []
    places += [REPOSITORY / up / "shared/data" / beside for up in ["..", "../..", "../../.."]]
    return next((Path(place) for place in places if Path(place).is_dir()), None)


def run(source, at, steps):
    """Imports a scene, runs it for so many steps, and returns the summary and the last frame."""
    meshio = need("meshio")
    lilyan("import", source, "-o", at / "scene.toml")
    done = lilyan("check", at / "scene.toml", "--json")
    assert done.returncode == 0
    fields = "output.fields=[\"displacement\"]"
    ran = lilyan("run", at / "scene.toml", "-o", at / "run", "--steps", steps, "--set", fields, "--set", "output.every=1e-9", "--json")
    frames = sorted((at / "run/frames").iterdir())
    return json.loads(ran.stdout), meshio.read(frames[-1])


def norm(frame):
    """√∫|u|² over the rest volume of linear tets, and that volume."""
    u = frame.point_data["displacement"]
    rest = frame.points - u
    tets = np.concatenate([cells.data for cells in frame.cells if cells.type == "tetra"])
    edges = rest[tets[:, 1:]] - rest[tets[:, :1]]
    volume = np.abs(np.linalg.det(edges)) / 6
    # The mass matrix of a linear tet of volume 1.
    square = np.einsum("eik,ij,ejk->e", u[tets], (np.ones((4, 4)) + np.eye(4)) / 20, u[tets])
    return np.sqrt((volume * square).sum()), volume.sum()


def main():
    polyfem = data("POLYFEM_DATA", "contact/polyfem-data")
    if polyfem is None:
        skip("scenes of PolyFEM", "no polyfem-data (POLYFEM_DATA)")
    else:
        scenes = polyfem / "contact/examples/3D"
        for name, steps, touches in POLYFEM:
            summary, frame = run(scenes / f"{name}.json", folder(), steps)
            found, volume = norm(frame)
            reference = json.loads((scenes / f"{name}.json").read_text())["tests"]["err_l2"]
            allowed = 1e-3 * np.sqrt(volume) + 0.005 * reference if touches else 1e-10 * reference
            check(f"PolyFEM {name}: norm after {steps} steps, m^2.5 from its own", found - reference, allowed)
        for name, steps in POLYFEM_RUN:
            summary, _ = run(scenes / f"{name}.json", folder(), steps)
            check(f"PolyFEM {name}: steps", summary["steps"], steps, summary["steps"] == steps)
    models = data("MUJOCO_MODELS", "mujoco/model/flex")
    if models is None:
        skip("models of MuJoCo", "no folder model/flex of its repository (MUJOCO_MODELS)")
        return
    for name in MUJOCO:
        summary, _ = run(models / f"{name}.xml", folder(), 30)
        check(f"MuJoCo {name}: steps", summary["steps"], 30, summary["steps"] == 30)


common.start(main)
