"""Materials whose functions are written in Python."""

from __future__ import annotations

from typing import Any, Callable, Mapping

import numpy as np

from . import _lilyan
from ._lilyan import InputError

#: ψ, P or ∂P/∂F of F (n, 3, 3) and the constants by name.
Function = Callable[[np.ndarray, dict[str, Any]], np.ndarray]


class Material:
    """A hyperelastic material of NumPy functions, to try an energy density without writing Rust. It is slow and right.

    ``energy`` returns ψ(F) in J/m³, of shape (n,); it is 0 at rest, and infinite or NaN where F is infeasible. ``stress`` returns
    P = ∂ψ/∂F in Pa, of shape (n, 3, 3). Both get F of shape (n, 3, 3) and a dict of constants: ``lambda`` and ``mu`` (Pa) follow from
    the moduli of the scene; ``parameters`` names more, with their defaults. A constant is a number, or an array of shape (n,) where it
    differs between points. ``tangent`` returns ∂P/∂F, of shape (n, 3, 3, 3, 3); without it, P is differenced. ``frame_indifferent`` says
    that ψ(QF) = ψ(F) for every rotation Q.

    >>> import numpy as np
    >>> def energy(F, c):       # St. Venant–Kirchhoff
    ...     E = (F.transpose(0, 2, 1) @ F - np.eye(3)) / 2
    ...     return c["mu"] * (E * E).sum((1, 2)) + c["lambda"] / 2 * np.trace(E, axis1=1, axis2=2)**2
    >>> def stress(F, c):
    ...     E = (F.transpose(0, 2, 1) @ F - np.eye(3)) / 2
    ...     return F @ (2 * c["mu"] * E + c["lambda"] * np.trace(E, axis1=1, axis2=2)[:, None, None] * np.eye(3))
    >>> mine = Material("mine", energy, stress)
    >>> mine.check()
    >>> body = {"mesh": {"box": {"size": [1, 1, 1], "cells": [1, 1, 1]}}, "material": {"model": mine, "E": 1e5, "nu": 0.3, "rho": 1000}}

    The functions are called from several threads, one at a time. An exception in them ends the step and reaches the caller. A material
    stays in memory until the program ends.
    """

    def __init__(
        self,
        name: str,
        energy: Function,
        stress: Function,
        tangent: Function | None = None,
        *,
        parameters: Mapping[str, float] | None = None,
        frame_indifferent: bool = True,
    ):
        self.name = name
        self.energy, self.stress, self.tangent = energy, stress, tangent
        self.parameters = dict(parameters or {})
        self.frame_indifferent = frame_indifferent
        full = None if tangent is None else lambda F, c: np.ascontiguousarray(np.asarray(tangent(F, c), dtype=float))
        self._material = _lilyan.Material(
            name,
            lambda F, c: np.ascontiguousarray(energy(F, c), dtype=float),
            lambda F, c: np.ascontiguousarray(stress(F, c), dtype=float),
            full,
            {key: float(value) for key, value in self.parameters.items()},
            frame_indifferent,
        )

    def check(self, E: float = 1e5, nu: float = 0.3, seed: int = 0) -> None:
        """Compares ``stress`` with differences of ``energy``, and looks at the state of rest. Raises :class:`InputError` if they disagree."""
        c = {"lambda": E * nu / ((1 + nu) * (1 - 2 * nu)), "mu": E / (2 * (1 + nu)), **self.parameters}
        identity = np.eye(3)[None]
        self._agree(np.allclose(self.energy(identity, c), 0, atol=1e-12 * E), "the energy at rest is not 0")
        self._agree(np.allclose(self.stress(identity, c), 0, atol=1e-9 * E), "the stress at rest is not 0")
        F = np.eye(3) + 0.1 * np.random.default_rng(seed).standard_normal((8, 3, 3))
        P, h = self.stress(F, c), 1e-6
        for i in range(3):
            for j in range(3):
                step = np.zeros((3, 3))
                step[i, j] = h
                slope = (self.energy(F + step, c) - self.energy(F - step, c)) / (2 * h)
                self._agree(np.allclose(P[:, i, j], slope, rtol=1e-5, atol=1e-6 * E), f"stress[{i}, {j}] is not the derivative of the energy")

    def _agree(self, holds: bool, message: str) -> None:
        if not holds:
            raise InputError(f"material {self.name!r}: {message}")

    def __reduce__(self) -> tuple:
        return _unpickle, (self.name, self.energy, self.stress, self.tangent, self.parameters, self.frame_indifferent)

    def __repr__(self) -> str:
        return f"<lilyan.Material {self.name!r}>"


def _unpickle(name: str, energy: Function, stress: Function, tangent: Function | None, parameters: dict, indifferent: bool) -> Material:
    return Material(name, energy, stress, tangent, parameters=parameters, frame_indifferent=indifferent)
