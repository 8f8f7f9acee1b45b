"""Pages, the record of a run, notebooks and the lab."""

import http.client
import json
import re
import urllib.parse

import numpy as np
import pytest
from conftest import RUBBER, box

import lilyan


def swinging(steps=0, **options):
    V, T = box((2.0, 0.5, 0.5), (4, 1, 1))
    sim = lilyan.Simulation(V, T, RUBBER, gravity=(0, -9.81, 0), pins=V[:, 0] < 1e-9, step=0.005, **options)
    if steps:
        sim.run(steps * sim.time_step)
    return sim


def data_of(page):
    """What the script of a page reads."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page.html, re.S).group(1))


def test_a_run_is_recorded():
    sim = swinging(40)
    history = sim.history()
    np.testing.assert_allclose(history["t"], 0.005 * np.arange(41))
    np.testing.assert_allclose(history["total"], history["total"][0], atol=1e-6)
    assert history["kinetic"][-1] > 0


@pytest.mark.parametrize("frames, count", [(0, 0), (10, 11), (1000, 41)])
def test_the_number_of_frames(frames, count):
    sim = swinging()
    sim.run(0.2, frames=frames)
    assert len(sim.history()["t"]) == count


def test_states_are_recorded_by_hand():
    sim = swinging()
    for _ in range(5):
        sim.step(3)
        sim.record()
    np.testing.assert_allclose(sim.history()["t"], 0.015 * np.arange(1, 6))
    sim.record()  # the same state again
    assert len(sim.history()["t"]) == 5


def test_recording_does_not_change_the_motion():
    a, b = swinging(), swinging()
    a.run(0.1), b.step(20)
    np.testing.assert_array_equal(a.q, b.q)


def test_the_replay_holds_the_frames():
    replay = data_of(swinging(20).replay())["replay"]
    assert len(replay["times"]) == 21
    assert replay["fields"][0]["name"] == "von Mises stress"
    assert replay["pinned"]


def test_the_replay_of_a_simulation_without_a_record_shows_it_now():
    replay = data_of(swinging().replay())["replay"]
    assert replay["times"] == [0]


def test_the_plot_holds_the_energies():
    data = data_of(swinging(20).plot())
    assert data["replay"] is None
    names = [series["name"] for series in data["plots"][0]["series"]]
    assert names == ["kinetic", "elastic", "gravity", "total"]


def test_there_is_no_plot_of_nothing():
    with pytest.raises(lilyan.InputError, match="record"):
        swinging().plot()


def test_a_page_is_saved(tmp_path):
    page = swinging(5).replay()
    page.save(tmp_path / "motion.html")
    assert (tmp_path / "motion.html").read_text(encoding="utf-8") == page.html
    assert not re.findall(r'(?:src|href)="', page.html)  # nothing else is needed


def test_titles_are_escaped():
    sim = swinging()
    scene = sim.scene.with_settings({"title": "<img src=x onerror=alert(1)>"})
    page = scene.simulation().replay()
    assert "<img" not in page.html
    assert "<img" not in page._repr_html_()


def test_a_frame_of_its_own_in_the_notebook():
    shown = swinging(3)._repr_html_()
    assert shown.startswith("<iframe") and 'sandbox="allow-scripts"' in shown
    assert shown.count("<") == 2  # the page inside is escaped


def test_results_are_shown(tmp_path):
    result = swinging().scene.with_settings({"time.end": 0.05}).run(tmp_path / "out")
    assert "<iframe" in result._repr_html_()
    assert "Trustworthy" in result.page().html


def notebook(cells, folder):
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(book, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    return book


def test_a_notebook_shows_simulations(tmp_path):
    book = notebook(
        [
            "import lilyan\nsim = lilyan.Scene.load('cantilever').simulation()\nsim.run(0.1)\nsim",
            "sim.plot()",
            "lilyan.Scene.load('cantilever').check().frame()" if _has("pandas") else "1",
        ],
        tmp_path,
    )
    for cell in book.cells[:2]:
        assert "<iframe" in cell.outputs[0]["data"]["text/html"]


def _has(name):
    import importlib.util

    return importlib.util.find_spec(name) is not None


def status(url, path="/"):
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
    connection.request("GET", path)
    return connection.getresponse().status


def test_the_lab_is_served():
    with lilyan.lab("cantilever") as lab:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#token=\w+", lab.url)
        assert status(lab.url) == 200
        assert lab.url in lab._repr_html_()


def test_the_lab_is_served_for_meshes_in_memory():
    with lilyan.lab(swinging().scene) as lab:
        assert status(lab.url) == 200


def test_the_lab_ends():
    lab = lilyan.lab()
    lab.stop()
    for _ in range(100):
        try:
            status(lab.url)
        except OSError:
            return
        import time

        time.sleep(0.05)
    pytest.fail("the server is still there")


def test_a_scene_that_does_not_exist_is_named():
    with pytest.raises(lilyan.InputError, match="no-such-scene"):
        lilyan.lab("no-such-scene")


def test_a_port_that_is_taken_is_named():
    with lilyan.lab() as lab:
        port = urllib.parse.urlsplit(lab.url).port
        with pytest.raises(lilyan.InputError, match=str(port)):
            lilyan.lab(port=port)
