"""Two million steps of the tumbling rod: energy stays in its band, momenta stay what they were.

The long runs of Kharevych et al. 2006 (figures 2 and 3) with the built-in scenes tumbling-rod and
tumbling-rod-damped. Energy of a symplectic method moves in a band that does not drift: after a burn-in of a quarter,
the means of the first and the last tenth are compared, relative to the band (VERIFICATION P8: 3 %). Momenta are
relative to Σ m|v| and |L| at the start (P7). With damping, what is left in the end is a rod that turns rigidly: the energy
is not below the least that its angular momentum allows, the spin is all there. Long form only; some five minutes.
"""

import common
from common import check, figure, np

STEPS = 2_000_000
END = STEPS * 0.004


def main():
    if not common.LONG:
        raise common.Skip("long form only")
    settings = {"time__end": END, "output__every": END / 100, "output__energy_every": 10,
                "output__fields": '["velocity", "mass", "displacement"]'}
    for scene in ("tumbling-rod", "tumbling-rod-damped"):
        result = common.run(scene, **settings)
        frame, last = result.frame(0), result.frame(-1)
        mass, speed = frame.point["mass"], np.linalg.norm(frame.point["velocity"], axis=1)
        table = result.energy
        total = table["total"]
        check(f"{scene}: steps", f"{table['step'][-1]:.0f}", f"{STEPS}", table["step"][-1] == STEPS)
        p = np.stack([table[k] for k in ("px", "py", "pz")], axis=1)
        spin = np.stack([table[k] for k in ("lx", "ly", "lz")], axis=1)
        check(f"{scene}: change of momentum, of Σ m|v|", np.abs(p - p[0]).max() / (mass @ speed), 2e-13)
        check(f"{scene}: change of angular momentum, of it", np.abs(spin - spin[0]).max() / np.linalg.norm(spin[0]), 2e-13)
        if scene == "tumbling-rod":
            kept = total[len(total) // 4:]
            band = kept.max() - kept.min()
            tenth = len(kept) // 10
            check(f"{scene}: energy band, of the energy", band / total[0], 0.01)
            check(f"{scene}: drift of the mean energy, first to last tenth, of the band",
                  (kept[-tenth:].mean() - kept[:tenth].mean()) / band, 0.03)
            figure(f"{scene}: mean energy, first tenth (J)", f"{kept[:tenth].mean():.4f}")
            figure(f"{scene}: mean energy, last tenth (J)", f"{kept[-tenth:].mean():.4f}")
        else:
            # Energy of a rigid body with the shape, mass and angular momentum of the last frame: ½ L·I⁻¹L.
            x = last.points - mass @ last.points / mass.sum()
            inertia = np.einsum("n,nij->ij", mass, np.eye(3) * (x * x).sum(1)[:, None, None] - x[:, :, None] * x[:, None, :])
            L = mass @ np.cross(x, last.point["velocity"])
            rigid = 0.5 * L @ np.linalg.solve(inertia, L)
            omega = np.linalg.solve(inertia, L)
            relative = last.point["velocity"] - mass @ last.point["velocity"] / mass.sum() - np.cross(omega, x)
            check(f"{scene}: motion left that is not a turn, of the speed",
                  np.abs(relative).max() / np.abs(last.point["velocity"]).max(), 1e-3)
            check(f"{scene}: kinetic energy, of a rigid body's with that spin", table["kinetic"][-1] / rigid - 1, 1e-5)
            rise = max(0.0, np.diff(total[::50]).max())  # more than one period of the slowest mode
            check(f"{scene}: energy never grows: largest rise in 500 steps, of the start", rise / total[0], 1e-9)
            figure(f"{scene}: energy, start (J)", f"{total[0]:.4f}")
            figure(f"{scene}: energy, end (J)", f"{total[-1]:.4f}")
        summary = result.summary
        figure(f"{scene}: time (s)", summary["wall_seconds"])
        figure(f"{scene}: peak memory (MB)", summary["peak_memory_mb"])


common.start(main)
