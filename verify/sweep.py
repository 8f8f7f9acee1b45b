"""A sweep gives the same table to the byte, whoever does its runs, and does nothing twice.

A beam with 10 stiffnesses, 10 steps and 2 integrators, 200 runs (short form: 20): by two processes of `lilyan sweep`; one by one with
`--index`, as a Slurm array or GNU parallel does it; by a Dask cluster of two workers through the Python package, where that and Dask are
installed (LILYAN_PYTHON=path names its Python); and by a driver that is killed in the middle and started again.
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import common
from common import check, figure

SCENE = """
title = "Beam"
time = { end = 0.2, step = 0.01 }
environment = { gravity = [0, -9.81, 0] }
output = { every = 0.1, replay = false }
[[body]]
name = "beam"
mesh = { box = { size = [1, 0.2, 0.2], cells = [5, 1, 1] } }
material = { model = "neo-hookean", E = 1e5, nu = 0.3, rho = 1000 }
[[pin]]
where = "x < 0.01"
[[probe]]
name = "tip"
at = [1, 0.2, 0.2]
"""
VARY = {
    "body.material.E": "1e5..1e7:log10" if common.LONG else "1e5..1e7:log5",
    "time.step": "0.002..0.02:10" if common.LONG else "0.01,0.02",
    "integrator.name": "energy-momentum,backward-euler",
}
DASK = """
import sys, distributed, lilyan
vary = eval(sys.argv[3])
if __name__ == "__main__":
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            lilyan.sweep(sys.argv[1], vary, sys.argv[2], client=client)
"""


def command(*more):
    vary = [word for key, values in VARY.items() for word in ("--vary", f"{key}={values}")]
    return [str(common.BINARY), "sweep", "beam.toml", *vary, *more]


def ends(folder):
    return {path.parent.name: path.stat().st_mtime_ns for path in folder.glob("runs/*/ended.json")}


def by_dask(folder):
    python = os.environ.get("LILYAN_PYTHON", sys.executable)
    if subprocess.run([python, "-c", "import lilyan, distributed"], capture_output=True).returncode:
        common.skip("a Dask cluster of two workers", "no Python with lilyan and distributed; LILYAN_PYTHON names one")
        return
    script = folder / "by_dask.py"
    script.write_text(DASK)
    subprocess.run([python, script, folder / "beam.toml", folder / "dask", repr(VARY)], check=True, capture_output=True)
    same = (folder / "dask/sweep.csv").read_bytes() == (folder / "jobs/sweep.csv").read_bytes()
    check("a Dask cluster of two workers: the same table to the byte", str(same), "True", same)


def by_index(folder, count):
    for number in reversed(range(count)):
        subprocess.run(command("-o", "index", "--index", str(number)), cwd=folder, check=True, capture_output=True)
    same = (folder / "index/sweep.csv").read_bytes() == (folder / "jobs/sweep.csv").read_bytes()
    check("one run at a time: the same table to the byte", str(same), "True", same)


def killed(folder, count):
    driver = subprocess.Popen(command("-o", "killed", "--jobs", "2"), cwd=folder, stdout=subprocess.DEVNULL)
    while len(ends(folder / "killed")) < count // 2:
        time.sleep(0.01)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    before = ends(folder / "killed")
    check("killed in the middle: runs that had ended", f"{len(before)}", f"< {count}", len(before) < count)
    subprocess.run(command("-o", "killed", "--jobs", "2"), cwd=folder, check=True, capture_output=True)
    after = ends(folder / "killed")
    again = sum(after[run] != when for run, when in before.items())
    # Runs that the killed driver had started may end before the new one begins: they are not in `before`.
    check("started again: runs that were done twice", again, 0)
    same = (folder / "killed/sweep.csv").read_bytes() == (folder / "jobs/sweep.csv").read_bytes()
    check("started again: the same table to the byte", str(same), "True", same)


def main():
    folder = Path(tempfile.mkdtemp(prefix="lilyan-sweep-"))
    try:
        (folder / "beam.toml").write_text(SCENE)
        start = time.monotonic()
        subprocess.run(command("-o", "jobs", "--jobs", "2"), cwd=folder, check=True, capture_output=True)
        figure("two processes at a time: time (s)", time.monotonic() - start)
        count = len((folder / "jobs/plan.csv").read_text().splitlines()) - 1
        rows = (folder / "jobs/sweep.csv").read_text().splitlines()[1:]
        finished = sum(",finished," in row for row in rows)
        check("two processes at a time: runs that finished", f"{finished}", f"{count}", finished == count)
        by_index(folder, count)
        by_dask(folder)
        killed(folder, count)
    finally:
        shutil.rmtree(folder)


common.start(main)
