"""Meshes and surfaces in arrays, and objects of other libraries, in and out."""

import pickle

import numpy as np
import pytest
from conftest import RUBBER, box

import lilyan
from lilyan.meshes import Mesh, Surface, mesh_of

V, T = box()
#: Edges of a tet with ten nodes in the order of VTK.
EDGES = [(0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)]


def scene(mesh, **body):
    return lilyan.Scene({"time": {"end": 0.1, "step": 0.01}, "body": [{"name": "body", "mesh": mesh, "material": RUBBER, **body}]})


def surface(V, T):
    """The outer triangles of tets."""
    faces = np.concatenate([T[:, [1, 2, 3]], T[:, [0, 3, 2]], T[:, [0, 1, 3]], T[:, [0, 2, 1]]])
    key = np.sort(faces, axis=1)
    _, first, count = np.unique(key, axis=0, return_index=True, return_counts=True)
    outer = faces[first[count == 1]]
    volume = np.einsum("ij,ij->", V[outer[:, 0]], np.cross(V[outer[:, 1]], V[outer[:, 2]])) / 6
    return outer if volume > 0 else outer[:, ::-1]


def quadratic(V, T, bulge=0.0):
    """Tets with ten nodes; the middle of each edge is moved out along x (1 − x) by ``bulge``."""
    points, cells, numbers = [*map(np.array, V)], [], {}
    for tet in T:
        row = list(tet)
        for i, j in EDGES:
            key = tuple(sorted((tet[i], tet[j])))
            if key not in numbers:
                numbers[key] = len(points)
                middle = (V[tet[i]] + V[tet[j]]) / 2
                points.append(middle + bulge * np.array([0, 0, middle[0] * (1 - middle[0]) * (middle[2] == 1)]))
            row.append(numbers[key])
        cells.append(row)
    return np.array(points), np.array(cells)


# Tets with ten nodes


def test_quadratic_tets_are_kept():
    V10, T10 = quadratic(V, T)
    sim = scene((V10, T10)).simulation()
    assert list(sim.cells) == ["quadratic tet"]
    assert sim.q.shape == V10.shape
    assert sim.masses.sum() == pytest.approx(1000)


def test_quadratic_tets_in_another_order_of_nodes():
    V10, T10 = quadratic(V, T)
    order = np.random.default_rng(0).permutation(len(V10))
    back = np.argsort(order)
    modes = [scene(mesh).modes(8).frequencies for mesh in ((V10, T10), (V10[order], back[T10]))]
    np.testing.assert_allclose(modes[0], modes[1], rtol=1e-8, atol=1e-6)


def test_curved_edges_change_the_volume():
    straight = scene(quadratic(V, T)).simulation().masses.sum()
    curved = scene(quadratic(V, T, 0.2)).simulation().masses.sum()
    assert curved > straight + 10


def test_quadratic_tets_can_be_made_linear():
    sim = scene(quadratic(V, T), element="tets").simulation()
    assert list(sim.cells) == ["tet"]
    assert len(sim.q) == len(V)


def test_quadratic_tets_are_pickled():
    one = scene(quadratic(V, T, 0.1))
    two = pickle.loads(pickle.dumps(one))
    np.testing.assert_allclose(one.modes(7).frequencies[6], two.modes(7).frequencies[6], rtol=1e-9)


@pytest.mark.parametrize("columns", [2, 5, 9, 11])
def test_other_numbers_of_nodes_are_refused(columns):
    with pytest.raises(lilyan.InputError, match="shape"):
        scene((V, np.zeros((4, columns), int)))


def test_nodes_that_do_not_exist_are_refused():
    V10, T10 = quadratic(V, T)
    T10[0, 7] = len(V10)
    with pytest.raises(lilyan.InputError, match="no vertex"):
        scene((V10, T10))


# Surfaces


@pytest.mark.parametrize("as_mesh", [lambda V, F: (V, F), lambda V, F: {"V": V, "F": F}, Surface], ids=["pair", "dict", "Surface"])
def test_a_surface_is_filled(as_mesh):
    sim = scene({"file": as_mesh(V, surface(V, T)), "tets": 300}).simulation()
    assert 100 < len(sim.cells["tet"]) < 900
    assert sim.masses.sum() == pytest.approx(1000, rel=0.05)


def test_a_surface_is_a_membrane():
    sheet = np.array([[0, 0, 0], [1, 0, 0], [1, 0, 1], [0, 0, 1.0]])
    cloth = scene({"file": (sheet, [[0, 2, 1], [0, 3, 2]]), "thickness": 0.01}, element="membrane")
    sim = cloth.simulation()
    assert list(sim.cells) == ["triangle"]
    assert sim.masses.sum() == pytest.approx(10)


def test_a_surface_is_an_obstacle():
    floor = np.array([[-5, 0, -5], [5, 0, -5], [5, 0, 5], [-5, 0, 5.0]])
    sim = lilyan.Simulation(
        V + [0, 0.02, 0], T, RUBBER, gravity=(0, -9.81, 0), step=0.005, integrator="backward-euler",
        contacts=[{"kind": "mesh", "model": "barrier", "mesh": (floor, [[0, 2, 1], [0, 3, 2]])}],
    )  # fmt: skip
    sim.step(60)
    assert sim.q[:, 1].min() > 0
    assert sim.q[:, 1].min() < 0.02
    again = pickle.loads(pickle.dumps(sim))
    sim.step(2), again.step(2)
    np.testing.assert_array_equal(sim.q, again.q)


@pytest.mark.parametrize(
    "mesh, message",
    [
        (([[0, 0], [1, 0], [0, 1]], [[0, 1, 2]]), "shape"),
        (([[0, 0, 0], [1, 0, 0], [0, 1, 0.0]], [[0, 1, 3]]), "vertex"),
        (([[0, 0, 0], [1, 0, 0], [0, 1, 0.0]], [[0, 1, -1]]), "count from 0"),
        (([[0, 0, 0], [1, 0, 0], [0, np.nan, 0.0]], [[0, 1, 2]]), "finite"),
        (([[0, 0, 0], [1, 0, 0], [0, 1, 0.0]], [[0, 1, 2.5]]), "whole numbers"),
    ],
)
def test_wrong_surfaces_are_refused(mesh, message):
    with pytest.raises(lilyan.InputError, match=message):
        scene({"file": mesh, "tets": 10}).simulation()


def test_tets_are_asked_for_where_there_is_a_surface():
    with pytest.raises(lilyan.InputError, match="surface"):
        Mesh.of((V, surface(V, T)))


# Scenes with meshes in memory as files


def test_a_saved_scene_moves_the_same(tmp_path):
    stiffness = np.linspace(1e5, 2e5, len(T))
    tags = (V[T].mean(axis=1)[:, 0] > 0.5).astype(int)
    material = {"model": "neo-hookean", "E": {"cell_data": "stiffness"}, "nu": 0.3, "rho": 1000, "regions": [{"where": {"tag": 1}, "rho": 2000}]}
    one = lilyan.Scene({
        "time": {"end": 0.1, "step": 0.01}, "environment": {"gravity": [0, -9.81, 0]},
        "body": [{"name": "body", "mesh": {"V": V, "T": T, "tags": tags, "cell_data": {"stiffness": stiffness}}, "material": material}],
        "pin": [{"body": "body", "where": {"vertices": [0, 1, 2]}}],
    })  # fmt: skip
    two = lilyan.Scene.load(one.save(tmp_path / "saved.toml"))
    a, b = one.simulation(), two.simulation()
    assert a.masses.sum() == pytest.approx(1500)
    a.step(5), b.step(5)
    np.testing.assert_allclose(a.q, b.q, atol=1e-12)


def test_a_saved_surface_is_read_again(tmp_path):
    one = scene({"file": (V, surface(V, T)), "tets": 200})
    two = lilyan.Scene.load(one.save(tmp_path / "saved.toml"))
    np.testing.assert_allclose(one.simulation().rest, two.simulation().rest, atol=1e-12)


def test_a_saved_scene_ends_in_toml(tmp_path):
    with pytest.raises(lilyan.InputError, match=".toml"):
        scene((V, T)).save(tmp_path / "scene.json")


def test_a_built_in_scene_is_saved_with_its_mesh(tmp_path):
    path = lilyan.Scene.load("spot-landing").save(tmp_path / "cow.toml")
    sim = lilyan.Scene.load(path).simulation()
    assert len(sim.q) > 1000


def test_a_folder_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(lilyan.InputError, match="nowhere"):
        scene((V, T)).save(tmp_path / "nowhere" / "scene.toml")


# Objects of other libraries


def test_meshio_in():
    meshio = pytest.importorskip("meshio")
    E = np.linspace(1e5, 2e5, len(T))
    given = meshio.Mesh(V, [("triangle", surface(V, T)), ("tetra", T)], cell_data={"E": [np.zeros(len(surface(V, T))), E]})
    mesh = mesh_of(given)
    np.testing.assert_array_equal(mesh.T, T)
    np.testing.assert_array_equal(mesh.cell_data["E"], E)
    assert isinstance(mesh_of(meshio.Mesh(V, [("triangle", surface(V, T))])), Surface)


def test_meshio_in_with_ten_nodes():
    meshio = pytest.importorskip("meshio")
    V10, T10 = quadratic(V, T, 0.1)
    sim = scene(meshio.Mesh(V10, [("tetra10", T10)])).simulation()
    assert list(sim.cells) == ["quadratic tet"]


def test_meshio_in_without_tets():
    meshio = pytest.importorskip("meshio")
    with pytest.raises(lilyan.InputError, match="hexahedron"):
        mesh_of(meshio.Mesh(np.zeros((8, 3)), [("hexahedron", np.arange(8)[None])]))


@pytest.mark.parametrize("extension", [".vtu", ".msh", ".inp"])
def test_meshio_out(tmp_path, extension):
    meshio = pytest.importorskip("meshio")
    sim = scene((V, T)).simulation()
    sim.q[:, 0] *= 1.05
    sim.step(2)
    mesh = sim.to_meshio()
    np.testing.assert_array_equal(mesh.points, sim.q)
    np.testing.assert_allclose(mesh.cell_data["von_mises"][0], sim.von_mises())
    path = tmp_path / f"shape{extension}"
    if extension == ".vtu":
        mesh.write(path)
    else:
        meshio.Mesh(mesh.points, mesh.cells).write(path, file_format="gmsh22" if extension == ".msh" else "abaqus")
    np.testing.assert_allclose(meshio.read(path).points, sim.q, rtol=1e-12)
    again = lilyan.Scene({"time": {"end": 1, "step": 0.01}, "body": [{"mesh": {"file": str(path)}, "material": RUBBER}]}).simulation()
    np.testing.assert_allclose(again.rest, sim.q, rtol=1e-12)


def test_meshio_out_with_ten_nodes():
    pytest.importorskip("meshio")
    mesh = scene(quadratic(V, T)).simulation().to_meshio()
    assert mesh.cells[0].type == "tetra10"


def test_trimesh_in():
    trimesh = pytest.importorskip("trimesh")
    ball = trimesh.creation.icosphere(subdivisions=2, radius=0.5)
    sim = scene({"file": ball, "tets": 500}).simulation()
    assert sim.masses.sum() == pytest.approx(1000 * ball.volume, rel=0.08)  # coarse tets cut the ball's outside


def test_trimesh_out():
    pytest.importorskip("trimesh")
    sim = scene((V, T)).simulation()
    mesh = sim.to_trimesh()
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx(1.0)
    assert len(mesh.vertices) == 26  # the vertex in the middle is inside


def test_pyvista_in():
    pyvista = pytest.importorskip("pyvista")
    grid = pyvista.UnstructuredGrid(np.column_stack([np.full(len(T), 4), T]).ravel(), np.full(len(T), 10, np.uint8), V)
    grid.cell_data["E"] = np.linspace(1e5, 2e5, len(T))
    mesh = mesh_of(grid)
    np.testing.assert_array_equal(mesh.T, T)
    assert mesh.cell_data["E"][-1] == 2e5
    assert isinstance(mesh_of(pyvista.Sphere()), Surface)
    sim = scene({"file": pyvista.Cube().triangulate().clean(), "tets": 200}).simulation()
    assert sim.masses.sum() == pytest.approx(1000, rel=0.05)


def test_pyvista_surface_of_quads_is_cut():
    pyvista = pytest.importorskip("pyvista")
    assert mesh_of(pyvista.Cube()).F.shape == (12, 3)


def test_pyvista_out():
    pytest.importorskip("pyvista")
    sim = scene((V, T)).simulation()
    sim.q[:, 0] *= 1.05
    grid = sim.to_pyvista()
    np.testing.assert_allclose(grid.points, sim.q)
    assert grid.n_cells == len(T)
    assert grid.volume == pytest.approx(1.05)
    np.testing.assert_allclose(grid.cell_data["von_mises"], sim.von_mises())


def test_what_is_no_mesh_is_refused():
    with pytest.raises(lilyan.InputError, match="type object"):
        mesh_of(object())
