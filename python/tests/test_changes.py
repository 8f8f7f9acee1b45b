"""What is changed between steps: forces, pins, constants, obstacles. The energy account must stay right."""

import pickle

import numpy as np
import pytest
from conftest import RUBBER, box

import lilyan

INTEGRATORS = ["energy-momentum", "variational", "backward-euler", "newmark"]


def beam(**options):
    V, T = box((2.0, 0.5, 0.5), (6, 2, 2))
    options = {"pins": V[:, 0] < 1e-9, "step": 0.005, **options}
    return lilyan.Simulation(V, T, RUBBER, **options)


def free(**options):
    return lilyan.Simulation(*box((1, 1, 1), (2, 2, 2)), RUBBER, step=0.005, **options)


def unexplained(sim):
    """Energy that nothing accounts for, relative to what moves."""
    energy = sim.energy()
    return abs(energy["dissipated_numerical"]) / max(energy["kinetic"] + energy["elastic"], 1e-30)


# Forces on vertices


def test_external_forces_accelerate():
    sim = free()
    sim.external_forces[:] = sim.masses[:, None] * [0, 0, 3.0]
    sim.step(20)
    np.testing.assert_allclose(sim.v, np.broadcast_to([0, 0, 0.3], sim.v.shape), atol=1e-9)
    assert sim.energy()["work_external"] == pytest.approx(0.5 * 1000 * 0.3**2)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_external_forces_are_those_of_a_load_in_the_scene(integrator):
    V, _ = box((2.0, 0.5, 0.5), (6, 2, 2))
    sim = beam(integrator=integrator)
    tip = V[:, 0] > 1.999
    sim.external_forces[tip] = [0, -10, 0]
    other = lilyan.Simulation(*box((2.0, 0.5, 0.5), (6, 2, 2)), RUBBER, pins=V[:, 0] < 1e-9, step=0.005, integrator=integrator)
    other.change({"load": [{"body": "body", "where": {"vertices": np.flatnonzero(tip).tolist()}, "force": [0, -10 * int(tip.sum()), 0]}]})
    sim.step(20), other.step(20)
    assert np.abs(sim.q - V).max() > 1e-4
    np.testing.assert_allclose(sim.q, other.q, atol=1e-9)


def test_external_forces_balance_the_energy():
    sim = beam()
    rng = np.random.default_rng(1)
    for _ in range(10):
        sim.external_forces = 20 * rng.standard_normal(sim.q.shape)
        sim.step(2)
    assert sim.energy()["work_external"] > 0
    assert unexplained(sim) < 1e-8


def test_external_forces_end():
    sim = free()
    sim.external_forces[:] = sim.masses[:, None] * [1.0, 0, 0]
    sim.step(2)
    sim.external_forces = 0
    before = sim.momentum()[0]
    sim.step(5)
    np.testing.assert_allclose(sim.momentum()[0], before, rtol=1e-12, atol=1e-9)


def test_external_forces_are_zero_copy():
    sim = free()
    forces, address = sim.external_forces, sim.external_forces.ctypes.data
    forces[0, 0] = 1.0
    sim.step(3)
    assert sim.external_forces is forces and sim.external_forces.ctypes.data == address
    assert sim.external_forces[0, 0] == 1.0


def test_wrong_external_forces_are_refused():
    sim = free()
    sim.external_forces[2, 1] = np.nan
    with pytest.raises(lilyan.InputError, match="external_forces.*row 2"):
        sim.step()
    assert (sim.external_forces == 0).all()
    with pytest.raises(ValueError):
        sim.external_forces = np.zeros((3, 2))


# Pins


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_pins_go_to_their_places(integrator):
    sim = beam(integrator=integrator)
    nodes = sim.pins[0]
    start = sim.q[nodes].copy()
    sim.move_pins(nodes, start + [0, 0.02, 0], duration=0.05)
    sim.step(5)
    np.testing.assert_allclose(sim.q[nodes], start + [0, 0.01, 0], atol=1e-12)
    np.testing.assert_allclose(sim.v[nodes], np.broadcast_to([0, 0.4, 0], start.shape), atol=1e-9)
    sim.step(10)
    np.testing.assert_allclose(sim.q[nodes], start + [0, 0.02, 0], atol=1e-12)
    np.testing.assert_allclose(sim.v[nodes], 0, atol=1e-12)


def test_pins_follow_a_controller():
    sim = beam()
    nodes = sim.pins[0]
    start = sim.q[nodes].copy()
    for k in range(1, 21):
        sim.move_pins(nodes, start + [0, 0, 0.01 * np.sin(k / 5)])
        sim.step()
        np.testing.assert_allclose(sim.q[nodes, 2] - start[:, 2], 0.01 * np.sin(k / 5), atol=1e-12)
    assert sim.energy()["elastic"] > 0


def test_the_work_of_moved_pins_is_accounted_for():
    sim = beam()
    nodes = sim.pins[0]
    sim.move_pins(nodes, sim.q[nodes] + [0.02, 0, 0], duration=0.1)
    sim.step(40)
    energy = sim.energy()
    assert energy["work_external"] > 0
    assert abs(energy["dissipated_numerical"]) < 0.03 * energy["work_external"]


def test_pins_move_by_mask_and_to_one_place():
    V = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    sim = lilyan.Simulation(V, [[0, 1, 2, 3]], RUBBER, pins=[0])
    sim.move_pins(np.array([True, False, False, False]), [0, 0, 0.001])
    sim.step()
    np.testing.assert_allclose(sim.q[0], [0, 0, 0.001], atol=1e-15)


@pytest.mark.parametrize(
    "nodes, places, duration, message",
    [
        ([1], [0, 0, 0], None, "not pinned"),
        ([99], [0, 0, 0], None, "from 0 to 3"),
        ([-1], [0, 0, 0], None, "from 0 to 3"),
        ([0.5], [0, 0, 0], None, "from 0 to 3"),
        ([0], [0, 0], None, "shape"),
        ([0], [[0, 0, 0], [1, 1, 1]], None, "shape"),
        ([0], [0, 0, np.nan], None, "finite"),
        ([0], [0, 0, 0], 0.0, "positive"),
        ([0], [0, 0, 0], -1.0, "positive"),
    ],
)
def test_wrong_places_of_pins_are_refused(nodes, places, duration, message):
    V = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    sim = lilyan.Simulation(V, [[0, 1, 2, 3]], RUBBER, pins=[0])
    with pytest.raises(lilyan.InputError, match=message):
        sim.move_pins(nodes, places, duration)
    sim.step()
    np.testing.assert_array_equal(sim.q[0], V[0])


def test_pin_forces_carry_the_weight():
    sim = beam(gravity=(0, -9.81, 0), damping={"model": "viscous", "time": 0.1}, integrator="backward-euler", step=0.05)
    sim.step(400)
    np.testing.assert_allclose(sim.pin_forces(), [[0, 500 * 9.81, 0]], atol=0.02 * 500 * 9.81)


# Keys of the scene


def test_a_constant_of_the_material_is_changed():
    sim = free()
    sim.q[:, 0] *= 1.1
    before = sim.energy()["elastic"]
    sim.change({"body.0.material.E": 2e5})
    energy = sim.energy()
    assert energy["elastic"] == pytest.approx(2 * before, rel=1e-9)
    assert energy["work_external"] == pytest.approx(2 * before, rel=1e-9)
    sim.step(10)
    assert unexplained(sim) < 1e-8


def test_a_change_keeps_the_state():
    sim = beam(gravity=(0, -9.81, 0))
    sim.step(5)
    q, v, t, index = sim.q.copy(), sim.v.copy(), sim.t, sim.index
    sim.change({"body.0.material.nu": 0.2})
    np.testing.assert_array_equal(sim.q, q)
    np.testing.assert_allclose(sim.v, v, rtol=1e-14)
    assert (sim.t, sim.index) == (t, index)


def test_a_change_to_the_same_changes_nothing():
    a, b = beam(gravity=(0, -9.81, 0)), beam(gravity=(0, -9.81, 0))
    a.step(3), b.step(3)
    a.change({"body.0.material.E": 1e5})
    a.step(3), b.step(3)
    np.testing.assert_allclose(a.q, b.q, rtol=1e-9, atol=1e-9)


def test_the_density_is_changed():
    sim = free()
    sim.v[:] = [1, 0, 0]
    sim.change({"body.0.material.rho": 500})
    np.testing.assert_allclose(sim.momentum()[0], [500, 0, 0], atol=1e-9)
    assert sim.masses.sum() == pytest.approx(500)


def test_gravity_is_turned_on_and_off():
    sim = free()
    sim.change({"environment.gravity": [0, -10, 0]})
    sim.step(20)
    np.testing.assert_allclose(sim.v[:, 1], -1, atol=1e-9)
    sim.change({"environment.gravity": [0, 0, 0]})
    sim.step(20)
    np.testing.assert_allclose(sim.v[:, 1], -1, atol=1e-9)
    assert abs(sim.energy()["dissipated_numerical"]) < 1e-6


def test_the_integrator_and_the_step_are_changed():
    sim = beam(gravity=(0, -9.81, 0))
    sim.step(4)
    sim.change({"integrator": {"name": "bdf2"}, "time.step": 0.0025})
    sim.step(4)
    assert sim.scene["integrator"]["name"] == "bdf2"
    assert sim.t == pytest.approx(4 * 0.005 + 4 * 0.0025)


def test_an_obstacle_comes_and_goes():
    V, T = box((1, 1, 1), (2, 2, 2))
    sim = lilyan.Simulation(V + [0, 0.05, 0], T, RUBBER, gravity=(0, -9.81, 0), step=0.005)
    sim.change({"contact": [{"kind": "plane", "point": [0, 0, 0], "normal": [0, 1, 0]}]})
    sim.step(100)
    assert sim.q[:, 1].min() > -0.1
    assert sim.contact_forces()[:, 1].sum() >= 0
    sim.change({"contact": []})
    sim.step(100)
    assert sim.q[:, 1].min() < -0.3


def test_an_obstacle_is_moved():
    V, T = box((1, 1, 1), (2, 2, 2))
    # A barrier would refuse a plane that is moved through the body.
    plane = {"kind": "plane", "model": "penalty", "point": [0, 0, 0], "normal": [0, 1, 0]}
    sim = lilyan.Simulation(V + [0, 0.01, 0], T, RUBBER, step=0.005, contacts=[plane])
    for k in range(40):
        sim.change({"contact.0.point": [0, 0.002 * k, 0]})
        sim.step()
    assert sim.momentum()[0][1] > 10
    assert sim.energy()["work_external"] > 0
    assert sim.scene["contact"][0]["point"] == [0, 0.078, 0]


@pytest.mark.parametrize("model, gap", [("penalty", 0), ("barrier", 1e-3)])
def test_contact_forces_carry_the_weight(model, gap):
    V, T = box((1, 1, 1), (2, 2, 2))
    plane = {"kind": "plane", "model": model, "point": [0, -gap, 0], "normal": [0, 1, 0]}
    sim = lilyan.Simulation(
        V, T, RUBBER, gravity=(0, -9.81, 0), step=0.01, integrator="backward-euler", contacts=[plane], damping={"model": "viscous", "time": 0.1}
    )
    sim.step(300)
    np.testing.assert_allclose(sim.contact_forces().sum(axis=0), [0, 9810, 0], atol=50)


def test_a_vertex_that_is_pinned_while_it_moves_is_held_there():
    sim = free(gravity=(0, -9.81, 0))
    sim.step(10)
    here = sim.q[0].copy()
    sim.change({"pin": [{"body": "body", "where": {"vertices": [0]}}]})
    sim.step(5)
    np.testing.assert_allclose(sim.q[0], here, atol=1e-12)
    assert len(sim.pins) == 1
    sim.change({"pin": []})
    sim.step(5)
    assert np.abs(sim.q[0] - here).max() > 1e-4


def test_a_node_that_is_pinned_again_stays_where_it_is_then():
    sim = beam(gravity=(0, -9.81, 0))
    pins, nodes = sim.scene["pin"], sim.pins[0]
    sim.move_pins(nodes, sim.q[nodes] + [0, 0.02, 0])
    sim.step()
    sim.change({"pin": []})
    sim.step(5)
    here = sim.q[nodes].copy()
    sim.change({"pin": pins})
    sim.step()
    np.testing.assert_allclose(sim.q[nodes], here, atol=1e-12)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"body.0.material.Eh": 1}, "E"),
        ({"body.0.material.E": -1}, "positive|E"),
        ({"integrator.name": "verlett"}, "verlet"),
        ({"body.0.mesh": {"box": {"size": [1, 1, 1], "cells": [3, 3, 3]}}}, "nodes"),
        ({"nonsense": 1}, "nonsense"),
        ({"contact": [{"kind": "plane", "point": [0, 0, 0]}]}, "normal"),
    ],
)
def test_a_change_that_is_refused_changes_nothing(settings, message):
    a, b = beam(gravity=(0, -9.81, 0)), beam(gravity=(0, -9.81, 0))
    a.step(3), b.step(3)
    with pytest.raises(lilyan.InputError, match=message):
        a.change(settings)
    a.step(3), b.step(3)
    np.testing.assert_array_equal(a.q, b.q)
    assert a.energy() == b.energy()


def test_an_inverted_shape_is_refused():
    sim = free()
    before = sim.q.copy()
    sim.q[0] += 3
    with pytest.raises(lilyan.InputError, match="infinite"):
        sim.step()
    np.testing.assert_array_equal(sim.q, before)
    sim.step()


# Copies of changed simulations


def changed():
    sim = beam(gravity=(0, -9.81, 0))
    nodes = sim.pins[0]
    sim.step(2)
    sim.change({"body.0.material.E": 1.5e5})
    sim.external_forces[-1] = [0, 0, 5]
    sim.move_pins(nodes, sim.q[nodes] + [0, 0.01, 0], duration=0.05)
    sim.step(3)
    return sim


@pytest.mark.parametrize("clone", [lambda s: s.copy(), lambda s: pickle.loads(pickle.dumps(s))], ids=["copy", "pickle"])
def test_copies_of_changed_simulations_are_exact(clone):
    sim = changed()
    other = clone(sim)
    np.testing.assert_array_equal(sim.external_forces, other.external_forces)
    sim.step(20), other.step(20)
    np.testing.assert_array_equal(sim.q, other.q)
    assert sim.energy() == other.energy()


def test_checkpoints_hold_forces_and_pins():
    sim = changed()
    saved = sim.checkpoint()
    sim.step(10)
    end = sim.q.copy()
    sim.external_forces = 0
    sim.step(3)
    sim.restore(saved)
    assert sim.external_forces[-1, 2] == 5
    sim.step(10)
    np.testing.assert_array_equal(sim.q, end)


def test_a_checkpoint_of_another_integrator_leaves_the_simulation_as_it_is():
    sim, other = beam(integrator="bdf2"), beam(integrator="newmark")
    sim.step(3), other.step(3)
    before = sim.q.copy()
    try:
        sim.restore(other.checkpoint())
    except lilyan.InputError:
        np.testing.assert_array_equal(sim.q, before)
    sim.step()
    assert np.isfinite(sim.q).all()


def test_forces_of_python_survive_a_change():
    sim = lilyan.Simulation(*box(), RUBBER, forces=[lambda t, q, v: np.tile([2.0, 0, 0], (len(q), 1))])
    sim.step(2)
    sim.change({"body.0.material.E": 2e5})
    sim.step(2)
    np.testing.assert_allclose(sim.momentum()[0], [27 * 2.0 * 0.04, 0, 0], atol=1e-9)
