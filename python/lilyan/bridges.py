"""Simulations as objects of other libraries. Each library is imported when it is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._lilyan import InputError

if TYPE_CHECKING:
    from .simulation import Simulation

#: Names of cells here, in meshio and in VTK.
KINDS = {"tet": ("tetra", 10), "quadratic tet": ("tetra10", 24), "triangle": ("triangle", 5), "spring": ("line", 3)}


def _library(name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(name)
    except ImportError:
        raise InputError(f"{name} is not installed: pip install {name}") from None


def _blocks(sim: "Simulation") -> list[tuple[str, int, np.ndarray]]:
    blocks = []
    for kind, cells in sim.cells.items():
        if kind not in KINDS:
            raise InputError(f"cells of the kind {kind!r} are not known to other libraries")
        blocks.append((*KINDS[kind], cells))
    return blocks


def to_meshio(sim: "Simulation") -> Any:
    """The present shape as a mesh of meshio."""
    meshio = _library("meshio")
    blocks = _blocks(sim)
    ends = np.cumsum([len(cells) for _, _, cells in blocks])[:-1]
    stress = np.split(sim.von_mises(), ends) if blocks else []
    return meshio.Mesh(
        sim.q.copy(),
        [(name, cells) for name, _, cells in blocks],
        point_data={"velocity": sim.v.copy()},
        cell_data={"von_mises": stress},
    )


def to_pyvista(sim: "Simulation") -> Any:
    """The present shape as a grid of pyvista."""
    pyvista = _library("pyvista")
    cells, types = [], []
    blocks = _blocks(sim)
    if not blocks:
        return pyvista.PolyData(sim.q.copy())
    for _, number, block in blocks:
        cells.append(np.column_stack([np.full(len(block), block.shape[1]), block]).ravel())
        types.append(np.full(len(block), number, np.uint8))
    grid = pyvista.UnstructuredGrid(np.concatenate(cells), np.concatenate(types), sim.q.copy())
    grid.point_data["velocity"] = sim.v.copy()
    grid.cell_data["von_mises"] = sim.von_mises()
    return grid


def to_trimesh(sim: "Simulation") -> Any:
    """The present surface as a mesh of trimesh, without vertices inside."""
    trimesh = _library("trimesh")
    used, faces = np.unique(sim.surface, return_inverse=True)
    return trimesh.Trimesh(sim.q[used], faces.reshape(-1, 3), process=False)
