"""Who keeps the energy of a stiff twisted bar, and who survives: in kind [chen2019, Figs. 4.3, 4.12, 6.9–6.14].

A bar is twisted and let go, with steps far beyond the explicit limit. Linearly implicit and backward Euler lose the
energy; the implicit midpoint, `ere` and `siere` keep it, or most of it (no method here but the midpoint rule is symplectic). The same for meshes of that thesis, where they are to be had.
Energies are those at the end, of that at the start.
"""

import sys

import common
from common import check, figure, np

METHODS = {"semi-implicit": {}, "backward-euler": {}, "variational": {"alpha": 0.5}, "ere": {}, "siere": {"modes": 10}}


def main():
    long = "--long" in sys.argv
    judge("twisted bar", common.box([4, 1, 1], [16, 4, 4] if long else [8, 2, 2]), 90, 5e6)
    if long:
        for name in ("hex_sheet_5", "moebius_5"):
            mesh = common.public_mesh(f"gauss/{name}.node")
            if mesh is None:
                common.skip(name, "the public meshes are not here")
                continue
            judge(name, mesh, 20, 1e7)


def judge(name, mesh, degrees, young, step=0.005):
    kept = {}
    for method, options in METHODS.items():
        scene = common.one_body(
            mesh, {"model": "neo-hookean", "E": young, "nu": 0.3, "rho": 1000}, step=step, end=100 * step,
            integrator=method, options=options, initial={"twist": {"axis": [1, 0, 0], "degrees": degrees}})
        result = common.run(scene, may_stop=True)
        total = result.energy["total"]
        kept[method] = total[-1] / total[0] if result.code == 0 else float("nan")
        figure(f"{name}, {method}: energy left after 100 steps", kept[method])
    for method in ("semi-implicit", "backward-euler"):
        lost = np.isnan(kept[method]) or kept[method] < 0.8
        check(f"{name}, {method} loses energy (or fails)", kept[method], "< 0.8", bool(lost))
    for method in ("ere", "siere"):
        better = kept[method] - np.nan_to_num(kept["semi-implicit"])
        check(f"{name}, {method} keeps more than semi-implicit, by", better, "> 0.1", bool(better > 0.1))
    check(f"{name}, ere: energy off by", abs(kept["ere"] - 1), 0.2)


common.start(main)
