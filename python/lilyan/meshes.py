"""Meshes in memory, and meshes of other libraries."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Mapping

import numpy as np

from ._lilyan import InputError


@dataclass(frozen=True)
class Mesh:
    """Tets in arrays: ``V`` of shape (n, 3) in metres, ``T`` of shape (m, 4) with numbers of vertices from 0."""

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
        """A mesh of tets from a (V, T) pair, a dict with these keys, a meshio mesh or a pyvista grid."""
        if isinstance(mesh, cls):
            return mesh
        if isinstance(mesh, Mapping):
            unknown = set(mesh) - {"V", "T", "cell_data", "point_data", "tags"}
            if unknown or not {"V", "T"} <= set(mesh):
                raise InputError('a mesh in memory is {"V": array (n, 3), "T": array (m, 4)}, and may have cell_data, point_data, tags')
            return cls(**mesh)
        if hasattr(mesh, "cells_dict") and hasattr(mesh, "points") and not hasattr(mesh, "celltypes"):
            return cls(np.asarray(mesh.points), _tets(mesh.cells_dict.get("tetra"), "the meshio mesh"))
        if hasattr(mesh, "cells_dict") and hasattr(mesh, "points"):  # pyvista: VTK numbers a tet 10
            return cls(np.asarray(mesh.points), _tets(mesh.cells_dict.get(10), "the pyvista grid"))
        try:
            V, T = mesh
        except (TypeError, ValueError):
            raise InputError("a mesh is a pair (V, T) of arrays, a dict with them, a meshio mesh or a pyvista grid") from None
        return cls(np.asarray(V), np.asarray(T))

    def arrays(self, name: str) -> tuple:
        """What the extension module takes."""

        def numbers(value: Any, kind: type, what: str) -> np.ndarray:
            try:
                array = np.ascontiguousarray(value)
                if kind is np.int64 and array.dtype.kind not in "iu":
                    raise InputError(f"mesh {name!r}: {what} must hold whole numbers, not {array.dtype}")
                return array.astype(kind, copy=False)
            except (TypeError, ValueError) as error:
                if isinstance(error, InputError):
                    raise
                raise InputError(f"mesh {name!r}: {what}: {error}") from None

        vertices, tets = numbers(self.V, np.float64, "the vertices"), numbers(self.T, np.int64, "the tets")
        if vertices.ndim != 2 or tets.ndim != 2:
            raise InputError(f"mesh {name!r}: the vertices have shape (n, 3) and the tets (m, 4)")
        data = [{key: numbers(x, np.float64, key).reshape(-1) for key, x in d.items()} for d in (self.cell_data, self.point_data)]
        tags = None if self.tags is None else numbers(self.tags, np.int64, "the tags").reshape(-1)
        return name, vertices, tets, data[0], data[1], tags


def _tets(cells: Any, what: str) -> np.ndarray:
    if cells is None:
        raise InputError(f"{what} has no tets; fill its surface first, or write it to a file and name that in the scene")
    return np.asarray(cells)
