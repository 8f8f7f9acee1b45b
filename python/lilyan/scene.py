"""Scenes."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Callable, Iterable, Mapping

import numpy as np

from . import _lilyan
from ._lilyan import InputError, StepError
from .material import Material
from .meshes import Surface, mesh_of
from .results import CheckReport, CoarsenReport, CompareReport, ConvergeReport, Modes, Record, RestReport, RunResult
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

    A mesh may be in memory: ``"mesh": (V, T)``, or a dict with ``V``, ``T`` and ``cell_data``, or an object of meshio, trimesh or
    pyvista. To place it as well, write ``"mesh": {"file": (V, T), "translate": [0, 1, 0]}``. A closed surface (V, F) is filled with
    tets: ``"mesh": {"file": (V, F), "tets": 2000}``. An obstacle is a surface: ``{"kind": "mesh", "mesh": (V, F)}`` in ``contact``. The model of
    a material may be a :class:`lilyan.Material`.
    """

    def __init__(self, document: Mapping[str, Any] | str, *, set: Settings | None = None, origin: str = "scene.json"):
        """Makes a scene of a dict, or of a text in TOML or JSON.

        ``set`` changes keys, as ``{"time.step": 0.002}``. Files that the scene names are looked for beside ``origin``.
        """
        settings, memory = _settings(set), _Memory()
        if isinstance(document, str):
            text = document
        else:
            plain = memory.plain(document)
            origin = origin if origin.endswith(".json") else origin + ".json"
            try:
                text = json.dumps(plain, default=_number)
            except TypeError as error:
                raise InputError(f"the scene holds what no scene file can hold: {error}") from None
        self._scene = _lilyan.Scene.parse(text, origin, settings, memory.arrays())
        self._materials = memory.materials

    @classmethod
    def _of(cls, scene: _lilyan.Scene, materials: Iterable[Material] = ()) -> "Scene":
        new = cls.__new__(cls)
        new._scene, new._materials = scene, list(materials)
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

    def set(self, **settings: Any) -> "Scene":
        """The scene with other values of some keys, whose dots are written as two underscores.

        >>> Scene.load("cantilever").set(time__step=0.02)["time"]["step"]
        0.02
        """
        return self.with_settings({key.replace("__", "."): value for key, value in settings.items()})

    def with_settings(self, settings: Settings) -> "Scene":
        """The scene with other values of some keys, as ``{"time.step": 0.002, "body.0.material.E": 1e6}``.

        >>> Scene.load("cantilever").with_settings({"integrator.name": "newmark"})["integrator"]["name"]
        'newmark'
        """
        return Scene._of(self._scene.with_settings(_settings(settings)), self._materials)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Writes the scene into a file, and meshes in memory beside it. ``lilyan run`` and :meth:`load` read it.

        Materials that are written in Python cannot be saved.
        """
        path = Path(path)
        if self._materials:
            raise InputError(f"material {self._materials[0].name!r} is written in Python; no scene file can hold it")
        if path.suffix != ".toml":
            raise InputError(f"{path}: a scene file ends in .toml")
        self._scene.save(path)
        return path

    def __getitem__(self, key: str) -> Any:
        return self.to_dict()[key]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scene) and self.to_dict() == other.to_dict()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<lilyan.Scene {self.to_dict().get('title', self._scene.origin)!r}>"

    def __reduce__(self) -> tuple:
        memory = {"meshes": self._scene.meshes(), "surfaces": self._scene.surfaces()}
        return _unpickle, (self._scene.document, self._scene.origin, memory, self._materials)

    def check(self, modes: int = 3) -> CheckReport:
        """What to expect of a run, without running: mesh, spectrum, stable steps, numerical damping, memory."""
        return CheckReport.from_json(self._scene.check(modes))

    def modes(self, count: int = 10) -> Modes:
        """The lowest free vibrations about the shape at rest.

        >>> modes = Scene.load("steel-cantilever").modes(2)
        >>> modes.shapes.shape[0]
        2
        """
        values, round_off, shapes = self._scene.modes(count)
        significant = np.where(np.abs(values) > round_off, values, 0.0)
        return Modes(np.sign(significant) * np.sqrt(np.abs(significant)) / (2 * np.pi), shapes)

    def rest(self) -> tuple[RestReport, Simulation]:
        """The static equilibrium under what acts at t = 0: its report, and a simulation that is there."""
        report, simulation = self._scene.rest()
        return RestReport.from_json(report), Simulation._of(simulation, materials=self._materials)

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

    def converge(
        self,
        accuracy: float = 0.02,
        *,
        probes: Iterable[str] = (),
        budget: float = 120.0,
        progress: Callable[[float, float], None] | None = None,
    ) -> ConvergeReport:
        """Refines step and mesh until the probes settle, as ``lilyan converge`` does, and tells the cheapest setting that is accurate.

        ``accuracy`` is the largest error of a probe relative to the motion, ``budget`` the wall time of all runs (s). ``progress`` is
        called with the runs done and infinity, since their number is not known before.
        """
        return ConvergeReport.from_json(self._scene.converge(accuracy, list(probes), budget, progress))

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
        return Scene._of(scene, self._materials), CoarsenReport.from_json(report)

    def simulation(self, forces: Iterable[Callable[[float, np.ndarray, np.ndarray], np.ndarray]] = ()) -> Simulation:
        """A simulation of this scene.

        Each of ``forces`` is a function of t (s), q (m) and v (m/s), which returns forces (N), all arrays of shape (n, 3).
        """
        forces = list(forces)
        return Simulation._of(self._scene.simulation(forces), forces, self._materials)


def _unpickle(document: str, origin: str, memory: dict, materials: list[Material]) -> Scene:
    origin = origin if origin.endswith(".json") else origin + ".json"
    arrays = {**memory, "materials": [material._material for material in materials]}
    return Scene._of(_lilyan.Scene.parse(document, origin, [], arrays), materials)


def _settings(settings: Settings | None) -> list[str]:
    return [f"{key}={value if isinstance(value, str) else _inline(value)}" for key, value in (settings or {}).items()]


def _inline(value: Any) -> str:
    """A value as TOML writes it in one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{json.dumps(str(key))} = {_inline(item)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple, np.ndarray)):
        return "[" + ", ".join(_inline(item) for item in value) + "]"
    if value is None:
        raise InputError("a setting cannot be None; leave the key out of the scene instead")
    try:
        return json.dumps(value, default=_number)
    except TypeError as error:
        raise InputError(f"a setting holds what no scene file can hold: {error}") from None


def _number(value: Any) -> Any:
    """NumPy's numbers and arrays as JSON."""
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"{value!r} of type {type(value).__name__}")


class _Memory:
    """What a document holds that no scene file can hold: meshes, surfaces and materials in memory, which get names."""

    def __init__(self) -> None:
        self.meshes: list[tuple] = []
        self.surfaces: list[tuple] = []
        self.materials: list[Material] = []

    def arrays(self) -> dict[str, list]:
        """What the extension module takes."""
        return {"meshes": self.meshes, "surfaces": self.surfaces, "materials": [m._material for m in self.materials]}

    def plain(self, document: Mapping[str, Any]) -> dict[str, Any]:
        """The document with names in their place."""
        plain = dict(document)
        for key, change in (("body", self._body), ("contact", self._contact)):
            items = plain.get(key)
            if isinstance(items, Mapping):
                items = [items]
            if isinstance(items, (list, tuple)):
                plain[key] = [change(dict(item)) if isinstance(item, Mapping) else item for item in items]
        return plain

    def _body(self, body: dict[str, Any]) -> dict[str, Any]:
        if "mesh" in body:
            body["mesh"] = self._named(body["mesh"])
        if "display" in body:
            body["display"] = self._named(body["display"])
        material = body.get("material")
        if isinstance(material, Mapping) and isinstance(material.get("model"), Material):
            model = material["model"]
            if not any(m is model for m in self.materials):
                self.materials.append(model)
            body["material"] = {**material, "model": model.name}
        return body

    def _contact(self, contact: dict[str, Any]) -> dict[str, Any]:
        if "mesh" in contact:
            contact["mesh"] = self._named(contact["mesh"])
        return contact

    def _named(self, mesh: Any) -> Any:
        if isinstance(mesh, (str, os.PathLike)):
            return mesh
        if isinstance(mesh, Mapping) and not {"V", "T", "F"} & set(mesh):
            file = mesh.get("file")
            if file is None or isinstance(file, (str, os.PathLike)):
                return dict(mesh)
            return {**mesh, "file": self._named(file)}
        found = mesh_of(mesh)
        if isinstance(found, Surface):
            self.surfaces.append(found.arrays(f"memory-surface-{len(self.surfaces)}.obj"))
            return self.surfaces[-1][0]
        self.meshes.append(found.arrays(f"memory-mesh-{len(self.meshes)}.vtu"))
        return self.meshes[-1][0]
