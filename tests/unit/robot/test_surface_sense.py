"""A tip tells what it touches, whatever it did in the water before and after."""

import numpy as np
import pytest

from app.clock import NS_PER_MS
from app.config.robot import build_robot_model, load_robot
from app.teleop.contact_codec import read_contacts
from models.environment_report import SurfaceStatus
from models.tip import tip_position
from tests.unit.robot.senses import Surfaces

MODEL = build_robot_model(load_robot("ursula"))
LIMB, ROWS = 1, slice(2, 4)
AXIS = MODEL.pose_base_to_hull[LIMB, :3, 2].copy()
HAS_SENSOR = np.array([False, True, False, False])
PERIOD_S, PERIOD_NS = 4e-3, 4 * NS_PER_MS
NOISE = (2e-3, 2e-3, 1e-4)  # of the simulated shape sensors


class Arm:
    """The palpation arm, straight, that goes in and out along its own axis."""

    def __init__(self, stiffness: float) -> None:
        self.sense = Surfaces(MODEL, HAS_SENSOR, PERIOD_S)
        self.stiffness, self.now_ns = stiffness, 0
        self._rng = np.random.default_rng(0)
        self._pose = np.full_like(MODEL.rest_coordinates, np.nan)
        self._force = np.zeros((4, 3))
        tip = np.zeros(3)
        tip_position(MODEL, LIMB, np.zeros((2, 3)), np.zeros((3, 4, 4)), tip)
        self.wall = float(tip @ AXIS)

    def step(self, depth: float) -> None:
        pushed = max(0.0, self.stiffness * depth)
        noise = self._rng.standard_normal((3, 3))
        self._pose[ROWS] = (0.0, 0.0, 0.5 * depth) + noise[:2] * NOISE
        self._force[LIMB] = -pushed * AXIS + 0.01 * noise[2]
        self.now_ns += PERIOD_NS
        self.sense.step(self.now_ns, self._pose, self._force)

    def press(self, back: float) -> None:
        """Come at 20 mm/s, press 2 N within 2 s, hold, go back so fast [m/s]."""
        deepest = 2.0 / self.stiffness
        for depth in np.arange(-0.02, 0.0, 0.02 * PERIOD_S):
            self.step(float(depth))
        for share in np.linspace(0.0, 1.0, 500):
            self.step(float(share) * deepest)
        for _ in range(250):
            self.step(deepest)
        for depth in np.arange(deepest, -0.02, -back * PERIOD_S):
            self.step(float(depth))


@pytest.mark.parametrize("stiffness", [100.0, 500.0, 2000.0])
def test_stiffness_and_place_are_told_and_a_fast_retreat_leaves_them(
    stiffness: float,
) -> None:
    arm = Arm(stiffness)
    arm.press(0.05)
    arm.press(0.15)
    (told,) = read_contacts(arm.sense.contact(), arm.now_ns)
    assert told.limb == LIMB
    assert told.status is SurfaceStatus.AS_KNOWN
    assert told.stiffness == pytest.approx(stiffness, rel=0.15)
    assert told.exponent == 1.0
    # 15 % of the depth at 2 N, or a fifth of a millimetre of shape noise
    off = float(np.array(told.point) @ AXIS) - arm.wall
    assert abs(off) < max(0.15 * 2.0 / stiffness, 2e-4)
    assert -np.array(told.normal) @ AXIS > np.cos(np.radians(5.0))


def test_a_tip_that_touches_nothing_tells_nothing() -> None:
    arm = Arm(300.0)
    for k in range(500):
        arm.step(-0.01 + 0.005 * np.sin(0.05 * k))
    assert arm.sense.contact() == b""
