"""Shared by the checks: scenes in, results out, one table line per comparison.

A check is a file with a docstring and a function `main()`; it ends with `common.start(main)`. It can be
run alone: `verify/.venv/bin/python verify/NAME.py [--long]`, with the binary in LILYAN.
"""

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import traceback
from dataclasses import dataclass
from pathlib import Path

NAME = Path(sys.argv[0]).stem
LONG = "--long" in sys.argv
REPOSITORY = Path(__file__).resolve().parent.parent
BINARY = Path(os.environ.get("LILYAN", REPOSITORY / "target/debug/lilyan"))


# ── The table ────────────────────────────────────────────────────────────────

_failed = False


def line(what, measured, allowed, verdict):
    print(f"{NAME:<17}  {what:<78}  {measured:>12}  {allowed:>13}  {verdict}", flush=True)


def _text(value):
    return value if isinstance(value, str) else f"{value:.4g}"


def check(what, measured, allowed, ok=None):
    """One comparison: passes if |measured| ≤ allowed, or as `ok` says. NaN fails."""
    global _failed
    if ok is None:
        ok = abs(measured) <= allowed
        allowed = "≤ " + _text(allowed)
    _failed |= not ok
    line(what, _text(measured), _text(allowed), "PASS" if ok else "FAIL")


def figure(what, measured):
    """A figure for the record, neither right nor wrong."""
    line(what, _text(measured), "", "")


def skip(what, reason):
    line(what, "", "", f"SKIP ({reason})")


class Skip(Exception):
    """Ends a check that cannot be done here."""


def need(module):
    """Imports a package, or skips the check."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise Skip(f"Python package {module.split('.')[0]}: {error}") from None


def start(main):
    """Runs a check. Exit status 1: something failed."""
    what = (sys.modules["__main__"].__doc__ or "").strip().split("\n")[0].rstrip(".")[:78]
    try:
        main()
    except Skip as reason:
        skip(what, str(reason))
    except Exception as error:  # noqa: BLE001: whatever it is, the table must say it
        traceback.print_exc()
        line(what, "", "", f"FAIL ({type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''})")
        sys.exit(1)
    sys.exit(_failed)


try:
    import numpy as np
except ImportError as error:
    skip("all of it", f"Python package numpy: {error}")
    sys.exit(0)


# ── Running lilyan ───────────────────────────────────────────────────────────

# Every frame is synced to the disk; in memory that costs nothing.
_memory = "/dev/shm"
_in = _memory if os.access(_memory, os.W_OK) and shutil.disk_usage(_memory).free > 2**30 else None
_scratch = tempfile.TemporaryDirectory(prefix="lilyan-verify-", dir=_in)
_count = 0


def folder():
    """A new empty folder, gone when the check ends."""
    global _count
    _count += 1
    path = Path(_scratch.name) / str(_count)
    path.mkdir()
    return path


def lilyan(*arguments, may_stop=False):
    """Runs the program. Status 2 (could not go on) is an answer only if `may_stop`."""
    done = subprocess.run([BINARY, *map(str, arguments)], capture_output=True, text=True)
    if done.returncode not in ([0, 2] if may_stop else [0]):
        raise RuntimeError(f"lilyan {' '.join(map(str, arguments))}: {done.stderr.strip()}")
    return done


def _scene(scene, directory):
    """A scene by name or path, or as a structure (written as JSON)."""
    if isinstance(scene, dict):
        path = directory / "scene.json"
        path.write_text(json.dumps(scene))
        return path
    return scene


def _settings(settings):
    # "__" stands for the dot, as in time__step=0.01.
    return [a for key, value in settings.items() for a in ("--set", f"{key.replace('__', '.')}={value}")]


@dataclass
class Run:
    folder: Path
    code: int
    message: str

    @property
    def summary(self):
        return json.loads((self.folder / "summary.json").read_text())

    @property
    def energy(self):
        return read_csv(self.folder / "energy.csv")

    @property
    def probes(self):
        return read_csv(self.folder / "probes.csv")

    def frame_paths(self):
        return sorted((self.folder / "frames").glob("*.vtu"))

    def frame(self, k):
        return read_vtu(self.frame_paths()[k])


def run(scene, *arguments, may_stop=False, **settings):
    directory = folder()
    done = lilyan("run", _scene(scene, directory), "-o", directory / "out", "--json", *arguments,
                  *_settings(settings), may_stop=may_stop)
    return Run(directory / "out", done.returncode, done.stderr)


def diagnose(scene, *arguments, **settings):
    """`lilyan check --json`."""
    path = _scene(scene, folder())
    return json.loads(lilyan("check", path, "--json", *arguments, *_settings(settings)).stdout)


@dataclass
class Modes:
    eigenvalues: np.ndarray
    frequencies: np.ndarray
    shapes: list
    K: object  # SciPy, all unknowns; None without matrices
    M: object
    free: np.ndarray  # mask of unknowns that are not held


def modes(scene, count=10, matrices=False, at=None, shapes=False, **settings):
    """`lilyan modes`."""
    directory = folder()
    arguments = ["-n", count, "--json", *_settings(settings)]
    if at is not None:
        arguments += ["--at", at]
    if matrices or shapes:
        arguments += ["-o", directory / "out"]
    if matrices:
        arguments.append("--matrices")
    answer = json.loads(lilyan("modes", _scene(scene, directory), *arguments).stdout)
    found = Modes(np.array(answer["eigenvalues"]), np.array(answer["frequencies_hz"]), [], None, None, None)
    if shapes:
        paths = sorted((directory / "out").glob("mode_*.vtu"))
        found.shapes = [read_vtu(p).point["shape"] for p in paths]
    if matrices:
        found.K, found.M = (read_matrix(directory / "out" / name) for name in ("K.mtx", "M.mtx"))
        found.free = np.loadtxt(directory / "out/held.txt") == 0
    return found


@dataclass
class Rest:
    report: dict
    frame: object


def rest(scene, **settings):
    """`lilyan rest`."""
    directory = folder()
    done = lilyan("rest", _scene(scene, directory), "-o", directory / "out", "--json", *_settings(settings))
    return Rest(json.loads(done.stdout), read_vtu(directory / "out/rest.vtu"))


# ── Scenes ───────────────────────────────────────────────────────────────────


def one_body(mesh, material, *, step=1.0, end=None, integrator="verlet", options=None, fields=(), **keys):
    """The structure of a scene of one body called "body"; keys that it has none for go to the body."""
    top = {k: keys.pop(k) for k in ("pin", "load", "environment", "probe") if k in keys}
    every = keys.pop("every", end if end is not None else step)
    return {
        "title": NAME,
        "time": {"end": end if end is not None else step, "step": step},
        "integrator": {"name": integrator, **(options or {})},
        "body": [{"name": "body", "mesh": mesh, "material": material, **keys}],
        "output": {"every": every, "fields": list(fields)},
        **top,
    }


def impose(mesh, material, displacement, fields=("force", "displacement")):
    """The frame of a body with every vertex displaced as given: each is led there by a pin of its own."""
    pins = [{"body": "body", "where": {"vertices": [i]}, "motion": [f"({float(c)!r})*t" for c in u]}
            for i, u in enumerate(displacement)]
    result = run(one_body(mesh, material, fields=fields, pin=pins))
    return result.frame(-1), result


def box(size, cells):
    return {"box": {"size": list(size), "cells": list(cells)}}


def tets_of(mesh, material=None):
    """Vertices and tets of a mesh at rest, as lilyan reads or makes it."""
    material = material or {"model": "linear", "E": 1e6, "nu": 0.3, "rho": 1000}
    return run(one_body(mesh, material, step=1e-9)).frame(0)


def public_mesh(name):
    """A mesh of the public set, or None: in LILYAN_MESHES, or shared/data/meshes beside or above the repository."""
    if "LILYAN_MESHES" in os.environ:
        places = [Path(os.environ["LILYAN_MESHES"])]
    else:
        places = [p / "shared/data/meshes" for p in REPOSITORY.parents]
    for place in places:
        if (place / name).is_file():
            return {"file": str(place / name)}
    return None


def constants(E, nu):
    """Lamé's λ and μ, and the bulk modulus."""
    return E * nu / ((1 + nu) * (1 - 2 * nu)), E / (2 * (1 + nu)), E / (3 * (1 - 2 * nu))


# ── Reading results ──────────────────────────────────────────────────────────


@dataclass
class Frame:
    time: float
    points: np.ndarray
    tets: np.ndarray
    point: dict
    cell: dict


_types = {"Float64": "<f8", "Int32": "<i4", "Int64": "<i8", "UInt8": "u1"}


def read_vtu(path):
    """A frame: VTU with raw appended data, 64-bit headers."""
    data = Path(path).read_bytes()
    head, raw = data.split(b'<AppendedData encoding="raw">', 1)
    raw = memoryview(raw)[raw.index(b"_") + 1:]
    head = head.decode()
    if 'header_type="UInt64"' not in head or 'byte_order="LittleEndian"' not in head:
        raise ValueError(f"{path}: unexpected VTU header")
    arrays = {"Points": {}, "Cells": {}, "PointData": {}, "CellData": {}, "FieldData": {}}
    section = None
    for tag in re.finditer(r"<(/?)(\w+)([^>]*)>", head):
        closing, name, attributes = tag.groups()
        if name in arrays:
            section = None if closing else name
        elif name == "DataArray" and section:
            a = dict(re.findall(r'(\w+)="([^"]*)"', attributes))
            at = int(a["offset"])
            size = int.from_bytes(raw[at:at + 8], "little")
            values = np.frombuffer(raw[at + 8:at + 8 + size], _types[a["type"]])
            if int(a.get("NumberOfComponents", 1)) > 1:
                values = values.reshape(-1, int(a["NumberOfComponents"]))
            arrays[section][a["Name"]] = values
    cells = arrays["Cells"]
    corners = {10: 4, 24: 10}.get(int(cells["types"][0]))
    if corners is None or not (cells["types"] == cells["types"][0]).all():
        raise ValueError(f"{path}: not only tets of one kind")
    time = arrays["FieldData"].get("TimeValue", [np.nan])[0]
    return Frame(float(time), arrays["Points"]["Points"], cells["connectivity"].reshape(-1, corners),
                 arrays["PointData"], arrays["CellData"])


def read_csv(path):
    """Columns by name."""
    with open(path) as file:
        names = file.readline().strip().split(",")
        table = np.loadtxt(file, delimiter=",", ndmin=2)
    return dict(zip(names, table.T))


def read_matrix(path):
    need("scipy")
    from scipy.io import mmread
    return mmread(path).tocsr()


# ── Measuring ────────────────────────────────────────────────────────────────


def off(a, b):
    """Largest difference, relative to the largest of b."""
    a, b = np.asarray(a), np.asarray(b)
    return float(np.abs(a - b).max() / np.abs(b).max())


def at_rest(frame):
    """Rest positions of a frame that has displacements."""
    return frame.points - frame.point["displacement"]
