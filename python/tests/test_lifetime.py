"""Memory, addresses, cost of a call, and threads."""

import gc
import threading
import time
import weakref

import numpy as np
import pytest
from conftest import RUBBER, box

import lilyan


def tet(**options):
    V = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    return lilyan.Simulation(V, [[0, 1, 2, 3]], RUBBER, integrator="verlet", step=1e-4, **options)


def resident():
    """Memory of this process, KiB."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


needs_proc = pytest.mark.skipif(not __import__("os").path.exists("/proc/self/status"), reason="no /proc")


@needs_proc
def test_a_hundred_thousand_steps_leave_no_memory_behind():
    sim = tet()
    for _ in range(10_000):
        sim.step()
    before = resident()
    for _ in range(100_000):
        sim.step()
    assert resident() - before < 1024
    assert sim.index == 110_000


@needs_proc
@pytest.mark.parametrize(
    "work",
    [
        lambda sim: sim.copy(),
        lambda sim: sim.restore(sim.checkpoint()),
        lambda sim: (sim.energy(), sim.stress(), sim.forces(), sim.momentum(), sim.cells, sim.surface),
        lambda sim: sim.change({"body.0.material.E": 1.1e5}),
        lambda sim: sim.external_forces.__setitem__((0, 0), 1.0) or sim.step(),
        lambda sim: pytest.raises(lilyan.InputError, sim.change, {"no": 1}),
    ],
    ids=["copy", "checkpoint", "reads", "change", "forces", "errors"],
)
def test_calls_leave_no_memory_behind(work):
    sim = tet()
    for _ in range(300):
        work(sim)
    gc.collect()
    before = resident()
    for _ in range(1500):
        work(sim)
    gc.collect()
    assert resident() - before < 3000


@needs_proc
def test_forces_of_python_leave_no_memory_behind():
    sim = tet(forces=[lambda t, q, v: -0.1 * v])
    sim.step(2000)
    before = resident()
    sim.step(20_000)
    assert resident() - before < 1024


def test_simulations_are_freed():
    alive = weakref.WeakSet()

    class Force:
        def __call__(self, t, q, v):
            return 0 * v

    for _ in range(5):
        force = Force()
        alive.add(force)
        tet(forces=[force]).step(2)
    del force
    gc.collect()
    assert len(alive) == 0


@pytest.mark.parametrize("name", ["q", "v", "p", "external_forces"])
def test_arrays_keep_their_address(name):
    sim = tet()
    address = getattr(sim, name).ctypes.data
    sim.step(100)
    sim.change({"body.0.material.E": 2e5})
    sim.restore(sim.checkpoint())
    sim.q[:] += 0.1
    sim.step()
    assert getattr(sim, name).ctypes.data == address
    assert getattr(sim, name).flags.c_contiguous and getattr(sim, name).flags.writeable


@pytest.mark.parametrize("name", ["q", "v", "p", "external_forces"])
def test_arrays_of_a_copy_are_its_own(name):
    sim = tet()
    other = sim.copy()
    assert getattr(sim, name).ctypes.data != getattr(other, name).ctypes.data


def test_views_see_the_state():
    sim = tet()
    heights = sim.q[:, 1]
    sim.v[:, 1] = 1.0
    sim.step(1000)
    np.testing.assert_allclose(heights, [0.1, 0.1, 1.1, 0.1], atol=1e-9)


def test_a_call_costs_little():
    sim = tet()
    sim.step(1000)

    def cost(calls, steps):
        best = np.inf
        for _ in range(15):
            start = time.process_time()
            for _ in range(calls):
                sim.step(steps)
            best = min(best, time.process_time() - start)
        return best / 2000

    # Two thousand steps one by one, and in one call; 5 µs on a machine of its own.
    assert cost(2000, 1) - cost(1, 2000) < 10e-6


def test_a_thousand_tets_are_built_quickly():
    V, T = box((1, 1, 1), (6, 6, 5))
    assert len(T) == 1080
    best = np.inf
    for _ in range(15):
        start = time.process_time()
        lilyan.Simulation(V, T, RUBBER)
        best = min(best, time.process_time() - start)
    assert best < 10e-3  # 5 ms on a machine of its own


def test_reads_and_steps_in_several_threads():
    sim = lilyan.Simulation(*box((1, 1, 1), (4, 4, 4)), RUBBER, gravity=(0, -9.81, 0))
    errors = []

    def read():
        try:
            while sim.index < 60:
                energy = sim.energy()
                assert abs(energy["dissipated_numerical"]) < 1e-3
        except Exception as error:  # noqa: BLE001
            errors.append(error)

    readers = [threading.Thread(target=read) for _ in range(3)]
    [thread.start() for thread in readers]
    for _ in range(60):
        sim.step()
    [thread.join(60) for thread in readers]
    assert not errors and not any(thread.is_alive() for thread in readers)


def test_copies_step_in_threads():
    sim = lilyan.Simulation(*box((1, 1, 1), (3, 3, 3)), RUBBER)
    sim.v[:] = np.cross([0, 0, 2.0], sim.q)
    copies = [sim.copy() for _ in range(4)]
    threads = [threading.Thread(target=copy.step, args=(10,)) for copy in copies]
    [thread.start() for thread in threads]
    [thread.join(60) for thread in threads]
    sim.step(10)
    for copy in copies:
        np.testing.assert_array_equal(copy.q, sim.q)


def test_a_force_of_python_may_use_the_simulation_of_another():
    other = tet()
    sim = tet(forces=[lambda t, q, v: np.zeros_like(v) * other.t])
    sim.step(10)
    assert sim.index == 10
