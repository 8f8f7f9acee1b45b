"""The same motion on unrelated meshes: a swinging beam and a body that falls on the floor, of quadratic tets.

Beam: neo-Hookean, 4 x 1 x 1 m, let go under gravity, tip 1.9 m up and down, not damped. Ball: soft, 1 m wide, dropped on a floor. Coarse, medium and fine meshes have other cells, other diagonals, other tets. What differs is the place of a probe, of what
the probe moves in all, up to the end of the run. Linear tets on the finest mesh are told beside it.
"""

import common
from common import LONG, check, figure, np


def main():
    beam()
    ball()


def beam():
    end = 9.0 if LONG else 3.6  # a period is 1.8 s

    def scene(cells, diagonals, element="quadratic"):
        mesh = {"box": {"size": [4, 1, 1], "cells": cells, "diagonals": diagonals}}
        material = {"model": "neo-hookean", "E": 4e6, "nu": 0.0, "rho": 1000}
        return common.one_body(mesh, material, element=element, step=0.04, end=end, integrator="energy-momentum",
                               environment={"gravity": [0, -9.81, 0]}, pin=[{"where": "x < 1e-6"}],
                               probe=[{"name": "tip", "at": [4, 0.5, 0.5]}])

    meshes = {"8x2x2 cells": scene([8, 2, 2], "mirrored"), "10x3x2, other diagonals": scene([10, 3, 2], "same"),
              "14x3x4": scene([14, 3, 4], "mirrored")}
    compare(f"swinging beam, {end / 1.8:.0f} periods", meshes, "tip", 0.03, ("linear, 16x4x4", scene([16, 4, 4], "mirrored", "tets")))


def ball():
    end = 1.2 if LONG else 0.6  # back up at 0.65 s

    def scene(tets, element="quadratic"):
        mesh = {"sphere": {"radius": 0.5, "tets": tets}, "translate": [0, 0.7, 0]}
        material = {"model": "stable-neo-hookean", "E": 1e5, "nu": 0.4, "rho": 1000}
        contact = [{"kind": "plane", "point": [0, 0, 0], "normal": [0, 1, 0]}]
        scene = common.one_body(mesh, material, element=element, step=0.005, end=end, integrator="energy-momentum",
                                environment={"gravity": [0, -9.81, 0]}, probe=[{"name": "middle", "at": [0, 0.7, 0]}])
        return scene | {"contact": contact}

    meshes = {"240 tets": scene(100), "552": scene(400), "1080": scene(1000)}
    compare(f"ball on the floor, {end} s", meshes, "middle", 0.03, ("linear, 1080", scene(1000, "tets")))


def compare(name, meshes, probe, allowed, linear):
    paths = {label: path(scene, probe) for label, scene in meshes.items()}
    fine = list(paths)[-1]
    size = np.ptp(paths[fine], axis=0).max()
    for label in list(paths)[:-1]:
        check(f"{name}: quadratic, {label}, against {fine}", np.abs(paths[label] - paths[fine]).max() / size, allowed)
    label, scene = linear
    figure(f"{name}: {label}, against quadratic, {fine}", np.abs(path(scene, probe) - paths[fine]).max() / size)


def path(scene, probe):
    table = common.run(scene).probes
    return np.stack([table[f"{probe}_{axis}"] for axis in "xyz"], axis=1)


if __name__ == "__main__":
    common.start(main)
