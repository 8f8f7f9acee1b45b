"""Simulations that a program steps."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Sequence

import numpy as np

from . import _lilyan
from ._lilyan import InputError

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
        self._scene = scene
        self._forces = list(forces)
        self._simulation = scene._scene.simulation(self._forces)

    @classmethod
    def _of(cls, simulation: _lilyan.Simulation, scene: "Scene") -> "Simulation":
        new = cls.__new__(cls)
        new._simulation, new._scene, new._forces = simulation, scene, []
        return new

    @property
    def scene(self) -> "Scene":
        """The scene that it was made of."""
        return self._scene

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
    ) -> None:
        """Steps until the time ``until`` (s). ``callback`` is called after every step; it returns False to stop.

        >>> sim = Simulation([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]], [[0, 1, 2, 3]], {"E": 1e5, "nu": 0.3, "rho": 1000})
        >>> times = []
        >>> sim.run(0.05, callback=lambda sim: times.append(round(sim.t, 2)))
        >>> times
        [0.01, 0.02, 0.03, 0.04, 0.05]
        """
        start, shown = self.t, -1
        while self.t < until - 1e-9 * self.time_step:
            left = int(np.ceil((until - self.t) / self.time_step - 1e-9))
            # Without anybody who looks, steps are taken in groups.
            self.step(1 if callback is not None else max(1, min(left, 100) if progress else left))
            if progress:
                percent = int(100 * (self.t - start) / (until - start))
                if percent != shown:
                    shown = percent
                    print(f"\rt = {self.t:.4g} s  {min(percent, 100)} %", end="", file=sys.stderr, flush=True)
            if callback is not None and callback(self) is False:
                break
        if progress:
            print(file=sys.stderr)

    def energy(self) -> dict[str, float]:
        """Energies and the energy account, J.

        ``kinetic``, ``elastic``, ``gravity``, ``other`` and their ``total``; ``initial``, ``work_external``,
        ``dissipated_physical`` (damping) and ``dissipated_numerical`` (what the integrator lost).
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

    def probes(self) -> dict[str, np.ndarray]:
        """Places of the probes of the scene, m."""
        return {name: np.array(x) for name, x in self._simulation.probes()}

    def modes(self, count: int = 10) -> Any:
        """The lowest free vibrations about the shape at rest."""
        return self._scene.modes(count)

    def checkpoint(self) -> bytes:
        """All that is needed to continue to the bit; :meth:`restore` takes it."""
        return self._simulation.checkpoint()

    def restore(self, checkpoint: bytes) -> None:
        """Continues from a checkpoint of the same scene."""
        self._simulation.restore(checkpoint)

    def copy(self) -> "Simulation":
        """An exact copy: the same steps give the same bits. Functions of forces are shared."""
        new = Simulation._of(self._simulation.copy(), self._scene)
        new._forces = self._forces
        return new

    __copy__ = copy

    def __deepcopy__(self, memo: dict) -> "Simulation":
        return self.copy()

    def __reduce__(self) -> tuple:
        return _unpickle, (self._scene, self._forces, self.checkpoint())

    def __repr__(self) -> str:
        return f"<lilyan.Simulation of {len(self.q)} nodes at t = {self.t:.6g} s>"


def _unpickle(scene: "Scene", forces: list[Force], checkpoint: bytes) -> Simulation:
    simulation = scene.simulation(forces)
    simulation._forces = forces
    simulation.restore(checkpoint)
    return simulation
