"""The example of a reinforcement-learning environment."""

import pathlib
import sys

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "examples"))
from soft_finger import SoftFinger  # noqa: E402


def actions(count):
    return np.random.default_rng(3).uniform(-1, 1, (count, 2)) * [0.5, 0.2] + [0.5, 0]


def play(environment, seed, count=12):
    seen = [environment.reset(seed=seed)[0]]
    for action in actions(count):
        seen.append(environment.step(action)[0])
    return np.array(seen)


def test_it_is_an_environment():
    from gymnasium.utils.env_checker import check_env

    check_env(SoftFinger(), skip_render_check=True)


def test_a_reset_is_exact():
    environment = SoftFinger()
    np.testing.assert_array_equal(play(environment, 5), play(environment, 5))


def test_copies_are_exact():
    np.testing.assert_array_equal(play(SoftFinger(), 5), play(SoftFinger(), 5))


def test_environments_side_by_side_are_exact():
    vector = gymnasium.vector.SyncVectorEnv([SoftFinger] * 3)
    seen = [vector.reset(seed=[5, 5, 6])[0]]
    for action in actions(12):
        seen.append(vector.step(np.tile(action, (3, 1)))[0])
    seen = np.array(seen)
    np.testing.assert_array_equal(seen[:, 0], seen[:, 1])
    np.testing.assert_array_equal(seen[:, 0], play(SoftFinger(), 5))
    assert (seen[:, 0, -2:] != seen[:, 2, -2:]).any()


def test_the_finger_pushes_the_ball():
    environment = SoftFinger()
    environment.reset(seed=1)
    total, force = 0.0, 0.0
    for _ in range(25):
        _, reward, reached, _, facts = environment.step(np.array([0.6, 0.0]))
        total, force = total + reward, max(force, facts["contact_force"])
        if reached:
            break
    assert total > 0.02
    assert force > 0
