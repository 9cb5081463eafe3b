"""The simulated hand: statics, dynamics against the exact solution, energy."""

import numpy as np
import pytest

from app.errors import ConfigError
from app.operator.haptic.hand import (
    HandModel,
    allocate_hand,
    hand_model,
    move_hand,
    place_hand,
)
from app.operator.haptic.hand_path import HAND_PATHS, hand_aim
from models.human_arm import GRIPS

MS = 1_000_000
NONE = np.zeros(3)


class Held:
    """A hand that is stepped every millisecond."""

    def __init__(self, model: HandModel) -> None:
        self.model = model
        self.data = allocate_hand(model)
        place_hand(self.data, 0, NONE)
        self.now_ns = 0

    def go(self, milliseconds, aim=NONE, force=NONE, hold=NONE, speed=NONE) -> float:
        for _ in range(milliseconds):
            self.now_ns += MS
            move_hand(
                self.model, self.now_ns, np.asarray(aim, float),
                np.asarray(speed, float), np.asarray(force, float),
                np.asarray(hold, float), self.data,
            )  # fmt: skip
        return float(self.data.position[0])


@pytest.mark.parametrize("grip", GRIPS)
def test_a_force_moves_it_by_the_arms_stiffness(grip: str) -> None:
    held = Held(hand_model(grip)._replace(friction=0.0))
    stiffness = GRIPS[grip].stiffness
    assert held.go(4000, force=(1.0, 0.0, 0.0)) == pytest.approx(1.0 / stiffness, 1e-3)
    assert not held.data.position[1:].any()


def test_it_swings_as_the_exact_solution() -> None:
    model = hand_model("relaxed")._replace(friction=0.0)
    held = Held(model)
    mass = model.arm_mass + model.device_mass
    damping = model.arm_damping + model.device_damping
    decay = damping / (2.0 * mass)
    rate = np.sqrt(model.arm_stiffness / mass - decay**2)
    for k in range(1, 11):
        found = held.go(40, aim=(0.01, 0.0, 0.0))
        t = 0.04 * k
        exact = 0.01 * (
            1.0
            - np.exp(-decay * t) * (np.cos(rate * t) + decay / rate * np.sin(rate * t))
        )
        # first order in the step: 0.25 ms of a swing of some 0.5 s
        assert found == pytest.approx(exact, abs=2e-5)


def test_a_swing_without_losses_keeps_its_energy() -> None:
    model = hand_model("relaxed")._replace(
        arm_damping=0.0, device_damping=0.0, friction=0.0
    )
    held = Held(model)
    held.data.position[0] = 0.01
    mass = model.arm_mass + model.device_mass
    begun = 0.5 * model.arm_stiffness * 0.01**2
    for _ in range(100):
        held.go(100)
        now = 0.5 * mass * held.data.velocity[0] ** 2
        now += 0.5 * model.arm_stiffness * held.data.position[0] ** 2
        assert now == pytest.approx(begun, rel=5e-3)  # ± half a step of phase


def test_friction_holds_a_light_hand_back() -> None:
    light = Held(hand_model("light"))
    free = Held(hand_model("light")._replace(friction=0.0))
    aim = (0.01, 0.0, 0.0)
    assert light.go(300, aim=aim) < 0.6 * free.go(300, aim=aim)


def test_nothing_comes_from_nothing() -> None:
    model = hand_model("firm")
    held = Held(model)
    held.data.velocity[:] = (0.3, -0.2, 0.1)
    mass = model.arm_mass + model.device_mass
    energy = np.inf
    for _ in range(500):
        held.go(1)
        now = 0.5 * mass * np.sum(held.data.velocity**2)
        now += 0.5 * model.arm_stiffness * np.sum(held.data.position**2)
        assert now <= energy * (1.0 + 1e-3) + 1e-12
        energy = now
    assert energy < 1e-3


def test_it_holds_a_force_against_a_wall() -> None:
    held = Held(hand_model("relaxed"))
    for _ in range(8000):
        push = -500.0 * max(0.0, held.data.position[0])
        held.go(1, force=(push, 0.0, 0.0), hold=(1.5, 0.0, 0.0))
    assert -push == pytest.approx(1.5, rel=0.11)  # nothing is minded below 10 %


def test_one_long_call_is_many_short_ones() -> None:
    once, often = Held(hand_model("relaxed")), Held(hand_model("relaxed"))
    speed = np.array([0.05, 0.0, 0.0])
    often.go(1)
    once.go(1)
    for k in range(1, 41):
        often.go(1, aim=k * 1e-3 * speed, speed=speed)
    once.now_ns += 40 * MS
    move_hand(once.model, once.now_ns, 40e-3 * speed, speed, NONE, NONE, once.data)
    assert once.data.position == pytest.approx(often.data.position, abs=1e-12)


@pytest.mark.parametrize("path", HAND_PATHS)
def test_paths_are_smooth_and_stay_within_reach(path: str) -> None:
    times = np.arange(0.0, 20.0, 1e-3)
    aims = [hand_aim(path, float(time)) for time in times]
    positions = np.array([aim.position for aim in aims])
    velocities = np.array([aim.velocity for aim in aims])
    assert np.linalg.norm(positions, axis=1).max() <= 0.0601
    middle = (velocities[1:] + velocities[:-1]) / 2.0
    assert np.abs(np.diff(positions, axis=0) / 1e-3 - middle).max() < 2e-4
    assert not positions[0].any()


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ConfigError, match="relaxed, light, firm"):
        hand_model("iron")
    with pytest.raises(ConfigError, match="circle"):
        hand_aim("zigzag", 1.0)
