import copy
import pickle
import threading
import time

import numpy as np
import pytest
from conftest import RUBBER, box

import lilyan

INTEGRATORS = ["variational", "energy-momentum", "verlet", "backward-euler", "semi-implicit", "newmark", "bdf2", "ere", "siere"]


def swinging(bar, **options):
    V, T = bar
    options = {"gravity": (0, -9.81, 0), "pins": V[:, 0] < 1e-9, "step": 0.005, **options}
    return lilyan.Simulation(V, T, RUBBER, **options)


def test_shapes(bar):
    sim = swinging(bar)
    n, m = len(bar[0]), len(bar[1])
    assert sim.q.shape == sim.v.shape == sim.p.shape == sim.rest.shape == (n, 3)
    assert sim.q.dtype == np.float64
    assert sim.cells["tet"].shape == (m, 4)
    assert sim.stress().shape == (m, 3, 3)
    assert sim.von_mises().shape == sim.volume_ratio().shape == (m,)
    assert sim.masses.shape == (n,)
    assert sim.masses.sum() == pytest.approx(1000 * 2 * 0.5 * 0.5)
    assert sim.bodies == {"body": slice(0, n)}


def test_the_order_of_vertices_is_kept(bar):
    sim = swinging(bar)
    np.testing.assert_array_equal(sim.rest, bar[0])


def test_arrays_are_the_same_for_life(bar):
    sim = swinging(bar)
    q, address = sim.q, sim.q.__array_interface__["data"][0]
    before = q.copy()
    sim.step(3)
    assert sim.q is q
    assert sim.q.__array_interface__["data"][0] == address
    assert np.abs(q - before).max() > 0
    del sim
    q += 1  # the array outlives its simulation


def test_free_fall(bar):
    V, T = bar
    sim = lilyan.Simulation(V, T, RUBBER, gravity=(0, -9.81, 0), step=0.01)
    sim.step(100)
    assert sim.t == pytest.approx(1.0)
    assert sim.index == 100
    np.testing.assert_allclose(sim.q, V + [0, -9.81 / 2, 0], atol=1e-9)
    linear, _ = sim.momentum()
    np.testing.assert_allclose(linear, [0, -9.81 * 500, 0], atol=1e-7)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_every_integrator_swings(bar, integrator):
    sim = swinging(bar, integrator=integrator, step=0.001)
    sim.step(20)
    tip = sim.q[bar[0][:, 0] > 1.999, 1].mean() - 0.25
    assert -9.81 * 0.02**2 / 2 * 1.1 < tip < -9.81 * 0.02**2 / 2 * 0.7


def test_energy_account_closes(bar):
    sim = swinging(bar, damping={"model": "viscous", "time": 0.02})
    sim.step(100)
    energy = sim.energy()
    assert set(energy) == {
        "kinetic", "elastic", "gravity", "other", "total",
        "initial", "work_external", "dissipated_physical", "dissipated_friction", "dissipated_numerical",
    }  # fmt: skip
    assert energy["total"] == pytest.approx(energy["kinetic"] + energy["elastic"] + energy["gravity"] + energy["other"])
    assert energy["dissipated_physical"] > 0
    assert abs(energy["dissipated_numerical"]) < 1e-8 * energy["dissipated_physical"]


def test_a_written_velocity_counts_as_work(bar):
    V, T = bar
    sim = lilyan.Simulation(V, T, RUBBER)
    sim.v[:, 1] += 2.0
    assert sim.energy()["work_external"] == pytest.approx(0.5 * 500 * 4)
    np.testing.assert_allclose(sim.p, sim.masses[:, None] * sim.v)
    sim.step(10)
    assert abs(sim.energy()["dissipated_numerical"]) < 1e-6
    np.testing.assert_allclose(sim.momentum()[0], [0, 1000, 0], atol=1e-8)


def test_a_written_momentum_changes_velocities(bar):
    V, T = bar
    sim = lilyan.Simulation(V, T, RUBBER)
    sim.p[0] = [3.0, 0, 0]
    sim.step(0)
    np.testing.assert_allclose(sim.v[0], [3.0 / sim.masses[0], 0, 0])


def test_written_positions_count(bar):
    V, T = bar
    sim = lilyan.Simulation(V, T, RUBBER)
    sim.q[:] = V * [1.1, 1, 1]
    energy = sim.energy()
    assert energy["elastic"] > 0
    assert energy["work_external"] == pytest.approx(energy["elastic"])
    sim.q = V
    assert sim.energy()["elastic"] == pytest.approx(0, abs=1e-12)


def test_pinned_vertices_stay(bar):
    sim = swinging(bar)
    held = bar[0][:, 0] < 1e-9
    sim.q[held] += 0.5
    sim.step(5)
    np.testing.assert_array_equal(sim.q[held], bar[0][held])


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(bar, wrong):
    sim = swinging(bar)
    before = sim.q.copy()
    sim.q[3, 1] = wrong
    with pytest.raises(lilyan.InputError, match="row 3"):
        sim.step()
    np.testing.assert_array_equal(sim.q, before)
    sim.step()


def test_pins_by_number_and_mask_agree(bar):
    mask = bar[0][:, 0] < 1e-9
    a, b = swinging(bar, pins=mask), swinging(bar, pins=np.flatnonzero(mask))
    a.step(5), b.step(5)
    np.testing.assert_array_equal(a.q, b.q)


def test_run_until_and_callback(bar):
    sim = swinging(bar)
    seen = []
    sim.run(0.05, callback=lambda s: seen.append(s.t))
    np.testing.assert_allclose(seen, 0.005 * np.arange(1, 11))
    sim.run(1.0, callback=lambda s: False)
    assert sim.index == 11
    sim.run(0.1)
    assert sim.t == pytest.approx(0.1)


def test_an_exception_of_a_callback_comes_through(bar):
    def callback(sim):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        swinging(bar).run(1.0, callback=callback)


@pytest.mark.parametrize("clone", [lambda s: s.copy(), copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_copies_go_on_to_the_bit(bar, clone):
    sim = swinging(bar, integrator="bdf2")  # a method with memory
    sim.step(7)
    other = clone(sim)
    sim.step(9), other.step(9)
    np.testing.assert_array_equal(sim.q, other.q)
    np.testing.assert_array_equal(sim.p, other.p)
    assert sim.energy() == other.energy()
    other.step()
    assert other.index == sim.index + 1


def test_checkpoint_and_restore(bar):
    sim = swinging(bar)
    sim.step(5)
    saved = sim.checkpoint()
    sim.step(5)
    end = sim.q.copy()
    sim.restore(saved)
    assert sim.index == 5
    sim.step(5)
    np.testing.assert_array_equal(sim.q, end)


@pytest.mark.parametrize("wrong", [b"", b"nonsense", b"\xff" * 1000])
def test_wrong_checkpoints_are_refused(bar, wrong):
    sim = swinging(bar)
    with pytest.raises(lilyan.InputError):
        sim.restore(wrong)
    sim.step()


def test_checkpoints_of_other_bodies_are_refused(bar):
    other = lilyan.Simulation(*box(), RUBBER)
    with pytest.raises(lilyan.InputError, match="another scene"):
        swinging(bar).restore(other.checkpoint())


def test_a_force_of_the_user(bar):
    V, T = bar
    g = np.array([0, -9.81, 0])
    plain = lilyan.Simulation(V, T, RUBBER, gravity=g)
    masses = plain.masses[:, None]
    mine = lilyan.Simulation(V, T, RUBBER, forces=[lambda t, q, v: masses * g])
    plain.step(20), mine.step(20)
    np.testing.assert_allclose(mine.q, plain.q, atol=1e-9)
    energy = mine.energy()
    assert energy["work_external"] == pytest.approx(500 * 9.81 * 9.81 * 0.2**2 / 2)
    assert abs(energy["dissipated_numerical"]) < 1e-8


def test_drag_by_mass_takes_momentum_at_its_rate(bar):
    V, T = bar
    masses = lilyan.Simulation(V, T, RUBBER).masses[:, None]
    sim = lilyan.Simulation(V, T, RUBBER, forces=[lambda t, q, v: -2.0 * masses * v])
    sim.v[:] = [1.0, 0, 0]
    sim.step(10)
    # The midpoint rule: (1 - h) / (1 + h) per step of h = 0.01 s.
    assert sim.momentum()[0][0] == pytest.approx(500 * (0.99 / 1.01) ** 10, rel=1e-9)


def test_an_exception_of_a_force_comes_through(bar):
    def broken(t, q, v):
        raise ZeroDivisionError("in my force")

    sim = lilyan.Simulation(*bar, RUBBER, forces=[broken])
    with pytest.raises(ZeroDivisionError, match="in my force"):
        sim.step()


@pytest.mark.parametrize("answer", [None, 3, np.zeros(3), np.zeros((2, 3)), "text"])
def test_a_force_of_another_shape_is_refused(bar, answer):
    sim = lilyan.Simulation(*bar, RUBBER, forces=[lambda t, q, v: answer])
    with pytest.raises(lilyan.InputError, match="shape"):
        sim.step()


def test_a_force_cannot_spoil_the_state(bar):
    def rude(t, q, v):
        q[:] = np.nan
        return np.zeros_like(v)

    sim = lilyan.Simulation(*bar, RUBBER, forces=[rude])
    sim.step()
    assert np.isfinite(sim.q).all()


def test_an_unstable_run_raises(bar):
    V, T = bar
    sim = lilyan.Simulation(V, T, RUBBER, integrator="verlet", step=0.1)
    sim.q[:] = V * [1.2, 1, 1]
    with pytest.raises(lilyan.StepError, match="step"):
        sim.step(1000)


def test_other_threads_run_during_steps():
    V, T = box((1, 1, 1), (8, 8, 8))
    sim = lilyan.Simulation(V, T, RUBBER, gravity=(0, -9.81, 0), pins=V[:, 0] == 0)
    counted = 0
    running = True

    def count():
        nonlocal counted
        while running:
            counted += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    sim.step(10)
    running = False
    thread.join()
    assert counted > 3


def test_simulations_in_several_threads(bar):
    sims = [swinging(bar) for _ in range(4)]
    threads = [threading.Thread(target=sim.step, args=(20,)) for sim in sims]
    [t.start() for t in threads]
    [t.join() for t in threads]
    alone = swinging(bar)
    alone.step(20)
    for sim in sims:
        np.testing.assert_array_equal(sim.q, alone.q)


def test_one_simulation_in_two_threads(bar):
    sim = swinging(bar)
    threads = [threading.Thread(target=sim.step, args=(10,)) for _ in range(2)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert sim.index == 20


def test_the_number_of_threads_does_not_matter():
    V, T = box((1, 1, 1), (6, 6, 6))
    ends = []
    before = lilyan.threads()
    try:
        for count in (1, 2, 3):
            lilyan.set_threads(count)
            sim = lilyan.Simulation(V, T, RUBBER, gravity=(0, -9.81, 0), pins=V[:, 0] == 0)
            sim.step(5)
            ends.append(sim.q.copy())
    finally:
        lilyan.set_threads(before)
    np.testing.assert_array_equal(ends[0], ends[1])
    np.testing.assert_array_equal(ends[0], ends[2])


def test_forces_balance_at_rest(bar):
    V, T = bar
    sim = lilyan.Simulation(V, T, RUBBER)
    np.testing.assert_allclose(sim.forces(), 0, atol=1e-9)
    sim.q[:, 0] *= 1.01
    assert np.abs(sim.forces()).max() > 1
    np.testing.assert_allclose(sim.forces().sum(axis=0), 0, atol=1e-9)


def test_stress_of_a_stretched_bar():
    V, T = box((1, 1, 1), (2, 2, 2))
    sim = lilyan.Simulation(V, T, {"model": "linear", "E": 1e5, "nu": 0.0, "rho": 1000})
    sim.q[:] = V * [1.01, 1, 1]
    stress = sim.stress()
    # Cauchy's stress of the linear model at 1 %: F = diag(1.01, 1, 1), P = E ε.
    np.testing.assert_allclose(stress[:, 0, 0], 1000, rtol=2e-2)
    np.testing.assert_allclose(stress[:, 1, 1], 0, atol=1e-6)
    np.testing.assert_allclose(sim.volume_ratio(), 1.01)


def test_surface_is_closed_and_oriented(bar):
    sim = swinging(bar)
    a, b, c = (bar[0][sim.surface[:, k]] for k in range(3))
    np.testing.assert_allclose(np.cross(b - a, c - a).sum(axis=0), 0, atol=1e-12)
    volume = np.einsum("ij,ij->", a, np.cross(b, c)) / 6
    assert volume == pytest.approx(0.5)


def test_contact_from_the_constructor():
    V, T = box()
    V = V + [0, 0.1, 0]
    sim = lilyan.Simulation(
        V, T, RUBBER, gravity=(0, -9.81, 0), contacts=[{"kind": "plane", "point": [0, 0, 0], "normal": [0, 1, 0]}]
    )
    sim.run(1.0)
    assert sim.q[:, 1].min() > -0.1


def test_the_step_can_be_changed(bar):
    sim = swinging(bar)
    sim.step(2)
    sim.time_step = 0.0025
    sim.step(2)
    assert sim.t == pytest.approx(0.015)
    with pytest.raises(lilyan.InputError):
        sim.time_step = -1


def test_repr(bar):
    assert repr(swinging(bar)) == f"<lilyan.Simulation of {len(bar[0])} nodes at t = 0 s>"
