"""Random scenes: no verdict calls a wrong run right or a right one wrong, and no forecast differs from its run.

Each scene is a small body with an integrator, material, damping, modulus (1e3 to 1e12 Pa), step (1e-5 to 0.1 s) and motion
drawn at random. The energy budget is drawn up here, from the energies, the work and the damping in `energy.csv`:

* a run that ends with exit status 0 and gains more than 2 % of the energy in play has a verdict that says so;
* a body at rest, on which nothing acts, is sound with every method;
* a run that starts in one mode loses as much amplitude per step as `lilyan check` foretells, within 5 %;
* an explicit method runs at 0.95 of the stable step that `lilyan check` tells, and does not at 1.05.

`--scenes N` sets the number of scenes, `--seed N` the first of them, `--show` prints each of them.
"""

import base64
import json
import math
import random
import subprocess
import sys
from collections import Counter

import common
from common import check, figure, np

LIMIT = 0.02  # of the energy in play
STEPS = 60
UNRESOLVED = 30  # hω
MOST_STEPS = 3000  # of a run that is compared with a forecast
SECONDS = 30  # of a run, on a quiet machine a few at most


def option(name, default):
    return int(sys.argv[sys.argv.index(name) + 1]) if name in sys.argv else default


SHOW = "--show" in sys.argv


def catalogue(what):
    return json.loads(common.lilyan(what, "--json").stdout)


# ── Scenes ───────────────────────────────────────────────────────────────────


def options_of(draw, name):
    """Mostly the defaults."""
    if draw.random() < 0.6:
        return {}
    choices = {
        "variational": {"alpha": draw.choice([0.25, 0.5, 0.75, 1.0])},
        "ere": {"method": draw.choice(["auto", "lanczos", "shift-invert", "general"])},
        "siere": {"modes": draw.choice([0, 1, 3, 10, "auto"])},
        "newmark": {"gamma": draw.choice([0.5, 0.6, 0.9]), "beta": draw.choice([0.1, 0.25, 0.5])},
        "generalized-alpha": {"rho_inf": draw.choice([0.0, 0.5, 1.0])},
        "regularized": {"beta_steps": draw.choice([0.0, 0.5, 1.0])},
        "corotational-reversible": {"rotation": draw.choice(["polar", "minimizer"])},
    }
    return choices.get(name, {})


def damping_of(draw, h):
    time = h * 10 ** draw.uniform(-2, 1)
    return draw.choice(["none"] * 4 + [
        {"model": "viscous", "time": time},
        {"model": "rayleigh", "alpha": draw.choice([0, 0.1 / h]), "beta": time},
        {"model": "kharevych", "time": time},
        {"model": "kharevych", "time": time, "implicit": False},
    ])


def mesh_of(draw, name):
    """A mesh and the element of the body."""
    size = 10 ** draw.uniform(-2, 1)
    if name == "dgsi":
        return common.box([size, 0.5 * size, 0.5 * size], [2, 1, 1]), {"element": "dg"}, size
    kind = draw.choice(["bar", "bar", "bar", "cube", "cloth", "rope"])
    if name in ("corotational-reversible",):
        kind = "bar"
    if kind == "cloth":
        mesh = {"cloth": {"size": [size, size], "cells": [4, 4], "thickness": 0.01 * size}}
        return mesh, {"element": draw.choice(["springs", "membrane"])}, size
    if kind == "rope":
        return {"rope": {"from": [0, 0, 0], "to": [size, 0, 0], "segments": 8, "radius": 0.02 * size}}, {}, size
    if kind == "cube":
        return common.box([size] * 3, [2, 2, 2]), {}, size
    return common.box([size, 0.25 * size, 0.25 * size], [4, 1, 1]), {}, size


def motion_of(draw, size, E, h):
    """What starts or drives the motion: keys of the body, keys of the scene."""
    wave = math.sqrt(E / 1000)
    clamp = {"where": f"x < {0.01 * size!r}"}
    kind = draw.choice(["rest", "stretch", "twist", "spin", "thrown", "sag", "shaken", "pushed", "drop", "led"])
    if kind == "rest":
        return kind, {}, {}
    if kind == "stretch":
        return kind, {"initial": {"stretch": [draw.uniform(0.7, 1.5), 1, 1]}}, {}
    if kind == "twist":
        return kind, {"initial": {"twist": {"axis": [1, 0, 0], "degrees": draw.uniform(10, 120)}}}, {}
    if kind == "spin":
        rate = 10 ** draw.uniform(-3, -0.5) * wave / size
        return kind, {"initial": {"angular_velocity": [0.1 * rate, 0.2 * rate, rate]}}, {}
    if kind == "thrown":
        return kind, {"initial": {"velocity": [f"{0.1 * wave / size!r}*y", 0.01 * wave, 0]}}, {}
    if kind == "sag":
        return kind, {}, {"pin": [clamp], "environment": {"gravity": [0, -9.81, 0]}}
    if kind == "shaken":
        rate = 2 * math.pi / (h * draw.uniform(10, 60))
        return kind, {}, {"pin": [clamp | {"motion": [0, f"{0.05 * size!r}*sin({rate!r}*t)", 0]}]}
    if kind == "led":
        speed = 0.1 * size / (STEPS * h)
        return kind, {}, {"pin": [clamp | {"motion": [0, f"{speed!r}*t", 0]}]}
    if kind == "pushed":
        force = E * size**2 * 10 ** draw.uniform(-5, -3)
        end = {"where": {"nearest": [size, 0, 0]}, "force": [0, force, 0]}
        return kind, {}, {"pin": [clamp], "load": [end]}
    floor = {"kind": "plane", "point": [0, -0.05 * size, 0], "normal": [0, 1, 0]}
    return kind, {"initial": {"velocity": [0, -0.01 * wave, 0]}}, {"contact": [floor]}


def material_of(draw, name, mesh, element, E, models):
    if "rope" in mesh or element.get("element") == "springs":
        model = "springs"
    elif name == "regularized":
        model = "stvk"
    elif element.get("element") == "membrane":
        model = draw.choice(["stvk", "neo-hookean", "neo-hookean-log"])
    elif name == "corotational-reversible":
        model = draw.choice(["co-rotational", "linear"])
    else:
        model = draw.choice([m for m in models if m != "springs"])
    nu = 0.3 if draw.random() < 0.7 else draw.choice([0.0, 0.45, 0.49])
    return {"model": model, "E": E, "rho": 1000} | ({} if model == "springs" else {"nu": nu})


def scene_of(number, integrators, models):
    """The scene of that number, as its structure, and what moves it."""
    draw = random.Random(f"lilyan {number}")
    method = integrators[number % len(integrators)]
    name = method["name"]
    E, h = 10 ** draw.uniform(3, 12), 10 ** draw.uniform(-5, -1)
    mesh, element, size = mesh_of(draw, name)
    if method["explicit"] and draw.random() < 0.7:
        # Near its limit: an edge of a tenth of the size.
        h = draw.uniform(0.05, 1) * 0.1 * size / math.sqrt(E / 1000)
    kind, body, top = motion_of(draw, size, E, h)
    scene = {
        "title": f"random scene {number}",
        "time": {"end": STEPS * h, "step": h},
        "integrator": {"name": name, **options_of(draw, name)},
        "body": [{"name": "body", "mesh": mesh, "damping": damping_of(draw, h), **element, **body,
                  "material": material_of(draw, name, mesh, element, E, models)}],
        "output": {"every": STEPS * h, "replay": False},
        **top,
    }
    return kind, scene


# ── Runs ─────────────────────────────────────────────────────────────────────


def attempt(command, scene):
    """Exit status, folder and message; None where it took too long."""
    directory = common.folder()
    path = directory / "scene.json"
    path.write_text(json.dumps(scene))
    arguments = [common.BINARY, command, path, "--json"]
    if command == "run":
        arguments += ["--threads", "1", "-o", directory / "out"]
    try:
        done = subprocess.run(list(map(str, arguments)), capture_output=True, text=True, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None
    return done, directory / "out"


def gain(energy):
    """Energy that neither start nor loads explain, relative to the energy in play. Infinite where it is not finite."""
    total = energy["total"]
    if not np.isfinite(total).all():
        return math.inf, math.inf
    supplied = energy["initial"] if "initial" in energy else total[0]
    created = total - supplied - energy["work_external"] + energy["dissipated_physical"]
    gravity = energy["gravity"] - energy["gravity"].min()
    in_play = (energy["kinetic"] + abs(energy["elastic"]) + abs(energy["other"]) + gravity).max()
    return created.max(), created.max() / in_play if in_play > 0 else 0.0


def extent(mesh):
    """The length of a body, m."""
    return max(mesh["box"]["size"] if "box" in mesh else mesh["cloth"]["size"] if "cloth" in mesh else mesh["rope"]["to"])


def unstable(scene):
    """Whether `check` warns that the method is unstable with this step."""
    result = attempt("check", scene)
    if result is None or result[0].returncode != 0:
        return False
    told = json.loads(result[0].stdout)
    motion = (told["spectrum"] or {}).get("small_motion") or {}
    return motion.get("unstable", False) or any("stable step" in warning for warning in told["warnings"])


def judge(number, kind, scene, count):
    """Runs a scene; what is wrong with its verdict, if anything is."""
    result = attempt("run", scene)
    if result is None:
        count["too slow"] += 1
        return None
    done, out = result
    if done.returncode == 1:
        count["refused"] += 1
        if kind == "rest" or "panicked" in done.stderr or len(done.stderr) < 20:
            return f"refused: {done.stderr.strip()}"
        return None
    if done.returncode not in (0, 2):
        return f"exit status {done.returncode}: {done.stderr.strip()[:200]}"
    count[f"exit {done.returncode}"] += 1
    if done.returncode == 2:
        # Where the method is unstable at rest, it amplifies round-off, and `check` says so.
        broken = kind == "rest" and not unstable(scene)
        return f"a body at rest is stopped: {done.stderr.strip()[:300]}" if broken else None
    summary = json.loads((out / "summary.json").read_text())
    created, share = gain(common.read_csv(out / "energy.csv"))
    level = summary["verdict_level"]
    if kind == "rest":
        return None if level == "pass" or unstable(scene) else f"a body at rest: {summary['verdict']}"
    count[level] += 1
    # Energy of strains of 1e-11 is round-off.
    spec = scene["body"][0]
    round_off = 1e-22 * spec["material"]["E"] * extent(spec["mesh"]) ** 3
    if share > LIMIT and created > round_off and level == "pass":
        return f"gains {100 * share:.3g} % ({created:.3g} J), verdict: {summary['verdict']}"
    return None


# ── Forecasts ────────────────────────────────────────────────────────────────


def forecast(number, scene, count):
    """Runs a scene from each of its lowest modes; the largest difference from what `check` foretold, or what went wrong."""
    still = {key: value for key, value in scene.items() if key not in ("load", "environment", "contact", "pin")}
    size = max(scene["body"][0]["mesh"].get("box", {"size": [0]})["size"])
    if size == 0:
        return None
    still["pin"] = [{"where": f"x < {0.01 * size!r}"}]
    body = dict(scene["body"][0])
    body.pop("initial", None)
    still["body"] = [body]
    if still["integrator"]["name"] == "ere":
        # What its default tolerance leaves is as large as the damping.
        still["integrator"] = still["integrator"] | {"tolerance": 1e-10}
    result = attempt("check", still)
    if result is None or result[0].returncode != 0:
        return None
    told = json.loads(result[0].stdout)["spectrum"]
    if not told or not told.get("lowest") or (told.get("small_motion") or {}).get("unstable"):
        return None
    found = common.modes(still, 3, shapes=True)
    frame = common.run(still | {"output": {"every": still["time"]["end"], "fields": ["displacement"]}}, "--steps", 1,
                       may_stop=True).frame(0)
    rest, h = common.at_rest(frame), still["time"]["step"]
    worst = 0.0
    for mode, shape in zip(told["lowest"], found.shapes):
        growth = mode.get("growth_per_step")
        # A mode that a step does not resolve at all leaves round-off to compare.
        if growth is None or 2 * math.pi * mode["hz"] * h > UNRESOLVED:
            continue
        # An overdamped mode has a fast root, which the forecast of a method that does not damp it has as its slowest. A run resolves
        # it in its first step, a sequence of short ones, and the slow root is left.
        damping = body["damping"] if isinstance(body["damping"], dict) else {}
        omega = 2 * math.pi * mode["hz"]
        decay = damping.get("time", damping.get("beta", 0)) * omega**2 + damping.get("alpha", 0)
        settling = 0
        if not mode["frequency_ratio"] and decay > 2 * omega:
            if decay * h > 4:
                count["steep starts"] += 1
                continue
            # The other root has to be gone before the slow one is measured.
            settling = math.ceil(12 / (h * (decay / 2 + math.sqrt(decay**2 / 4 - omega**2))))
        # A strain of about 1e-5, in velocities and positions.
        shape = shape * (1e-6 * size / np.abs(shape).max())
        state = np.concatenate([(rest + shape).ravel(), (min(omega, 1 / h) * shape).ravel()])
        text = base64.b64encode(state.astype("<f8").tobytes()).decode()
        # Half a period in steps: energies are compared at the same phase.
        half = 0.5 / (mode["hz"] * h * mode["frequency_ratio"]) if mode["frequency_ratio"] else 4.0
        steps = max(STEPS, settling + 40, math.ceil(8 * half))
        if steps > MOST_STEPS:
            continue
        moving = still | {"body": [body | {"initial": {"state": text}}], "time": {"end": steps * h, "step": h},
                          "output": {"every": steps * h, "replay": False}}
        done, out = attempt("run", moving) or (None, None)
        if done is None or done.returncode == 1:
            continue
        energy = common.read_csv(out / "energy.csv")["total"]
        measured = measure(energy, half, settling)
        if measured is None:
            continue
        count["forecasts"] += 1
        # What is lost, where it is more than a little; else both are next to nothing.
        lost, foretold = 1 - measured, 1 - growth
        off = abs(lost - foretold) / max(abs(foretold), 1e-4)
        if SHOW:
            print(f"    mode {mode['hz']:.4g} Hz: foretold {growth:.8g}, run {measured:.8g}", flush=True)
        if off > 0.05:
            return f"mode of {mode['hz']:.4g} Hz: factor per step {growth:.6g} foretold, {measured:.6g} in the run"
        worst = max(worst, off)
    return worst


def measure(energy, half, settling=0):
    """The factor per step on the amplitude, from energies that are half periods apart and not lost in round-off."""
    if not energy[0] > 0:
        return None
    usable = energy > 1e-8 * energy[0]
    last = len(energy) - 1 if usable.all() else int(np.argmin(usable)) - 1
    # The start of a method with a memory is left out.
    first = max(min(last // 3, 40), settling)
    halves = math.floor((last - first) / half)
    if halves < 1:
        return None
    log = np.log(energy[:last + 1])
    at = lambda step: np.interp(step, np.arange(last + 1), log)
    return math.exp(0.5 * (at(first + halves * half) - log[first]) / (halves * half))


def limits(draw, count):
    """An explicit method just below and just above the limit that `check` tells."""
    E, size = 10 ** draw.uniform(3, 12), 10 ** draw.uniform(-2, 1)
    step = 0.02 * size / math.sqrt(E / 1000)
    damping = draw.choice(["none", {"model": "viscous", "time": step * 10 ** draw.uniform(-1, 1)},
                           {"model": "rayleigh", "beta": step * 10 ** draw.uniform(-1, 1)}])
    scene = {"time": {"end": step, "step": step}, "integrator": "verlet",
             "body": [{"name": "body", "mesh": common.box([size, 0.25 * size, 0.25 * size], [4, 1, 1]), "damping": damping,
                       "material": {"model": "linear", "E": E, "nu": 0.3, "rho": 1000},
                       "initial": {"stretch": [1.001, 1, 1]}}],
             "output": {"replay": False, "every": 1}}
    told = json.loads(attempt("check", scene)[0].stdout)["spectrum"]["stable_steps"]
    for name, limit in told.items():
        if limit is None or name == "explicit-euler":
            continue
        ends = []
        for factor in (0.95, 1.05):
            h = factor * limit
            run = scene | {"integrator": name, "time": {"end": 1500 * h, "step": h}, "output": {"replay": False, "every": 1500 * h}}
            result = attempt("run", run)
            if result is None:
                break
            ends.append(result[0].returncode)
        if len(ends) == 2:
            count["limits"] += 1
            if ends != [0, 2]:
                return f"{name}, {damping}: exit status {ends} at 0.95 and 1.05 of {limit:.4g} s"
    return None


def main():
    scenes = option("--scenes", 300 if common.LONG else 15)
    first = option("--seed", 0)
    integrators = catalogue("integrators")
    integrators = integrators.get("integrators", integrators) if isinstance(integrators, dict) else integrators
    models = [m["name"] for m in catalogue("materials")["materials"]]
    count, wrong, unforetold, worst = Counter(), [], [], 0.0
    for number in range(first, first + scenes):
        kind, scene = scene_of(number, integrators, models)
        complaint = judge(number, kind, scene, count)
        if complaint:
            wrong.append(number)
        if SHOW or complaint:
            b = scene["body"][0]
            print(f"  {number} {scene['integrator']} {b['material']} {b['damping']} h={scene['time']['step']:.3g} {kind}: "
                  f"{complaint or 'ok'}", file=sys.stderr if not SHOW else sys.stdout, flush=True)
        if number % 5 == 0 or "--forecasts" in sys.argv:
            off = forecast(number, scene, count)
            if isinstance(off, str):
                unforetold.append(number)
                print(f"  {number} {scene['integrator']}, {scene['body'][0]['damping']}, h={scene['time']['step']:.3g}: {off}",
                      file=sys.stderr if not SHOW else sys.stdout, flush=True)
            elif off:
                worst = max(worst, off)
    for number in range(first, first + scenes, 20):
        complaint = limits(random.Random(f"limit {number}"), count)
        if complaint:
            unforetold.append(number)
            print(f"  limit {number}: {complaint}", file=sys.stderr if not SHOW else sys.stdout, flush=True)
    check(f"{scenes} scenes from number {first}: verdicts that are wrong", len(wrong), 0)
    check("forecasts of check that are more than 5 % off", len(unforetold), 0)
    check("– forecasts that were compared", f"{count['forecasts']} modes, {count['limits']} limits", "some",
          count["forecasts"] > 0)
    figure("largest distance of a forecast within 5 %", worst)
    figure("ends", ", ".join(f"{k} {v}" for k, v in sorted(count.items())))


if __name__ == "__main__":
    common.start(main)
