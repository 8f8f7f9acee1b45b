"""A Gymnasium environment: a soft finger pushes a ball over the floor to a goal.

    pip install lilyan gymnasium
    python soft_finger.py

The finger hangs from a slide, whose pinned nodes the agent moves: the action is a velocity of the slide in the horizontal plane. Finger and
ball are bodies of tets; they touch each other and the floor through barriers that nothing passes. A reset restores a checkpoint, so
that equal actions give equal bits in every copy, however many there are.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

import lilyan

SLIDE_SPEED = 0.5  # m/s
STEP = 0.01  # s, of the simulation; an action lasts for STEPS of them
STEPS = 2
SOFT = {"model": "stable-neo-hookean", "nu": 0.4, "rho": 1000}


def scene() -> lilyan.Scene:
    """Finger, ball and floor."""
    return lilyan.Scene({
        "title": "Soft finger and ball",
        "time": {"end": 1e4, "step": STEP},
        "integrator": {"name": "backward-euler"},
        "environment": {"gravity": [0, -9.81, 0]},
        "body": [
            {
                "name": "finger",
                "mesh": {"box": {"size": [0.03, 0.12, 0.03], "cells": [1, 4, 1]}, "translate": [-0.015, 0.01, -0.015]},
                "material": {**SOFT, "E": 2e5},
            },
            {"name": "ball", "mesh": {"sphere": {"radius": 0.03, "tets": 60}, "translate": [0.06, 0.032, 0]}, "material": {**SOFT, "E": 1e5}},
        ],
        "pin": [{"body": "finger", "where": {"box": {"min": [-1, 0.129, -1], "max": [1, 1, 1]}}}],
        "contact": [
            {"model": "barrier", "kind": "plane", "point": [0, 0, 0], "normal": [0, 1, 0]},
            {"model": "barrier", "kind": "bodies", "between": ["finger", "ball"]},
        ],
    })  # fmt: skip


class SoftFinger(gymnasium.Env):
    """Push the ball to the goal. The reward is the way towards it, m; an episode ends within 1 cm of it."""

    metadata = {"render_modes": []}

    def __init__(self, limit: int = 100):
        self._sim = scene().simulation()
        self._start = self._sim.checkpoint()
        self._slide = self._sim.pins[0]
        self._limit = limit
        self.action_space = spaces.Box(-1.0, 1.0, (2,), np.float64)
        self.observation_space = spaces.Box(-np.inf, np.inf, (10,), np.float64)

    def _place(self, body: str) -> np.ndarray:
        nodes = self._sim.bodies[body]
        return np.average(self._sim.q[nodes], axis=0, weights=self._sim.masses[nodes])

    def _distance(self) -> float:
        return float(np.linalg.norm((self._place("ball") - self._goal)[[0, 2]]))

    def _observation(self) -> np.ndarray:
        ball = self._sim.bodies["ball"]
        speed = np.average(self._sim.v[ball], axis=0, weights=self._sim.masses[ball])
        places = [self._sim.q[self._slide].mean(axis=0)[[0, 2]], self._place("finger")[[0, 2]], self._place("ball")[[0, 2]]]
        return np.concatenate([*places, speed[[0, 2]], self._goal[[0, 2]]])

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self._sim.restore(self._start)
        angle = self.np_random.uniform(-0.3, 0.3)
        self._goal = np.array([0.06, 0, 0]) + 0.1 * np.array([np.cos(angle), 0, np.sin(angle)])
        self._done = 0
        return self._observation(), {}

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict]:
        before = self._distance()
        x, z = np.clip(action, -1, 1) * SLIDE_SPEED
        way = np.array([x, 0, z]) * STEP * STEPS
        self._sim.move_pins(self._slide, self._sim.q[self._slide] + way, duration=STEP * STEPS)
        self._sim.step(STEPS)
        self._done += 1
        distance = self._distance()
        contact = float(np.linalg.norm(self._sim.contact_forces()[self._sim.bodies["finger"]].sum(axis=0)))
        return self._observation(), before - distance, distance < 0.01, self._done >= self._limit, {"contact_force": contact}


if __name__ == "__main__":
    environment = SoftFinger()
    observation, _ = environment.reset(seed=1)
    total = 0.0
    for _ in range(40):
        observation, reward, reached, stopped, facts = environment.step(np.array([0.6, 0.0]))
        total += reward
        if reached or stopped:
            break
    print(f"the ball came {1000 * total:.0f} mm nearer to the goal")
