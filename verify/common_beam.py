"""The common beam falls as far as in six other programs.

The built-in scene bench-beam: 4 x 1 x 1 m, 24 n³ Kuhn tets, neo-Hookean (logarithmic), clamped at x = 0, let
go under gravity, backward Euler with h = 0.01 s. The mean displacement of the vertices at x = 4 at t = 1 s,
as six other programs find it with the same tets, step and mass matrix. n = 4; long form: also 8.
"""

import common
from common import check

KNOWN = {4: {"lumped": -3.32219, "consistent": -3.32372}, 8: {"lumped": -3.56390, "consistent": -3.56457}}


def main():
    for n in (4, 8) if common.LONG else (4,):
        for mass, known in KNOWN[n].items():
            result = common.run("bench-beam", body__beam__mass=mass, output__every=1,
                                body__beam__mesh__box__cells=f"[{4 * n}, {n}, {n}]")
            frame = result.frame(-1)
            face = common.at_rest(frame)[:, 0] > 4 - 1e-9
            assert abs(frame.time - 1) < 1e-9 and face.sum() == (n + 1) ** 2
            mean = frame.point["displacement"][face, 1].mean()
            check(f"n = {n}, {mass} mass: mean fall of the end at 1 s (m)", f"{mean:.6f}", f"{known:.5f}±1e-5",
                  abs(mean - known) <= 1e-5)


common.start(main)
