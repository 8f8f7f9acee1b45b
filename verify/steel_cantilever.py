"""What `lilyan check` predicts for the steel cantilever is what the run does.

The prediction: how much of the first mode's amplitude backward Euler takes per period, the frequency it
gives it, and the longest stable step of Verlet. The run: the motion of the tip and of the whole beam, fitted
with a damped cosine; and Verlet for 2000 steps just below and just above the limit.
"""

import common
from common import check, np

SCENE = "steel-cantilever"


def damped_cosine(a, interval):
    """Decay rate and angular frequency of a(t) ≈ e^(−δt)(A cos ωt + B sin ωt), by least squares."""
    from scipy.optimize import least_squares
    t = interval * np.arange(len(a))
    a = a / np.abs(a).max()
    # Start without decay, at the strongest of finely spaced frequencies.
    trial = 2 * np.pi * np.linspace(0.5, 0.25 * len(a), 2000) / t[-1]
    rate = trial[np.abs(np.exp(-1j * np.outer(trial, t)) @ a).argmax()]

    def residual(p):
        base = np.exp(-p[0] * t)[:, None] * np.stack([np.cos(p[1] * t), np.sin(p[1] * t)], axis=1)
        return base @ np.linalg.lstsq(base, a, rcond=None)[0] - a

    return least_squares(residual, [0.0, rate], x_scale=[1 / t[-1], rate], xtol=1e-14, ftol=1e-14, gtol=1e-14).x


def main():
    common.need("scipy")
    spectrum = common.diagnose(SCENE)["spectrum"]
    first = spectrum["lowest"][0]
    found = common.modes(SCENE, 2, matrices=True, shapes=True)
    result = common.run(SCENE, output__fields='["displacement"]')
    frames = [result.frame(k) for k in range(len(result.frame_paths()))]
    interval = frames[1].time - frames[0].time

    # The first two modes have the same frequency and bend in any two directions: that along y is the one that is pushed. Two
    # views of it: its share in all of the motion (orthogonal in M), and the tip's motion along it.
    rest = common.at_rest(frames[0])
    tip = np.abs(rest - [1, 0.025, 0.025]).sum(axis=1).argmin()
    shape = sum(s[tip][1] * s for s in found.shapes[:2])
    weights = found.M @ shape.ravel()
    direction = shape[tip] / np.linalg.norm(shape[tip])
    omega = 2 * np.pi * first["hz"]
    views = {"first mode": [weights @ f.point["displacement"].ravel() for f in frames],
             "tip": [direction @ f.point["displacement"][tip] for f in frames]}
    for name, motion in views.items():
        motion = np.array(motion)
        delta, rate = damped_cosine(motion, interval)
        lost = 1 - np.exp(-2 * np.pi * delta / rate)
        check(f"backward Euler, {name}: amplitude lost per period {lost:.6f}, of that predicted",
              lost / first["amplitude_lost_per_period"] - 1, 0.05)
        check(f"backward Euler, {name}: frequency {rate / omega:.6f} of the true one, of that predicted",
              rate / omega / first["frequency_ratio"] - 1, 0.005)

    limit = spectrum["stable_steps"]["verlet"]
    amplitude = 0.2 / omega
    below, above = (common.run(SCENE, may_stop=True, integrator__name="verlet", time__step=repr(factor * limit),
                               time__end=repr(2000 * factor * limit), output__every=repr(20 * factor * limit),
                               output__fields='["displacement"]') for factor in (0.97, 1.05))
    largest = max(np.abs(below.frame(k).point["displacement"]).max() for k in range(len(below.frame_paths())))
    steps = below.energy["step"][-1]
    check(f"Verlet, 0.97 of the stable step, {steps:.0f} steps: largest motion, of the first mode's",
          largest / amplitude, 1.5)
    energy = above.energy["total"] if above.code == 0 else np.array([np.inf])
    check("Verlet, 1.05 of the stable step: stops (exit status 2) or energy grows without bound",
          f"exit {above.code}", "2 or > 1e6", above.code == 2 or not np.nanmax(energy) < 1e6 * below.energy["total"][0])


common.start(main)
