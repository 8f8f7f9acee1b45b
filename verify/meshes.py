"""The same motion on unrelated meshes: a swinging beam and a body that falls on the floor, of quadratic tets.

Beam: neo-Hookean, 4 x 1 x 1 m, let go under gravity, tip 1.9 m up and down, not damped. Ball: soft, 1 m wide, dropped on a floor. Coarse, medium and fine meshes have other cells, other diagonals, other tets. What differs is the place of a probe, of what
the probe moves in all, up to the end of the run. Linear tets on the finest mesh are told beside it. `--long --figure PATH` draws the
heights of the tip as SVG.
"""

import sys

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
    paths[label] = path(scene, probe)
    figure(f"{name}: {label}, against quadratic, {fine}", np.abs(paths[label] - paths[fine]).max() / size)
    if "--figure" in sys.argv and probe == "tip":
        draw(sys.argv[sys.argv.index("--figure") + 1], {k: p[:, 1] for k, p in paths.items()}, scene["time"]["end"])


def draw(file, heights, end):
    """Heights over time, each a curve; those of quadratic tets lie on each other."""
    width, height, left, top = 860, 300, 56, 46
    low, high = min(h.min() for h in heights.values()), max(h.max() for h in heights.values())
    across = lambda t: left + (width - left - 20) * t / end
    down = lambda y: top + (height - top - 34) * (high - y) / (high - low)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13">',
           '<rect width="100%" height="100%" fill="white"/>']
    for y in np.arange(np.ceil(2 * low) / 2, high, 0.5):
        out.append(f'<path d="M{left} {down(y):.1f}H{width - 20}" stroke="#ddd"/>'
                   f'<text x="{left - 8}" y="{down(y) + 4:.1f}" text-anchor="end">{y:g} m</text>')
    for t in range(int(end) + 1):
        out.append(f'<text x="{across(t):.1f}" y="{height - 12}" text-anchor="middle">{t} s</text>')
    styles = [("#2ca02c", 5), ("#ff9f1c", 3), ("#222222", 1.2), ("#d62728", 1.6)]
    for k, ((label, h), (colour, size)) in enumerate(zip(heights.items(), styles)):
        line = " ".join(f"{across(end * i / (len(h) - 1)):.1f},{down(y):.1f}" for i, y in enumerate(h))
        out.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="{size}"/>')
        x = left + (0, 190, 460, 660)[k]
        out.append(f'<path d="M{x} 22h26" stroke="{colour}" stroke-width="{size}"/><text x="{x + 32}" y="26">'
                   f'{"" if "linear" in label else "quadratic, "}{label}</text>')
    with open(file, "w") as svg:
        print("\n".join(out + ["</svg>"]), file=svg)


def path(scene, probe):
    table = common.run(scene).probes
    return np.stack([table[f"{probe}_{axis}"] for axis in "xyz"], axis=1)


if __name__ == "__main__":
    common.start(main)
