"""Simulations that a program steps."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Sequence

import numpy as np

from . import _lilyan
from ._lilyan import InputError
from .notebook import Page

if TYPE_CHECKING:
    from .scene import Scene

Force = Callable[[float, np.ndarray, np.ndarray], np.ndarray]


class Simulation:
    """A simulation in memory.

    ``q``, ``v`` and ``p`` are arrays of shape (n, 3) that always show the state: the same arrays for the whole life of the
    simulation. What is written into them is taken over before the next step; the change of energy counts as work from
    outside, so that the energy account stays right.

    >>> import numpy as np
    >>> V = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    >>> sim = Simulation(V, [[0, 1, 2, 3]], material={"model": "neo-hookean", "E": 1e5, "nu": 0.3, "rho": 1000},
    ...                  gravity=(0, -9.81, 0), step=0.01)
    >>> sim.step(10)
    >>> round(float(sim.q[0, 1]), 5)
    -0.04905
    """

    def __init__(
        self,
        V: Any,
        T: Any,
        material: Mapping[str, Any],
        *,
        integrator: str | Mapping[str, Any] = "energy-momentum",
        step: float = 0.01,
        gravity: Sequence[float] | None = None,
        pins: Any = None,
        velocity: Sequence[float] | None = None,
        damping: Mapping[str, Any] | None = None,
        contacts: Iterable[Mapping[str, Any]] = (),
        forces: Iterable[Force] = (),
    ):
        """Makes a simulation of one body of tets.

        ``pins`` holds vertices where they are: their numbers, or a mask. ``material``, ``damping``, ``integrator`` and
        ``contacts`` are what a scene file says under these keys. For several bodies, make a :class:`lilyan.Scene`.
        """
        from .scene import Scene

        body: dict[str, Any] = {"name": "body", "mesh": (V, T), "material": dict(material)}
        if damping is not None:
            body["damping"] = dict(damping)
        if velocity is not None:
            body["initial"] = {"velocity": list(velocity)}
        document: dict[str, Any] = {
            "time": {"end": 1e6 * step, "step": step},
            "integrator": {"name": integrator} if isinstance(integrator, str) else dict(integrator),
            "body": [body],
            "contact": [dict(contact) for contact in contacts],
        }
        if gravity is not None:
            document["environment"] = {"gravity": list(gravity)}
        if pins is not None:
            numbers = np.asarray(pins)
            numbers = np.flatnonzero(numbers) if numbers.dtype == bool else numbers.reshape(-1)
            if numbers.size:
                document["pin"] = [{"body": "body", "where": {"vertices": numbers.tolist()}}]
        scene = Scene(document)
        self._forces = list(forces)
        self._materials = scene._materials
        self._simulation = scene._scene.simulation(self._forces)

    @classmethod
    def _of(cls, simulation: _lilyan.Simulation, forces: list[Force] | None = None, materials: list | None = None) -> "Simulation":
        new = cls.__new__(cls)
        new._simulation, new._forces, new._materials = simulation, forces or [], materials or []
        return new

    @property
    def scene(self) -> "Scene":
        """The scene that it was made of, with what :meth:`change` changed."""
        from .scene import Scene

        return Scene._of(_lilyan.Scene.of(self._simulation), self._materials)

    def change(self, settings: Mapping[str, Any]) -> None:
        """Changes keys of the scene while it runs: constants of materials, obstacles, loads, gravity, damping, the integrator.

        The state stays; the change of energy counts as work from outside. Nodes that are pinned from now on are held where they are. A
        change that is refused, or that would give other nodes, leaves the simulation as it is.

        >>> sim = Simulation([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]], [[0, 1, 2, 3]], {"E": 1e5, "nu": 0.3, "rho": 1000})
        >>> sim.change({"body.0.material.E": 2e5, "environment.gravity": [0, -9.81, 0]})
        >>> sim.scene["body"][0]["material"]["E"]
        200000.0
        """
        from .scene import _settings

        self._simulation.change(_settings(settings))

    @property
    def external_forces(self) -> np.ndarray:
        """Forces on the nodes, N, of shape (n, 3), which act until they are set anew. Their work counts as external."""
        return self._simulation.external_forces

    @external_forces.setter
    def external_forces(self, values: Any) -> None:
        self._simulation.external_forces[...] = values

    @property
    def pins(self) -> list[np.ndarray]:
        """The nodes of each pin of the scene."""
        return self._simulation.pins()

    def move_pins(self, nodes: Any, places: Any, duration: float | None = None) -> None:
        """Lets pinned nodes go to these places (m), straight and at constant speed, from now on; then they stay there.

        ``nodes`` are numbers of nodes or a mask, ``places`` one place for each, of shape (k, 3), or one for all. ``duration`` (s) is one
        step if not given, so that a controller may call this before every step. The work of the pins counts as external.

        >>> V = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
        >>> sim = Simulation(V, [[0, 1, 2, 3]], {"E": 1e5, "nu": 0.3, "rho": 1000}, pins=[0])
        >>> sim.move_pins(sim.pins[0], [0.01, 0, 0])
        >>> sim.step()
        >>> float(sim.q[0, 0])
        0.01
        """
        numbers = np.asarray(nodes)
        numbers = np.flatnonzero(numbers) if numbers.dtype == bool else numbers.reshape(-1)
        try:
            wanted = np.broadcast_to(np.asarray(places, dtype=float), (numbers.size, 3))
        except (TypeError, ValueError):
            raise InputError(f"places must be numbers of shape ({numbers.size}, 3), one place for each node, or of shape (3,)") from None
        duration = self.time_step if duration is None else float(duration)
        if not (np.isfinite(wanted).all() and 0 < duration < np.inf):
            raise InputError("places must be finite numbers, and the duration a positive one")
        if numbers.size and (numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() >= len(self.q)):
            raise InputError(f"nodes must be numbers from 0 to {len(self.q) - 1}, or a mask")
        self._simulation.move_pins(numbers.tolist(), wanted.tolist(), duration)

    @property
    def q(self) -> np.ndarray:
        """Positions, m, of shape (n, 3)."""
        return self._simulation.q

    @q.setter
    def q(self, values: Any) -> None:
        self._simulation.q[...] = values

    @property
    def v(self) -> np.ndarray:
        """Velocities, m/s, of shape (n, 3)."""
        return self._simulation.v

    @v.setter
    def v(self, values: Any) -> None:
        self._simulation.v[...] = values

    @property
    def p(self) -> np.ndarray:
        """Momenta, kg m/s, of shape (n, 3). Writing them changes the velocities, unless these were written as well."""
        return self._simulation.p

    @p.setter
    def p(self, values: Any) -> None:
        self._simulation.p[...] = values

    @property
    def t(self) -> float:
        """Time, s."""
        return self._simulation.t

    @property
    def index(self) -> int:
        """Steps done."""
        return self._simulation.index

    @property
    def time_step(self) -> float:
        """Length of a step, s. It can be set."""
        return self._simulation.time_step

    @time_step.setter
    def time_step(self, h: float) -> None:
        self._simulation.time_step = h

    @property
    def rest(self) -> np.ndarray:
        """Positions at rest, m."""
        return self._simulation.rest

    @property
    def masses(self) -> np.ndarray:
        """Masses of the nodes, kg."""
        return self._simulation.masses

    @property
    def cells(self) -> dict[str, np.ndarray]:
        """Cells by kind, as ``{"tet": array of shape (m, 4)}``."""
        return self._simulation.cells()

    @property
    def bodies(self) -> dict[str, slice]:
        """The nodes of each body: ``sim.q[sim.bodies["bar"]]``."""
        return {name: slice(start, end) for name, start, end in self._simulation.bodies()}

    @property
    def surface(self) -> np.ndarray:
        """Triangles of the surfaces of all bodies of tets, of shape (k, 3), anticlockwise from outside."""
        return self._simulation.surface()

    @property
    def warnings(self) -> list[str]:
        """What is probably not meant."""
        return self._simulation.warnings()

    def step(self, n: int = 1) -> None:
        """Takes n steps. Other threads of Python run meanwhile.

        A step that fails is halved up to ten times; then :class:`lilyan.StepError` says why, and the state is that before.
        """
        if n < 0:
            raise InputError(f"{n} steps; give a number from 0 on")
        self._simulation.step(n)

    def run(
        self,
        until: float,
        *,
        progress: bool = False,
        callback: Callable[["Simulation"], Any] | None = None,
        frames: int = 200,
    ) -> None:
        """Steps until the time ``until`` (s). ``callback`` is called after every step; it returns False to stop.

        About ``frames`` states are recorded on the way for :meth:`replay` and :meth:`plot`; with 0 none.

        >>> sim = Simulation([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]], [[0, 1, 2, 3]], {"E": 1e5, "nu": 0.3, "rho": 1000})
        >>> times = []
        >>> sim.run(0.05, callback=lambda sim: times.append(round(sim.t, 2)))
        >>> times
        [0.01, 0.02, 0.03, 0.04, 0.05]
        """
        begin, shown = self.t, -1
        steps = max(0, int(np.ceil((until - begin) / self.time_step - 1e-9)))
        every = max(1, steps // frames) if frames else 0
        if every:
            self.record()
        for done in range(1, steps + 1):
            # An adaptive integrator may be past the nominal time.
            if self.t >= until - 1e-9 * self.time_step:
                break
            self.step()
            if every and (done % every == 0 or done == steps):
                self.record()
            percent = 100 * done // steps
            if progress and percent != shown:
                shown = percent
                print(f"\rt = {self.t:.4g} s  {percent} %", end="", file=sys.stderr, flush=True)
            if callback is not None and callback(self) is False:
                break
        if progress:
            print(file=sys.stderr)

    def record(self) -> None:
        """Takes the present state into the replay that a notebook shows, and into :meth:`plot`. :meth:`run` does it by itself."""
        self._simulation.record()

    def replay(self, height: int = 640) -> Page:
        """The recorded motion in three dimensions, coloured by von Mises stress; without a record, the present state.

        A notebook shows it; ``sim.replay().save("motion.html")`` writes a page that needs nothing else.
        """
        return Page(self._simulation.page(True, False), height)

    def plot(self, height: int = 580) -> Page:
        """The recorded energies over time. :meth:`history` has their numbers."""
        if not self.history()["t"].size:
            raise InputError("nothing is recorded yet; call sim.run(until) or, between steps, sim.record()")
        return Page(self._simulation.page(False, True), height)

    def history(self) -> dict[str, np.ndarray]:
        """What was recorded: ``t`` (s), and the energies ``kinetic``, ``elastic``, ``gravity`` and ``total`` (J)."""
        t, energies = self._simulation.recorded() or ([], [[]] * 4)
        names = ("kinetic", "elastic", "gravity", "total")
        return {"t": np.array(t), **{name: np.array(values) for name, values in zip(names, energies)}}

    def _repr_html_(self) -> str:
        return self.replay()._repr_html_()

    def energy(self) -> dict[str, float]:
        """Energies and the energy account, J.

        ``kinetic``, ``elastic``, ``gravity``, ``other`` and their ``total``; ``initial``, ``work_external``,
        ``dissipated_physical`` (damping and friction), ``dissipated_friction`` and ``dissipated_numerical`` (what the integrator lost).
        """
        return self._simulation.energy()

    def momentum(self, about: Sequence[float] = (0.0, 0.0, 0.0)) -> tuple[np.ndarray, np.ndarray]:
        """Linear momentum (kg m/s) and angular momentum about a point (kg m²/s)."""
        linear, angular = self._simulation.momentum(list(about))
        return np.array(linear), np.array(angular)

    def stress(self) -> np.ndarray:
        """Cauchy stress of each cell, Pa, of shape (m, 3, 3)."""
        return self._simulation.stress()

    def von_mises(self) -> np.ndarray:
        """von Mises stress of each cell, Pa."""
        return self._simulation.von_mises()

    def volume_ratio(self) -> np.ndarray:
        """Volume over volume at rest of each cell."""
        return self._simulation.volume_ratio()

    def forces(self) -> np.ndarray:
        """Forces of all potentials on the nodes, N: elasticity, gravity, contact and dead loads."""
        return self._simulation.forces()

    def contact_forces(self) -> np.ndarray:
        """Forces of all contacts on the nodes, N, of shape (n, 3). Friction is the mean of the last step.

        The force on a body is ``sim.contact_forces()[sim.bodies["ball"]].sum(axis=0)``.
        """
        return self._simulation.contact_forces()

    def pin_forces(self) -> np.ndarray:
        """The force of each pin on its body in the last step, N, of shape (pins, 3)."""
        return self._simulation.pin_forces()

    def to_meshio(self) -> Any:
        """The present shape as a mesh of meshio, with velocities and von Mises stress."""
        from .bridges import to_meshio

        return to_meshio(self)

    def to_pyvista(self) -> Any:
        """The present shape as a grid of pyvista, with velocities and von Mises stress."""
        from .bridges import to_pyvista

        return to_pyvista(self)

    def to_trimesh(self) -> Any:
        """The present surface as a mesh of trimesh."""
        from .bridges import to_trimesh

        return to_trimesh(self)

    def probes(self) -> dict[str, np.ndarray]:
        """Places of the probes of the scene, m."""
        return {name: np.array(x) for name, x in self._simulation.probes()}

    def modes(self, count: int = 10) -> Any:
        """The lowest free vibrations about the shape at rest."""
        return self.scene.modes(count)

    def checkpoint(self) -> bytes:
        """All that is needed to continue to the bit; :meth:`restore` takes it."""
        return self._simulation.checkpoint()

    def restore(self, checkpoint: bytes) -> None:
        """Continues from a checkpoint of the same scene."""
        self._simulation.restore(checkpoint)

    def copy(self) -> "Simulation":
        """An exact copy: the same steps give the same bits. Functions of forces are shared."""
        return Simulation._of(self._simulation.copy(), self._forces, self._materials)

    __copy__ = copy

    def __deepcopy__(self, memo: dict) -> "Simulation":
        return self.copy()

    def __reduce__(self) -> tuple:
        return _unpickle, (self.scene, self._forces, self.checkpoint())

    def __repr__(self) -> str:
        return f"<lilyan.Simulation of {len(self.q)} nodes at t = {self.t:.6g} s>"


def _unpickle(scene: "Scene", forces: list[Force], checkpoint: bytes) -> Simulation:
    simulation = scene.simulation(forces)
    simulation.restore(checkpoint)
    return simulation
