import doctest
import importlib
import pickle

import numpy as np
import pytest
from conftest import RUBBER, box

import lilyan
from lilyan.meshes import Mesh

CUBE = {
    "time": {"end": 0.1, "step": 0.01},
    "environment": {"gravity": [0, -9.81, 0]},
    "body": [{"name": "cube", "mesh": {"box": {"size": [1, 1, 1], "cells": [2, 2, 2]}}, "material": RUBBER}],
    "pin": [{"body": "cube", "where": {"box": {"min": [-1, -1, -1], "max": [0.01, 2, 2]}}}],
    "probe": [{"body": "cube", "at": [1, 0.5, 0.5]}],
}


@pytest.mark.parametrize("module", ["lilyan.scene", "lilyan.simulation", "lilyan.results", "lilyan.meshes", "lilyan.material", "lilyan.notebook"])
def test_examples_in_docstrings(module):
    result = doctest.testmod(importlib.import_module(module))
    assert result.failed == 0


@pytest.mark.parametrize("name", ["tumbling-rod", "cantilever", "pendulum", "swinging-cube"])
def test_built_in_scenes(name):
    assert name in lilyan.scenes()
    sim = lilyan.Scene.load(name).simulation()
    sim.step(2)
    assert np.isfinite(sim.q).all()


def test_catalogues():
    assert "energy-momentum" in dict(lilyan.integrators())
    assert "neo-hookean" in dict(lilyan.materials())


def test_settings():
    scene = lilyan.Scene.load("cantilever", set={"time.step": 0.02, "integrator.name": "newmark"})
    assert scene["time"]["step"] == 0.02
    assert scene["integrator"]["name"] == "newmark"


def test_dict_text_and_file_agree(tmp_path):
    scene = lilyan.Scene(CUBE)
    again = lilyan.Scene(scene.to_toml(), origin="scene.toml")
    path = tmp_path / "cube.toml"
    path.write_text(scene.to_toml())
    third = lilyan.Scene.load(path)
    assert scene == again == third
    ends = []
    for s in (scene, again, third):
        sim = s.simulation()
        sim.step(5)
        ends.append(sim.q.copy())
    np.testing.assert_array_equal(ends[0], ends[1])
    np.testing.assert_array_equal(ends[0], ends[2])


def with_mesh(mesh):
    return {**CUBE, "body": [{**CUBE["body"][0], "mesh": mesh}]}


V, T = box()


@pytest.mark.parametrize(
    "mesh",
    [
        (V, T),
        [V, T],
        {"V": V, "T": T},
        Mesh(V, T),
        {"file": (V, T)},
        (V.tolist(), T.tolist()),
        (V.astype(np.float32), T.astype(np.int32)),
        (np.asfortranarray(V), np.asfortranarray(T)),
        (V, T.astype(np.uint64)),
    ],
    ids=["pair", "list", "dict", "Mesh", "file", "lists", "single", "fortran", "unsigned"],
)
def test_meshes_in_memory(mesh):
    sim = lilyan.Scene(with_mesh(mesh)).simulation()
    sim.step(3)
    assert sim.q.shape == V.shape


def test_a_mesh_in_memory_is_placed():
    sim = lilyan.Scene({**with_mesh({"file": (V, T), "translate": [0, 5, 0]}), "pin": [], "probe": []}).simulation()
    np.testing.assert_allclose(sim.rest, V + [0, 5, 0])


def test_data_of_a_mesh_in_memory():
    stiffness = np.linspace(1e5, 2e5, len(T))
    scene = with_mesh({"V": V, "T": T, "cell_data": {"stiffness": stiffness}})
    scene["body"][0]["material"] = {"E": {"cell_data": "stiffness"}, "nu": 0.3, "rho": 1000}
    soft = lilyan.Scene(with_mesh((V, T))).modes(1).frequencies[0]
    assert lilyan.Scene(scene).modes(1).frequencies[0] > 1.05 * soft


@pytest.mark.parametrize(
    "mesh, message",
    [
        ((V[:, :2], T), "shape"),
        ((V, T[:, :2]), "shape"),
        ((V, T + 1), "vertex"),
        ((V, T - 1), "count from 0"),
        ((V, T.astype(float)), "whole numbers"),
        ((V.ravel(), T), "shape"),
        ((V, T[:0]), "no elements"),
        ((np.where(V == 1, np.nan, V), T), "finite"),
        ({"V": V}, '"T"'),
        ({"V": V, "T": T, "color": 3}, "mesh in memory"),
        ({"V": V, "T": T, "cell_data": {"E": [1.0]}}, "E"),
        (17, "pair"),
        ((V, [["a", "b", "c", "d"]]), "tets"),
    ],
)
def test_wrong_meshes_are_refused(mesh, message):
    with pytest.raises(lilyan.InputError, match=message):
        lilyan.Scene(with_mesh(mesh)).simulation()


@pytest.mark.parametrize(
    "change, message",
    [
        ({"tiem": {}}, "time"),
        ({"time": {"end": 1, "step": -1}}, "step"),
        ({"integrator": {"name": "verlett"}}, "verlet"),
        ({"body": []}, "body"),
        ({"time": None}, "null"),
        ({"time": {"end": 1, "step": float("nan")}}, "step|number|JSON"),
        ({"time": {"end": 1, "step": object()}}, "no scene file can hold"),
    ],
)
def test_wrong_scenes_are_refused(change, message):
    with pytest.raises(lilyan.InputError, match=message):
        lilyan.Scene({**CUBE, **change}).simulation()


def test_input_errors_are_value_errors():
    with pytest.raises(ValueError):
        lilyan.Scene.load("no-such-scene")
    assert issubclass(lilyan.StepError, RuntimeError)


def test_pickled_scenes():
    scene = lilyan.Scene(with_mesh((V, T)))
    again = pickle.loads(pickle.dumps(scene))
    assert again == scene
    a, b = scene.simulation(), again.simulation()
    a.step(3), b.step(3)
    np.testing.assert_array_equal(a.q, b.q)


def test_check():
    report = lilyan.Scene(CUBE).check()
    assert isinstance(report, lilyan.CheckReport)
    assert isinstance(report.warnings, list)
    with pytest.raises(AttributeError, match="there are"):
        report.nothing


def test_modes_of_a_free_cube():
    modes = lilyan.Scene({**CUBE, "pin": [], "environment": {}}).modes(8)
    np.testing.assert_array_equal(modes.frequencies[:6], 0)
    assert modes.frequencies[6] > 0
    assert modes.shapes.shape == (8, 27, 3)
    # Of unit modal mass with the masses of the nodes.
    masses = lilyan.Scene(CUBE).simulation().masses
    np.testing.assert_allclose(np.einsum("n,knx,lnx->kl", masses, modes.shapes, modes.shapes), np.eye(8), atol=1e-6)


def test_rest_is_at_rest():
    report, sim = lilyan.Scene(CUBE).rest()
    assert report.largest_displacement > 0
    before = sim.q.copy()
    sim.step(20)
    np.testing.assert_allclose(sim.q, before, atol=1e-7)


def test_run(tmp_path):
    told = []
    result = lilyan.Scene({**CUBE, "integrator": {"name": "energy-momentum"}}).run(tmp_path / "out", progress=lambda done, of: told.append((done, of)))
    assert told[-1] == (10, 10)
    assert result.trustworthy and result.level == "pass"
    assert result.summary.steps == 10
    assert result.report.is_file()
    energy = result.energy()
    assert len(energy["t"]) == 11
    np.testing.assert_allclose(energy["total"], energy["total"][0], rtol=1e-9)
    assert "t" in result.probes()


def test_run_that_fails(tmp_path):
    scene = lilyan.Scene(
        CUBE, set={"integrator": '{name = "verlet"}', "time.step": 0.5, "time.end": 500, "body.0.initial.stretch": [1.2, 1, 1]}
    )
    with pytest.raises(lilyan.StepError, match="report"):
        scene.run(tmp_path / "out")
    assert (tmp_path / "out" / "report.html").is_file()


def test_run_stops_where_progress_raises(tmp_path):
    def progress(done, of):
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lilyan.Scene(CUBE).run(tmp_path / "out", progress=progress)
    result = lilyan.Scene(CUBE).run(tmp_path / "out", resume=True)
    assert result.summary.steps == 10


def test_compare():
    scene = lilyan.Scene(CUBE)
    report = scene.compare("variational,energy-momentum", [0.01, 0.005], budget=5)
    assert isinstance(report, lilyan.CompareReport)
    assert len(report.to_dict()) > 3


def test_coarsen():
    coarse, report = lilyan.Scene(CUBE, set={"body.0.mesh.box.cells": [6, 6, 6]}).coarsen(tets=48, method="homogenize")
    assert isinstance(report, lilyan.CoarsenReport)
    again = pickle.loads(pickle.dumps(coarse))
    a, b = coarse.simulation(), again.simulation()
    assert len(a.q) < 100
    a.step(3), b.step(3)
    np.testing.assert_array_equal(a.q, b.q)


def test_frames_for_pandas(tmp_path):
    pandas = pytest.importorskip("pandas")
    scene = lilyan.Scene(CUBE)
    assert isinstance(scene.check().frame(), pandas.DataFrame)
    assert list(scene.modes(3).frame()["mode"]) == [1, 2, 3]
    assert len(scene.run(tmp_path / "out").frame()) == 11


def test_several_bodies():
    scene = with_mesh((V, T))
    scene["body"].append({"name": "second", "mesh": {"file": (V, T), "translate": [0, 3, 0]}, "material": RUBBER})
    sim = lilyan.Scene(scene).simulation()
    assert sim.bodies == {"cube": slice(0, 27), "second": slice(27, 54)}
    np.testing.assert_allclose(sim.rest[sim.bodies["second"]], V + [0, 3, 0])


def test_probes():
    sim = lilyan.Scene(CUBE).simulation()
    (place,) = sim.probes().values()
    np.testing.assert_allclose(place, [1, 0.5, 0.5])
