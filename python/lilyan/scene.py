"""Scenes."""

from __future__ import annotations

import copy
import json
import os
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping

import numpy as np

from . import _lilyan
from ._lilyan import InputError, StepError
from .meshes import Mesh
from .results import CheckReport, CoarsenReport, CompareReport, Modes, Record, RestReport, RunResult
from .simulation import Simulation

#: What a scene dict may hold in place of a value of its file.
Settings = Mapping[str, Any]


class Scene:
    """What there is to simulate: the same keys as a scene file.

    >>> scene = Scene({
    ...     "time": {"end": 1.0, "step": 0.01},
    ...     "body": [{
    ...         "mesh": {"box": {"size": [1, 1, 1], "cells": [2, 2, 2]}},
    ...         "material": {"model": "neo-hookean", "E": 1e5, "nu": 0.3, "rho": 1000},
    ...     }],
    ... })
    >>> scene["time"]["step"]
    0.01

    A mesh may be in memory: ``"mesh": (V, T)``, or a dict with ``V``, ``T`` and ``cell_data``, or a mesh of meshio or
    pyvista. To place it as well, write ``"mesh": {"file": (V, T), "translate": [0, 1, 0]}``.
    """

    def __init__(self, document: Mapping[str, Any] | str, *, set: Settings | None = None, origin: str = "scene.json"):
        """Makes a scene of a dict, or of a text in TOML or JSON.

        ``set`` changes keys, as ``{"time.step": 0.002}``. Files that the scene names are looked for beside ``origin``.
        """
        settings, meshes = _settings(set), []
        if isinstance(document, str):
            self._scene = _lilyan.Scene.parse(document, origin, settings, [])
            return
        plain = _plain(document, meshes)
        try:
            text = json.dumps(plain, default=_number)
        except TypeError as error:
            raise InputError(f"the scene holds what no scene file can hold: {error}") from None
        self._scene = _lilyan.Scene.parse(text, origin, settings, meshes)

    @classmethod
    def _of(cls, scene: _lilyan.Scene) -> "Scene":
        new = cls.__new__(cls)
        new._scene = scene
        return new

    @classmethod
    def load(cls, name: str | os.PathLike[str], *, set: Settings | None = None) -> "Scene":
        """Reads a scene file, or the built-in scene of this name (:func:`lilyan.scenes`).

        >>> Scene.load("cantilever", set={"time.step": 0.02})["time"]["step"]
        0.02
        """
        return cls._of(_lilyan.Scene.open(os.fspath(name), _settings(set)))

    def to_dict(self) -> dict[str, Any]:
        """The scene as a dict. Meshes in memory are there by name."""
        return json.loads(self._scene.document)

    def to_toml(self) -> str:
        """The scene as a file would say it."""
        return self._scene.to_toml()

    def __getitem__(self, key: str) -> Any:
        return self.to_dict()[key]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scene) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<lilyan.Scene {self.to_dict().get('title', self._scene.origin)!r}>"

    def __reduce__(self) -> tuple:
        return _unpickle, (self._scene.document, self._scene.origin, self._scene.meshes())

    def check(self, modes: int = 3) -> CheckReport:
        """What to expect of a run, without running: mesh, spectrum, stable steps, numerical damping, memory."""
        return CheckReport.from_json(self._scene.check(modes))

    def modes(self, count: int = 10) -> Modes:
        """The lowest free vibrations about the shape at rest."""
        values, round_off, shapes = self._scene.modes(count)
        significant = np.where(np.abs(values) > round_off, values, 0.0)
        return Modes(np.sign(significant) * np.sqrt(np.abs(significant)) / (2 * np.pi), shapes)

    def rest(self) -> tuple[RestReport, Simulation]:
        """The static equilibrium under what acts at t = 0: its report, and a simulation that is there."""
        report, simulation = self._scene.rest()
        return RestReport.from_json(report), Simulation._of(simulation, self)

    def run(
        self,
        out: str | os.PathLike[str],
        *,
        resume: bool = False,
        steps: int | None = None,
        progress: Callable[[float, float], None] | None = None,
    ) -> RunResult:
        """Runs the scene and writes frames, tables and a report into a folder, as ``lilyan run`` does.

        ``progress`` is called with the steps done and all steps. If the simulation cannot go on, :class:`StepError` says
        why; what was done until then is in the folder.
        """
        folder = Path(out)
        summary, failed, (level, headline, sentence) = self._scene.run(folder, resume, steps, progress)
        if failed:
            raise StepError(f"{failed}\nresults so far: {folder / 'report.html'}")
        return RunResult(folder, Record.from_json(summary), level, f"{headline}: {sentence}")

    def compare(
        self,
        integrators: str | None = None,
        step_sizes: Iterable[float] = (),
        *,
        reference: str = "auto",
        budget: float = 20.0,
        progress: Callable[[float, float], None] | None = None,
    ) -> CompareReport:
        """Runs the scene with many integrators and steps against a converged reference, as ``lilyan compare`` does."""
        report = self._scene.compare(integrators, [float(h) for h in step_sizes], reference, budget, progress)
        return CompareReport.from_json(report)

    def coarsen(
        self,
        *,
        tets: int | None = None,
        mesh: str | os.PathLike[str] | None = None,
        method: str = "homogenize+eigenfit",
        body: str | None = None,
        model: str | None = None,
        modes: int | None = None,
        display: bool = False,
        compare: float | None = None,
        quadratic: bool = False,
    ) -> tuple["Scene", CoarsenReport]:
        """A coarse scene that moves like this one, and how it was made. ``compare`` runs both up to this time (s); with
        ``quadratic`` the coarse body is made of quadratic tets.
        """
        file = None if mesh is None else Path(mesh)
        scene, report = self._scene.coarsen(file, tets, method, body, model, modes, display, compare, quadratic)
        return Scene._of(scene), CoarsenReport.from_json(report)

    def simulation(self, forces: Iterable[Callable[[float, np.ndarray, np.ndarray], np.ndarray]] = ()) -> Simulation:
        """A simulation of this scene.

        Each of ``forces`` is a function of t (s), q (m) and v (m/s), which returns forces (N), all arrays of shape (n, 3).
        """
        return Simulation._of(self._scene.simulation(list(forces)), self)


def _unpickle(document: str, origin: str, meshes: list) -> Scene:
    return Scene._of(_lilyan.Scene.parse(document, origin if origin.endswith(".json") else origin + ".json", [], meshes))


def _settings(settings: Settings | None) -> list[str]:
    return [f"{key}={value if isinstance(value, str) else json.dumps(value, default=_number)}" for key, value in (settings or {}).items()]


def _number(value: Any) -> Any:
    """NumPy's numbers and arrays as JSON."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{value!r} of type {type(value).__name__}")


def _plain(document: Mapping[str, Any], meshes: list) -> dict[str, Any]:
    """The document with meshes in memory by name; ``meshes`` gets their arrays."""
    plain = dict(document)
    bodies = plain.get("body")
    if isinstance(bodies, Mapping):
        bodies = [bodies]
    if not isinstance(bodies, (list, tuple)):
        return plain
    plain["body"] = []
    for number, body in enumerate(bodies):
        body = dict(body) if isinstance(body, Mapping) else copy.copy(body)
        if isinstance(body, dict) and "mesh" in body:
            body["mesh"] = _named(body["mesh"], f"mesh in memory {number}", meshes)
        plain["body"].append(body)
    return plain


def _named(mesh: Any, name: str, meshes: list) -> Any:
    if isinstance(mesh, str):
        return mesh
    if isinstance(mesh, Mapping) and not {"V", "T"} & set(mesh):
        file = mesh.get("file")
        if file is None or isinstance(file, (str, os.PathLike)):
            return dict(mesh)
        return {**mesh, "file": _named(file, name, meshes)}
    meshes.append(Mesh.of(mesh).arrays(name))
    return name
