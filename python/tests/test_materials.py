"""Materials of Python functions against the built-in ones."""

import pickle

import numpy as np
import pytest
from conftest import RUBBER, box

import lilyan

IDENTITY = np.eye(3)


def strain(F):
    return (F.transpose(0, 2, 1) @ F - IDENTITY) / 2


def trace(A):
    return np.trace(A, axis1=1, axis2=2)


def stvk_energy(F, c):
    E = strain(F)
    return c["mu"] * (E * E).sum((1, 2)) + c["lambda"] / 2 * trace(E) ** 2


def stvk_stress(F, c):
    E = strain(F)
    return F @ (2 * np.multiply.outer(c["mu"], np.ones((1, 1))) * E + (c["lambda"] * trace(E))[:, None, None] * IDENTITY)


def stvk_tangent(F, c):
    E = strain(F)
    S = 2 * c["mu"] * E + (c["lambda"] * trace(E))[:, None, None] * IDENTITY
    d = IDENTITY
    H = np.einsum("ik,nlj->nijkl", d, S)
    H += c["lambda"] * np.einsum("nij,nkl->nijkl", F, F)
    H += c["mu"] * (np.einsum("nil,nkj->nijkl", F, F) + np.einsum("nim,nkm,jl->nijkl", F, F, d))
    return H


def stvk(tangent=None, name="stvk-in-python"):
    return lilyan.Material(name, stvk_energy, stvk_stress, tangent)


def simulation(model, **options):
    V, T = box((2.0, 0.5, 0.5), (4, 1, 1))
    options = {"gravity": (0, -9.81, 0), "pins": V[:, 0] < 1e-9, "step": 0.005, **options}
    return lilyan.Simulation(V, T, {**RUBBER, "model": model}, **options)


def test_check_accepts_what_is_right():
    stvk().check()


def test_check_finds_a_wrong_stress():
    with pytest.raises(lilyan.InputError, match="derivative"):
        lilyan.Material("wrong", stvk_energy, lambda F, c: 1.01 * stvk_stress(F, c)).check()


def test_check_finds_an_energy_at_rest():
    with pytest.raises(lilyan.InputError, match="not 0"):
        lilyan.Material("wrong", lambda F, c: 1 + stvk_energy(F, c), stvk_stress).check()


@pytest.mark.parametrize("tangent", [None, stvk_tangent], ids=["differences", "tangent"])
@pytest.mark.parametrize("integrator", ["energy-momentum", "variational", "backward-euler", "verlet", "semi-implicit"])
def test_it_moves_as_the_built_in_one(integrator, tangent):
    step = 0.0005 if integrator == "verlet" else 0.005
    own, other = (simulation(m, integrator=integrator, step=step) for m in (stvk(tangent), "stvk"))
    own.step(12), other.step(12)
    moved = np.abs(other.q - other.rest).max()
    assert moved > 1e-6
    np.testing.assert_allclose(own.q, other.q, atol=1e-6 * moved)


def test_energy_and_stress_agree_with_the_built_in_one():
    own, other = simulation(stvk()), simulation("stvk")
    for sim in (own, other):
        sim.q[:, 1] += 0.1 * sim.rest[:, 0] ** 2
    assert own.energy()["elastic"] == pytest.approx(other.energy()["elastic"], rel=1e-10)
    np.testing.assert_allclose(own.stress(), other.stress(), rtol=1e-9, atol=1e-6)
    np.testing.assert_allclose(own.forces(), other.forces(), rtol=1e-9, atol=1e-6)


def test_the_energy_is_kept():
    sim = simulation(stvk())
    sim.step(30)
    energy = sim.energy()
    assert abs(energy["dissipated_numerical"]) < 1e-7 * energy["kinetic"]


def test_modes_and_rest_use_it():
    own, other = simulation(stvk()).scene, simulation("stvk").scene
    np.testing.assert_allclose(own.modes(4).frequencies, other.modes(4).frequencies, rtol=1e-5)
    a, b = own.rest()[0], other.rest()[0]
    assert a.largest_displacement == pytest.approx(b.largest_displacement, rel=1e-4)


def test_a_run_uses_it(tmp_path):
    scene = simulation(stvk()).scene.with_settings({"time.end": 0.05})
    result = scene.run(tmp_path / "out")
    assert result.summary.material[0].model == "stvk-in-python"
    assert result.trustworthy


def test_own_parameters_have_defaults_and_values():
    seen = []

    def energy(F, c):
        seen.append(c["b"])
        return c["b"] * stvk_energy(F, c)

    model = lilyan.Material("scaled", energy, lambda F, c: c["b"] * stvk_stress(F, c), parameters={"b": 1.0})
    sim = simulation(model)
    sim.energy()
    assert set(seen) == {1.0}
    sim.q[:, 1] += 0.1 * sim.rest[:, 0] ** 2
    before = sim.energy()["elastic"]
    sim.change({"body.0.material.b": 3.0})
    assert sim.energy()["elastic"] == pytest.approx(3 * before)


def test_unknown_parameters_are_refused():
    V, T = box()
    with pytest.raises(lilyan.InputError, match="unknown key"):
        lilyan.Simulation(V, T, {**RUBBER, "model": stvk(), "c": 2.0})


def test_constants_may_differ_between_tets():
    def energy(F, c):
        lam, mu = np.broadcast_to(c["lambda"], len(F)), np.broadcast_to(c["mu"], len(F))
        E = strain(F)
        return mu * (E * E).sum((1, 2)) + lam / 2 * trace(E) ** 2

    def stress(F, c):
        lam, mu = (np.broadcast_to(c[k], len(F))[:, None, None] for k in ("lambda", "mu"))
        E = strain(F)
        return F @ (2 * mu * E + lam * trace(E)[:, None, None] * IDENTITY)

    model = lilyan.Material("varied", energy, stress)
    own, other = (simulation(m) for m in (model, "stvk"))
    for sim in (own, other):
        sim.change({"body.0.material.E": "1e5 + 1e5*x"})
        sim.q[:, 1] += 0.1 * sim.rest[:, 0] ** 2
    assert own.energy()["elastic"] == pytest.approx(other.energy()["elastic"], rel=1e-10)


def test_an_exception_reaches_the_caller():
    calls = []

    def stress(F, c):
        calls.append(1)
        if len(calls) > 3:
            raise ZeroDivisionError("in my material")
        return stvk_stress(F, c)

    sim = simulation(lilyan.Material("broken", stvk_energy, stress))
    before = sim.q.copy()
    with pytest.raises(ZeroDivisionError, match="in my material"):
        sim.step(50)
    assert len(calls) == 4  # it is not asked again
    np.testing.assert_array_equal(sim.q, before)


@pytest.mark.parametrize("answer", [None, 3.0, np.zeros(2), np.zeros((5, 5))])
def test_answers_of_another_shape_are_refused(answer):
    with pytest.raises((lilyan.InputError, TypeError, ValueError), match="shape|number|float"):
        simulation(lilyan.Material("shapes", lambda F, c: answer, lambda F, c: answer)).step()


def test_it_is_pickled_with_its_simulation():
    sim = simulation(stvk(), integrator="bdf2")
    sim.step(3)
    other = pickle.loads(pickle.dumps(sim))
    sim.step(3), other.step(3)
    np.testing.assert_array_equal(sim.q, other.q)


def test_it_is_copied_with_its_simulation():
    sim = simulation(stvk())
    sim.step(2)
    other = sim.copy()
    sim.step(2), other.step(2)
    np.testing.assert_array_equal(sim.q, other.q)


def test_a_scene_with_it_cannot_be_saved(tmp_path):
    with pytest.raises(lilyan.InputError, match="written in Python"):
        simulation(stvk()).scene.save(tmp_path / "scene.toml")


def test_two_materials_in_one_scene():
    V, T = box()
    body = lambda name, model, y: {"name": name, "mesh": {"file": (V, T), "translate": [0, y, 0]}, "material": {**RUBBER, "model": model}}
    scene = lilyan.Scene({"time": {"end": 1, "step": 0.01}, "body": [body("a", stvk(), 0), body("b", "stvk", 3), body("c", stvk(name="c"), 6)]})
    sim = scene.simulation()
    sim.v[:] = np.cross([0, 0, 1.0], sim.q)
    sim.step(2)
    assert np.isfinite(sim.q).all()


def test_several_threads_may_step_it():
    import threading

    sims = [simulation(stvk()) for _ in range(3)]
    threads = [threading.Thread(target=sim.step, args=(3,)) for sim in sims]
    [t.start() for t in threads]
    [t.join(120) for t in threads]
    assert not any(t.is_alive() for t in threads)
    np.testing.assert_array_equal(sims[0].q, sims[1].q)
