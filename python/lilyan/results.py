"""Results, as the command line prints them with ``--json``."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Iterator, Mapping

import numpy as np


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


class CheckReport(Record):
    """What to expect of a run (``lilyan check``): mesh quality, frequencies, stable steps, numerical damping, memory."""


class CompareReport(Record):
    """Many integrators and steps against a reference (``lilyan compare``)."""


class CoarsenReport(Record):
    """How a coarse scene was made (``lilyan coarsen``)."""


class RestReport(Record):
    """A static equilibrium (``lilyan rest``)."""


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
        """The HTML page."""
        return self.folder / "report.html"

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
