"""Meshes in memory, and meshes of other libraries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping

import numpy as np

from ._lilyan import InputError

#: What can be a mesh, for messages.
KNOWN = "a pair (V, T) or (V, F) of arrays, a dict with them, a mesh of meshio or trimesh, or a dataset of pyvista"


@dataclass(frozen=True)
class Mesh:
    """Tets in arrays.

    ``V`` has shape (n, 3), in metres. ``T`` has shape (m, 4) and holds numbers of vertices from 0; with shape (m, 10) the tets have nodes
    on their edges, in the order of VTK, meshio and Abaqus.

    >>> mesh = Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], [[0, 1, 2, 3]])
    >>> Mesh.of(mesh) is mesh
    True
    """

    V: np.ndarray
    T: np.ndarray
    #: A number per tet under each name, for heterogeneous materials.
    cell_data: Mapping[str, np.ndarray] = field(default_factory=dict)
    #: A number per vertex under each name.
    point_data: Mapping[str, np.ndarray] = field(default_factory=dict)
    #: The region of each tet.
    tags: np.ndarray | None = None

    @classmethod
    def of(cls, mesh: Any) -> "Mesh":
        """A mesh of tets from what is known as a mesh (see :func:`mesh_of`); a surface is refused."""
        found = mesh_of(mesh)
        if isinstance(found, Surface):
            raise InputError("this is a surface without tets; a body fills it: {'file': surface, 'tets': 2000}")
        return found

    def arrays(self, name: str) -> tuple:
        """What the extension module takes."""
        vertices, tets = _numbers(name, self.V, np.float64, "the vertices"), _numbers(name, self.T, np.int64, "the tets")
        if vertices.ndim != 2 or tets.ndim != 2:
            raise InputError(f"mesh {name!r}: the vertices have shape (n, 3) and the tets (m, 4) or (m, 10)")
        data = [{key: _numbers(name, x, np.float64, key).reshape(-1) for key, x in d.items()} for d in (self.cell_data, self.point_data)]
        tags = None if self.tags is None else _numbers(name, self.tags, np.int64, "the tags").reshape(-1)
        return name, vertices, tets, data[0], data[1], tags


@dataclass(frozen=True)
class Surface:
    """Triangles in arrays: ``V`` of shape (n, 3) in metres, ``F`` of shape (m, 3) with numbers of vertices from 0.

    A body fills a closed surface with tets, or is a membrane or springs on it; an obstacle is one:
    ``"mesh": {"file": Surface(V, F), "tets": 2000}``.
    """

    V: np.ndarray
    F: np.ndarray

    def arrays(self, name: str) -> tuple:
        """What the extension module takes."""
        vertices, triangles = _numbers(name, self.V, np.float64, "the vertices"), _numbers(name, self.F, np.int64, "the triangles")
        if vertices.ndim != 2 or triangles.ndim != 2:
            raise InputError(f"surface {name!r}: the vertices have shape (n, 3) and the triangles (m, 3)")
        return name, vertices, triangles


def mesh_of(mesh: Any) -> Mesh | Surface:
    """A mesh or a surface from arrays or from an object of meshio, trimesh or pyvista.

    Nodes on the edges of quadratic tets are kept. Numbers per cell and per vertex come along.

    >>> mesh_of(([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])).F.shape
    (1, 3)
    """
    if isinstance(mesh, (Mesh, Surface)):
        return mesh
    if isinstance(mesh, Mapping):
        return _of_dict(mesh)
    if hasattr(mesh, "celltypes") and hasattr(mesh, "cells_dict"):
        return _of_grid(mesh)
    if hasattr(mesh, "cells_dict") and hasattr(mesh, "points"):
        return _of_meshio(mesh)
    if hasattr(mesh, "is_all_triangles") and hasattr(mesh, "points"):
        return _of_polydata(mesh)
    if hasattr(mesh, "vertices") and hasattr(mesh, "faces"):
        return Surface(np.asarray(mesh.vertices), np.asarray(mesh.faces))
    try:
        V, cells = mesh
    except (TypeError, ValueError):
        raise InputError(f"a mesh is {KNOWN}; this is of type {type(mesh).__name__}") from None
    return _of_pair(V, np.asarray(cells))


def _of_pair(V: Any, cells: np.ndarray, **data: Any) -> Mesh | Surface:
    if cells.ndim == 2 and cells.shape[1] == 3 and not data:
        return Surface(np.asarray(V), cells)
    return Mesh(np.asarray(V), cells, **data)


def _of_dict(mesh: Mapping[str, Any]) -> Mesh | Surface:
    if set(mesh) == {"V", "F"}:
        return Surface(np.asarray(mesh["V"]), np.asarray(mesh["F"]))
    unknown = set(mesh) - {"V", "T", "cell_data", "point_data", "tags"}
    if unknown or not {"V", "T"} <= set(mesh):
        raise InputError('a mesh in memory is {"V": array (n, 3), "T": array (m, 4)}, and may have cell_data, point_data, tags; a surface is {"V", "F"}')
    return Mesh(**mesh)


def _scalars(data: Mapping[str, Any], count: int) -> dict[str, np.ndarray]:
    """The fields that have one number for each of so many things."""
    arrays = {name: np.asarray(values) for name, values in data.items()}
    return {name: x.astype(float) for name, x in arrays.items() if x.shape == (count,) and x.dtype.kind in "biuf"}


def _of_meshio(mesh: Any) -> Mesh | Surface:
    kinds = mesh.cells_dict
    kind = next((k for k in ("tetra10", "tetra") if k in kinds), None)
    if kind is None:
        triangles = kinds.get("triangle")
        if triangles is None:
            raise InputError(f"the meshio mesh has neither tets nor triangles, but {', '.join(kinds) or 'no cells'}; convert its cells to tets")
        return Surface(np.asarray(mesh.points), np.asarray(triangles))
    T = np.asarray(kinds[kind])
    cells = {name: values[kind] for name, values in getattr(mesh, "cell_data_dict", {}).items() if kind in values}
    points = _scalars(mesh.point_data, len(mesh.points)) if kind == "tetra" else {}
    return Mesh(np.asarray(mesh.points), T, _scalars(cells, len(T)), points)


def _of_grid(grid: Any) -> Mesh | Surface:
    kinds = grid.cells_dict  # VTK numbers a tet 10, a quadratic one 24, a triangle 5
    kind = next((k for k in (24, 10) if k in kinds), None)
    if kind is None:
        if 5 not in kinds:
            raise InputError("the pyvista grid has neither tets nor triangles; grid.triangulate() makes tets")
        return Surface(np.asarray(grid.points), np.asarray(kinds[5]))
    T = np.asarray(kinds[kind])
    here = np.asarray(grid.celltypes) == kind
    cells = {name: np.asarray(grid.cell_data[name])[here] for name in grid.cell_data.keys()}
    points = {name: np.asarray(grid.point_data[name]) for name in grid.point_data.keys()} if kind == 10 else {}
    return Mesh(np.asarray(grid.points), T, _scalars(cells, len(T)), _scalars(points, len(grid.points)))


def _of_polydata(surface: Any) -> Surface:
    if not surface.is_all_triangles:
        surface = surface.triangulate()
    return Surface(np.asarray(surface.points), np.asarray(surface.faces).reshape(-1, 4)[:, 1:])


def _numbers(name: str, value: Any, kind: type, what: str) -> np.ndarray:
    try:
        array = np.ascontiguousarray(value)
        if kind is np.int64 and array.dtype.kind not in "iu":
            raise InputError(f"mesh {name!r}: {what} must hold whole numbers, not {array.dtype}")
        return array.astype(kind, copy=False)
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"mesh {name!r}: {what}: {error}") from None
