"""lilyan on the common beam: scenes/bench-beam.toml by the release build, or by the binary in LILYAN."""

import argparse
import csv
import json
import os
import statistics
import subprocess
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
BINARY = os.environ.get("LILYAN", Path(os.environ.get("CARGO_TARGET_DIR", REPOSITORY / "target"), "release/lilyan"))

parser = argparse.ArgumentParser(description=__doc__)
parser.add_argument("-n", type=int, default=8, help="cells across")
parser.add_argument("--steps", type=int, default=100)
parser.add_argument("--threads", type=int, default=1)
parser.add_argument("--mass", default="consistent", choices=["consistent", "lumped"])
parser.add_argument("--material", default="neo-hookean-log")
parser.add_argument("--explicit", action="store_true", help="Verlet, h = 2e-4 s, lumped mass")
arguments = parser.parse_args()
n, mass = arguments.n, "lumped" if arguments.explicit else arguments.mass
settings = {"body.beam.mesh.box.cells": f"[{4 * n}, {n}, {n}]", "body.beam.mass": mass,
            "body.beam.material.model": arguments.material, "output.every": 1, "time.end": 1000}
if arguments.explicit:
    settings |= {"time.step": 2e-4, "integrator": '{ name = "verlet" }'}
# A probe at every node of the free face.
face = [(y / n, z / n) for y in range(n + 1) for z in range(n + 1)]
probes = "".join(f'\n[[probe]]\nname = "p{i}"\nbody = "beam"\nat = [4, {y}, {z}]\n' for i, (y, z) in enumerate(face))
with tempfile.TemporaryDirectory() as folder:
    scene = Path(folder, "beam.toml")
    scene.write_text((REPOSITORY / "scenes/bench-beam.toml").read_text() + probes)
    words = [BINARY, "run", scene, "-o", Path(folder, "out"), "--json"]
    words += ["--threads", str(arguments.threads), "--steps", str(arguments.steps)]
    for key, value in settings.items():
        words += ["--set", f"{key}={value}"]
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    summary = json.loads(done.stdout)
    with open(Path(folder, "out/probes.csv")) as file:
        *_, last = csv.DictReader(file)
seconds = summary["seconds_per_step_median"]
line = {"program": "lilyan", "version": summary["version"], "settings": f"threads: {arguments.threads}",
        "mass": mass, "material": arguments.material, "n": n, "tets": summary["elements"], "steps": summary["steps"],
        "seconds_per_step": seconds, "newton_per_step": summary["newton_iterations_mean"],
        "tip": statistics.fmean(float(last[f"p{i}_y"]) - y for i, (y, _) in enumerate(face))}
if arguments.explicit:
    line["million_tets_per_second"] = line["tets"] / seconds / 1e6
print(json.dumps(line))
