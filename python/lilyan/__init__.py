"""Elastodynamics whose physics does not change with the time step or the mesh.

A scene says what there is: bodies with their meshes and materials, pins, loads, contacts, the integrator and its step.
Its keys are those of scene files (``lilyan schema --markdown`` on the command line lists them all)::

    import lilyan

    scene = lilyan.Scene.load("cantilever")          # a file, or the name of a built-in scene
    print(scene.check().warnings)                     # what to expect
    result = scene.run("out/cantilever")              # frames, tables, report; the same as `lilyan run`
    print(result.verdict)

A simulation is stepped by the program. Its arrays always show the state, and what is written into them counts::

    sim = scene.simulation()
    sim.step(10)
    print(sim.t, sim.energy()["total"], sim.q.shape)  # seconds, joules, (nodes, 3)
    sim.v[:, 1] += 0.1                                # a kick; its energy counts as work from outside
    sim.run(until=1.0)

Meshes may be arrays::

    sim = lilyan.Simulation(V, T, material={"model": "neo-hookean", "E": 1e5, "nu": 0.3, "rho": 1000},
                            gravity=(0, -9.81, 0), pins=V[:, 0] < 0.01, step=0.01)

Units are SI. What is wrong with the input raises :class:`InputError`; a simulation that cannot go on raises
:class:`StepError`. Results are the same to the bit for any number of threads (:func:`set_threads`).
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
from .results import CheckReport, CoarsenReport, CompareReport, Modes, Record, RestReport, RunResult
from .scene import Scene
from .simulation import Simulation
from .sweeps import SweepResult, sweep

__all__ = [
    "CheckReport",
    "CoarsenReport",
    "CompareReport",
    "InputError",
    "Modes",
    "Record",
    "RestReport",
    "RunResult",
    "Scene",
    "Simulation",
    "StepError",
    "SweepResult",
    "__version__",
    "integrators",
    "materials",
    "scenes",
    "set_threads",
    "sweep",
    "threads",
]
