"""Elastodynamics whose physics does not change with the time step or the mesh.

A scene says what there is: bodies with their meshes and materials, pins, loads, contacts, the integrator and its step.
Its keys are those of scene files (``docs/scene-reference.md`` lists them all)::

    import lilyan

    scene = lilyan.Scene.load("cantilever")          # a file, or the name of a built-in scene
    print(scene.check().warnings)                     # what to expect
    result = scene.run("out/cantilever")              # frames, tables, report; the same as `lilyan run`
    print(result.verdict)

What a scene can be asked: ``check()``, ``modes(n)``, ``rest()``, ``converge()``, ``compare()``, ``coarsen(tets=…)``, ``run(out)``. The
answers are dataclasses, and ``answer.frame()`` is a frame of pandas.

A simulation is stepped by the program. Its arrays always show the state, and what is written into them counts::

    sim = scene.simulation()
    sim.step(10)
    print(sim.t, sim.energy()["total"], sim.q.shape)  # seconds, joules, (nodes, 3)
    sim.v[:, 1] += 0.1                                # a kick; its energy counts as work from outside
    sim.external_forces[-1] = [0, -5, 0]              # a force in newtons, until it is set anew
    sim.move_pins(sim.pins[0], sim.q[sim.pins[0]] + [0, 0.01, 0])    # pinned nodes go there within a step
    sim.change({"body.0.material.E": 2e5})            # any key of the scene
    sim.run(until=1.0)                                # records frames: `sim` shows them in a notebook

Meshes may be arrays, or objects of meshio, trimesh and pyvista::

    sim = lilyan.Simulation(V, T, material={"model": "neo-hookean", "E": 1e5, "nu": 0.3, "rho": 1000},
                            gravity=(0, -9.81, 0), pins=V[:, 0] < 0.01, step=0.01)
    grid = sim.to_pyvista()

A function of Python can be a force (``scene.simulation(forces=[lambda t, q, v: -0.5 * v])``) or a material (:class:`Material`).
Checkpoints, :meth:`Simulation.copy` and pickling are exact to the bit. :func:`lab` opens a scene in the browser.

Units are SI. What is wrong with the input raises :class:`InputError`; a simulation that cannot go on raises
:class:`StepError`. Results are the same to the bit for any number of threads (:func:`set_threads`). Other threads of Python run while
a simulation steps.
"""

from ._lilyan import (
    InputError,
    StepError,
    __version__,
    integrators,
    materials,
    scenes,
    set_threads,
    threads,
)
from .material import Material
from .meshes import Mesh, Surface
from .notebook import Lab, Page, lab
from .results import CheckReport, CoarsenReport, CompareReport, ConvergeReport, Modes, Record, RestReport, RunResult
from .scene import Scene
from .simulation import Simulation
from .sweeps import SweepResult, sweep

__all__ = [
    "CheckReport",
    "CoarsenReport",
    "CompareReport",
    "ConvergeReport",
    "InputError",
    "Lab",
    "Material",
    "Mesh",
    "Modes",
    "Page",
    "Record",
    "RestReport",
    "RunResult",
    "Scene",
    "Simulation",
    "StepError",
    "Surface",
    "SweepResult",
    "__version__",
    "integrators",
    "lab",
    "materials",
    "scenes",
    "set_threads",
    "sweep",
    "threads",
]
