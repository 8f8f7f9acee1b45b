"""Results, as the command line prints them with ``--json``."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, ClassVar, Iterator, Mapping

import numpy as np

from .notebook import Page


class Record(Mapping[str, Any]):
    """A JSON object whose keys are also attributes.

    >>> record = Record({"energy": {"final": 2.5}, "steps": 3})
    >>> record.energy.final, record["steps"]
    (2.5, 3)
    """

    def __init__(self, data: Mapping[str, Any]):
        self._data = dict(data)

    @classmethod
    def from_json(cls, text: str) -> "Record":
        """The record of a JSON text."""
        return cls(json.loads(text))

    def __getitem__(self, key: str) -> Any:
        return _wrap(self._data[key])

    def __getattr__(self, key: str) -> Any:
        if key.startswith("__") or key == "_data":
            raise AttributeError(key)
        try:
            return self[key]
        except KeyError:
            raise AttributeError(f"there is no {key!r}; there are {', '.join(self._data)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._data]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._data!r})"

    def to_dict(self) -> dict[str, Any]:
        """A copy as plain dictionaries and lists."""
        return json.loads(json.dumps(self._data))

    def frame(self, rows: str | None = None) -> Any:
        """A pandas frame: of the list of objects under the key ``rows``, or of this object as one row."""
        import pandas

        return pandas.json_normalize(self._data[rows] if rows else self._data)


def _wrap(value: Any) -> Any:
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list):
        return [_wrap(item) for item in value]
    return value


@dataclass(frozen=True)
class Report:
    """A result of a study: what matters most as attributes, everything in ``data``."""

    #: All that the command line prints with ``--json``.
    data: Record = field(repr=False)

    #: The list that :meth:`frame` makes rows of; ``None``: the report is one row.
    _rows: ClassVar[str | None] = None

    @classmethod
    def from_json(cls, text: str) -> Any:
        """The report of a JSON text."""
        data = Record.from_json(text)
        named = {f.name: data.get(f.name) for f in fields(cls) if f.name != "data"}
        return cls(data=data, **named)

    def __getattr__(self, key: str) -> Any:
        if key.startswith("_") or key == "data":
            raise AttributeError(key)
        return getattr(self.data, key)

    def __getitem__(self, key: str) -> Any:
        return self.data[key]

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain dictionaries and lists."""
        return self.data.to_dict()

    def frame(self, rows: str | None = None) -> Any:
        """A pandas frame of the rows of the report, or of another list in it."""
        return self.data.frame(rows or self._rows)


@dataclass(frozen=True)
class CheckReport(Report):
    """What to expect of a run (``lilyan check``)."""

    title: str
    #: Each body: name, vertices, elements, volume, size, model, E, rho.
    bodies: list[Record]
    #: Steps of a run.
    steps: int
    #: Lowest modes, stable steps of explicit methods, numerical damping; ``None`` where nothing can vibrate.
    spectrum: Record | None
    #: The error of the mesh: the first frequency with linear and with quadratic tets; ``None`` where it was not measured.
    mesh: Record | None
    #: Memory of a run, MB.
    memory_mb: Record
    #: What to do something about.
    warnings: list[str]
    #: What was done to the scene on the way in.
    notes: list[str]

    _rows: ClassVar[str | None] = "bodies"


@dataclass(frozen=True)
class CompareReport(Report):
    """Many integrators and steps against a reference (``lilyan compare``)."""

    title: str
    #: What the runs are compared with.
    reference: Record
    #: Size of the motion that errors are relative to, m.
    motion_size: float
    #: Each run: integrator, step, error, cost, drifts.
    rows: list[Record]
    #: Measured order of each method.
    orders: list[Record]
    #: Advice for each goal.
    advice: list[Record]
    notes: list[str]

    _rows: ClassVar[str | None] = "rows"


@dataclass(frozen=True)
class ConvergeReport(Report):
    """Step and mesh refined until probes settle (``lilyan converge``)."""

    title: str
    probes: list[str]
    #: Wanted: the largest error relative to the motion.
    accuracy: float
    #: Whether the reference is accurate enough to judge the others.
    settled: bool
    #: Estimated error of the reference.
    reference_error: float
    #: Number of the cheapest run that is accurate enough, and the keys of the scene that give it.
    cheapest: int | None
    set: list[str] | None
    #: Each run: element, refinement, step, unknowns, error, wall_seconds.
    runs: list[Record]
    #: The result in words.
    advice: str

    _rows: ClassVar[str | None] = "runs"


@dataclass(frozen=True)
class CoarsenReport(Report):
    """How a coarse scene was made (``lilyan coarsen``)."""

    title: str
    body: str
    method: str
    model: str
    #: Vertices, tets, volume (m³) and mass (kg) of the fine body, and of the coarse one.
    fine: Record
    coarse: Record
    #: How many times fewer tets.
    tets_ratio: float
    notes: list[str]


@dataclass(frozen=True)
class RestReport(Report):
    """A static equilibrium (``lilyan rest``)."""

    title: str
    #: Whether small motions about it stay small; ``None`` where it is not known.
    stable: bool | None
    #: Lowest frequency about it, Hz.
    lowest_hz: float | None
    #: Largest displacement from the undeformed place, m.
    largest_displacement: float
    #: Elastic and gravity energy, J.
    elastic: float
    gravity: float
    #: Largest von Mises stress of a cell, Pa.
    von_mises: float | None
    #: The force of each pin on its body, and of all contacts, N.
    pin_forces: list[list[float]]
    contact_force: list[float]
    #: Places of the probes, m.
    probes: list[Record]


@dataclass(frozen=True)
class Modes:
    """Lowest free vibrations about the shape at rest."""

    #: Hz; 0 for rigid motions, negative for motions that grow.
    frequencies: np.ndarray
    #: Of shape (count, n, 3), of unit modal mass.
    shapes: np.ndarray = field(repr=False)

    def frame(self) -> Any:
        """A pandas frame of the frequencies."""
        import pandas

        return pandas.DataFrame({"mode": np.arange(1, len(self.frequencies) + 1), "frequency_hz": self.frequencies})


@dataclass(frozen=True)
class RunResult:
    """What a run left in its folder."""

    #: The folder: report.html, energy.csv, probes.csv, summary.json, frames.pvd.
    folder: Path
    #: What summary.json holds.
    summary: Record = field(repr=False)
    #: "pass", "warn" or "fail".
    level: str
    #: The verdict in words.
    verdict: str

    @property
    def trustworthy(self) -> bool:
        """Whether all that physics and the method promise was kept."""
        return self.level == "pass"

    @property
    def report(self) -> Path:
        """The HTML page. A notebook shows it."""
        return self.folder / "report.html"

    def page(self, height: int = 900) -> Page:
        """The report as a page that a notebook shows."""
        return Page(self.report.read_text(encoding="utf-8"), height)

    def _repr_html_(self) -> str:
        return self.page()._repr_html_()

    def energy(self) -> dict[str, np.ndarray]:
        """The columns of energy.csv."""
        return _columns(self.folder / "energy.csv")

    def probes(self) -> dict[str, np.ndarray]:
        """The columns of probes.csv."""
        return _columns(self.folder / "probes.csv")

    def forces(self) -> dict[str, np.ndarray]:
        """The columns of forces.csv, which a scene asks for by ``output = {"forces": True}``."""
        return _columns(self.folder / "forces.csv")

    def frame(self) -> Any:
        """energy.csv as a pandas frame."""
        import pandas

        return pandas.DataFrame(self.energy())


def _columns(path: Path) -> dict[str, np.ndarray]:
    with open(path, encoding="utf-8") as file:
        names = file.readline().strip().split(",")
    table = np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2)
    return {name: table[:, k] for k, name in enumerate(names)}
