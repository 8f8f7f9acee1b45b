"""Sweeps: the same table whoever does the runs."""

import concurrent.futures
import os

import pytest

import lilyan

BAR = """
title = "bar"
time = { end = 0.02, step = 0.005 }
integrator = "energy-momentum"
[[body]]
name = "bar"
mesh = { box = { size = [2, 1, 1], cells = [2, 1, 1] } }
material = { model = "neo-hookean", E = 1e5, nu = 0.3, rho = 1000 }
initial = { stretch = [1.1, 1, 1] }
[[probe]]
name = "tip"
body = "bar"
at = [2, 0.5, 0.5]
"""

VARY = {"body.material.E": "1e4..1e6:log3", "time.step": [0.005, 0.0025]}


@pytest.fixture
def scene(tmp_path):
    path = tmp_path / "bar.toml"
    path.write_text(BAR)
    return path


def test_every_combination_is_a_row_in_the_order_of_the_plan(scene, tmp_path):
    done = lilyan.sweep(scene, VARY, tmp_path / "out")
    assert [row["values"] for row in done.rows][:3] == [["10000", "0.005"], ["10000", "0.0025"], ["100000", "0.005"]]
    assert done.planned == 6 and not done.unfinished
    assert {row["verdict_level"] for row in done.rows} == {"pass"}
    assert done.report.is_file() and len(list((tmp_path / "out" / "runs").iterdir())) == 6
    # A stiffer bar shrinks further in the same time.
    tips = [row["results"]["tip_x final"] for row in done.rows]
    assert tips[0] > tips[2] > 0


def test_executors_give_the_same_table_to_the_byte(scene, tmp_path):
    first = lilyan.sweep(scene, VARY, tmp_path / "threads", jobs=2)
    with concurrent.futures.ThreadPoolExecutor(1) as executor:
        second = lilyan.sweep(scene, VARY, tmp_path / "one", executor=executor, threads=2)
    assert first.table.read_bytes() == second.table.read_bytes()


def test_what_is_done_is_not_done_again(scene, tmp_path):
    lilyan.sweep(scene, VARY, tmp_path / "out")
    ends = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").glob("runs/*/ended.json")}
    lilyan.sweep(scene, {**VARY, "time.step": [0.005, 0.0025, 0.001]}, tmp_path / "out")
    assert len(list((tmp_path / "out").glob("runs/*/ended.json"))) == 9
    assert all(path.stat().st_mtime_ns == time for path, time in ends.items())


def test_runs_that_fail_are_rows_with_a_reason(scene, tmp_path):
    vary = {"body.material.E": ["1e3", "1e12"]}
    done = lilyan.sweep(scene, vary, tmp_path / "out", set={"integrator": "verlet", "time.end": 1.0})
    assert [row["state"] for row in done.rows] == ["finished", "failed"]
    assert "step" in done.unfinished[0]["reason"]


def test_mistakes_raise_before_anything_runs(scene, tmp_path):
    with pytest.raises(lilyan.InputError, match="stepp"):
        lilyan.sweep(scene, {"time.stepp": [1, 2]}, tmp_path / "out")
    with pytest.raises(lilyan.InputError, match="how many"):
        lilyan.sweep(scene, {"time.step": "1..2"}, tmp_path / "out")
    assert not (tmp_path / "out" / "runs").exists()


def test_a_dask_cluster_gives_the_same_table(scene, tmp_path):
    distributed = pytest.importorskip("distributed")
    here = lilyan.sweep(scene, VARY, tmp_path / "here")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        with distributed.Client(cluster) as client:
            there = lilyan.sweep(scene, VARY, tmp_path / "there", client=client)
    assert here.table.read_bytes() == there.table.read_bytes()
    assert os.path.isfile(there.report)
