"""Results as dataclasses and frames, the manual and the type stubs."""

import dataclasses
import importlib.util
import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest
from conftest import RUBBER

import lilyan

CUBE = {
    "title": "Cube",
    "time": {"end": 0.1, "step": 0.01},
    "environment": {"gravity": [0, -9.81, 0]},
    "integrator": {"name": "energy-momentum"},
    "body": [{"name": "cube", "mesh": {"box": {"size": [1, 1, 1], "cells": [2, 2, 2]}}, "material": RUBBER}],
    "pin": [{"body": "cube", "where": {"box": {"min": [-1, -1, -1], "max": [0.01, 2, 2]}}}],
    "probe": [{"name": "tip", "body": "cube", "at": [1, 0.5, 0.5]}],
}


@pytest.fixture(scope="module")
def reports():
    scene = lilyan.Scene(CUBE)
    return {
        "check": scene.check(),
        "rest": scene.rest()[0],
        "compare": scene.compare("variational,energy-momentum", [0.01, 0.005], budget=5),
        "converge": scene.converge(0.1, budget=30),
        "coarsen": scene.with_settings({"body.0.mesh.box.cells": [6, 6, 6]}).coarsen(tets=48, method="homogenize")[1],
    }


KINDS = ["check", "rest", "compare", "converge", "coarsen"]


@pytest.mark.parametrize("kind", KINDS)
def test_reports_are_dataclasses(reports, kind):
    report = reports[kind]
    assert dataclasses.is_dataclass(report)
    assert report.title == "Cube"
    with pytest.raises(dataclasses.FrozenInstanceError):
        report.title = "other"


@pytest.mark.parametrize("kind", KINDS)
def test_fields_are_keys_of_the_data(reports, kind):
    report = reports[kind]
    optional = {"spectrum", "mesh", "cheapest", "set", "stable", "lowest_hz", "von_mises"}
    for field in dataclasses.fields(report):
        if field.name != "data" and field.name not in optional:
            assert field.name in report.data, field.name
    assert report["title"] == "Cube"
    assert set(report.to_dict()) == set(report.data)


@pytest.mark.parametrize("kind", KINDS)
def test_reports_become_frames(reports, kind):
    pandas = pytest.importorskip("pandas")
    frame = reports[kind].frame()
    assert isinstance(frame, pandas.DataFrame)
    assert len(frame) >= 1


@pytest.mark.parametrize("kind", KINDS)
def test_reports_are_pickled(reports, kind):
    assert pickle.loads(pickle.dumps(reports[kind])) == reports[kind]


def test_unknown_attributes_are_named(reports):
    with pytest.raises(AttributeError, match="there are"):
        reports["check"].nothing


def test_check_tells_of_bodies(reports):
    assert reports["check"].bodies[0].elements == 48
    assert reports["check"].spectrum.lowest[0].hz > 0
    assert reports["check"].spectrum.highest_hz > reports["check"].spectrum.lowest[0].hz


def test_rest_carries_the_weight(reports):
    np.testing.assert_allclose(reports["rest"].pin_forces[0], [0, 9810, 0], atol=1)


def test_compare_has_a_row_for_each_run(reports):
    assert len(reports["compare"].rows) == 4


def test_converge_tells_a_setting(reports):
    report = reports["converge"]
    assert report.accuracy == 0.1
    assert len(report.runs) >= 2
    if report.cheapest is not None:
        lilyan.Scene(CUBE).with_settings(dict(text.split("=", 1) for text in report.set))


def test_converge_refuses_what_makes_no_sense():
    with pytest.raises(lilyan.InputError, match="positive"):
        lilyan.Scene(CUBE).converge(-1)
    with pytest.raises(lilyan.InputError, match="probe"):
        lilyan.Scene({**CUBE, "probe": []}).converge()
    with pytest.raises(lilyan.InputError, match="tpi"):
        lilyan.Scene(CUBE).converge(probes=["tpi"])


def test_studies_stop_where_progress_raises():
    def progress(done, of):
        raise KeyboardInterrupt

    for study in ("compare", "converge"):
        with pytest.raises(KeyboardInterrupt):
            getattr(lilyan.Scene(CUBE), study)(progress=progress)


def test_set_and_with_settings_agree():
    scene = lilyan.Scene(CUBE)
    assert scene.set(time__step=0.005) == scene.with_settings({"time.step": 0.005}) != scene
    assert scene["time"]["step"] == 0.01


def test_the_manual_can_be_read():
    text = inspect.getdoc(lilyan)
    for word in ["Scene", "Simulation", "InputError", "StepError", "external_forces", "move_pins", "change", "pyvista"]:
        assert word in text
    assert max(len(line) for line in text.splitlines()) <= 150


def test_every_public_thing_has_a_docstring():
    missing = []
    for name in lilyan.__all__:
        thing = getattr(lilyan, name)
        if isinstance(thing, type):
            members = [(f"{name}.{key}", value) for key, value in vars(thing).items() if not key.startswith("_")]
            missing += [where for where, value in members if (callable(value) or isinstance(value, property)) and not (value.__doc__ or "").strip()]
        if callable(thing) and not (thing.__doc__ or "").strip():
            missing.append(name)
    assert not missing


@pytest.mark.skipif(importlib.util.find_spec("mypy") is None, reason="mypy is not installed")
class TestTypes:
    # stubtest knows --ignore-disjoint-bases from mypy 1.18 on.

    def run(self, folder, *command):
        # Beside the package lie modules that mypy takes for the user's own.
        return subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, cwd=folder)

    def test_the_package_has_the_types_that_it_says(self, tmp_path):
        found = self.run(tmp_path, "mypy", "--ignore-missing-imports", "-p", "lilyan")
        assert found.returncode == 0, found.stdout

    def test_the_stub_fits_the_extension(self, tmp_path):
        settings = tmp_path / "mypy.ini"
        settings.write_text("[mypy]\nignore_missing_imports = True\n")
        found = self.run(tmp_path, "mypy.stubtest", "lilyan._lilyan", "--ignore-positional-only", "--ignore-disjoint-bases", "--mypy-config-file", str(settings))
        assert found.returncode == 0, found.stdout
