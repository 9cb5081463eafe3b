"""The slave half: it follows the hand, pushes with what is told, and never jolts."""

import math

import numpy as np
import pytest

from app.clock import NS_PER_MS, NS_PER_S
from app.config.robot import build_robot_model, load_robot
from app.config.teleop import TeleopParameters
from app.link.frame import SignalTold
from app.link.signal_fields import DOWN_FIELDS, UP_FIELDS
from app.robot.slave_half import SlaveHalf
from app.teleop.gains import gains_from
from app.teleop.strategy import Strategy
from models.tip import tip_position

MODEL = build_robot_model(load_robot("ursula"))
LIMB, ROWS = 1, slice(2, 4)
POSE = MODEL.rest_coordinates.copy()
POSE[ROWS, 2] = -0.005
PATIENCE_NS = 500 * NS_PER_MS


def tip_of(rows):
    tip = np.zeros(3)
    tip_position(MODEL, LIMB, np.ascontiguousarray(rows), np.zeros((3, 4, 4)), tip)
    return tip


class Rig:
    """A half whose posture is reached at once, and a hand that tells."""

    def __init__(self, strategy=Strategy.POSITION_POSITION, noise=0.0):
        self.half = SlaveHalf(MODEL, gains_from(TeleopParameters()))
        self.strategy, self.engagement = strategy, 1
        self.applied = POSE.copy()
        self.now_ns = 9 * NS_PER_S
        self.energy = 0.0
        self.draw = np.random.default_rng(3)
        self.noise = noise

    def tell(self, position, velocity=(0.0, 0.0, 0.0), **changes):
        values = {
            "limb": LIMB,
            "strategy": int(self.strategy),
            "engagement": self.engagement,
            "fields": DOWN_FIELDS[self.strategy],
            "position": tuple(position),
            "velocity": tuple(velocity),
            "energy": 10.0,
        }
        told = SignalTold(**(values | changes))
        self.half.hear(self.now_ns, self.now_ns, told, self.applied)

    def step(self, contact=None):
        self.now_ns += NS_PER_MS
        measured = self.applied + self.noise * self.draw.standard_normal((6, 3))
        rows = self.half.step(
            self.now_ns, 1e-3, PATIENCE_NS, self.applied, measured, contact
        )
        if rows is not None:
            self.applied[ROWS] = rows
        return rows

    @property
    def tip(self):
        return tip_of(self.applied[ROWS])


@pytest.mark.parametrize(
    "strategy",
    [Strategy.POSITION_POSITION, Strategy.POSITION_FORCE, Strategy.TWO_PORT],
)
def test_the_tip_goes_where_the_hand_is_without_a_jolt(strategy):
    rig = Rig(strategy)
    wanted = rig.tip + np.array([-0.03, 0.02, 0.03])
    before, fastest = rig.tip, 0.0
    for k in range(4000):
        if k % 20 == 0:
            rig.tell(wanted)
        assert rig.step() is not None
        fastest = max(fastest, float(np.linalg.norm(rig.tip - before)) / 1e-3)
        before = rig.tip
    assert np.linalg.norm(rig.tip - wanted) < 3e-3
    assert fastest < 0.21  # m/s: the limb's tip speed limit is 0.2


def test_waves_move_the_tip_by_their_integral():
    rig = Rig(Strategy.WAVES)
    start, total = rig.tip, 0.0
    for k in range(2000):
        total += 1e-3 * 0.15
        if k % 10 == 0:
            rig.tell((0, 0, 0), wave=(0.0, 0.0, 0.15), integral=(0.0, 0.0, total))
        rig.step()
    # in open water the tip goes with sqrt(2/b) times half of what goes in, twice
    moved = rig.tip - start
    assert moved[2] > 0.02
    assert abs(moved[0]) + abs(moved[1]) < 0.2 * moved[2] + 5e-3
    told = rig.half.signal()
    assert told is not None
    assert told.fields == UP_FIELDS[Strategy.WAVES]
    assert all(map(math.isfinite, (*told.wave, *told.integral)))


def test_a_wild_signal_moves_the_tip_no_faster_than_its_limit():
    rig = Rig()
    before = rig.tip
    for _ in range(500):
        rig.tell((3.2, -3.2, 3.2), (3.2, 3.2, -3.2), force=(32.0, -32.0, 32.0))
        rig.step()
        assert np.isfinite(rig.applied).all()
        assert np.linalg.norm(rig.tip - before) <= 0.2e-3 + 1e-9
        before = rig.tip


def test_a_stale_signal_freezes_and_a_fresh_one_goes_on_without_a_jolt():
    rig = Rig()
    wanted = rig.tip + np.array([0.0, 0.02, 0.02])
    for k in range(200):
        if k % 20 == 0:
            rig.tell(wanted, (0.0, 0.05, 0.05))
        rig.step()
    for _ in range(520):
        rig.step()
    held = rig.applied.copy()
    assert rig.step() is None
    assert np.array_equal(rig.applied, held)
    rig.applied[ROWS] *= 0.99  # it was moved by something else meanwhile
    before = rig.tip
    rig.tell(wanted)
    rig.step()
    assert np.linalg.norm(rig.tip - before) < 0.2e-3


def test_another_strategy_begins_without_a_jolt():
    rig = Rig()
    for k in range(1000):
        if k % 20 == 0:
            rig.tell(rig.tip + np.array([0.0, 0.0, 0.01]))
        rig.step()
    for strategy in (Strategy.WAVES, Strategy.TWO_PORT, Strategy.POSITION_FORCE):
        rig.strategy, rig.engagement = strategy, rig.engagement + 1
        before = rig.tip
        for _ in range(20):
            rig.tell(rig.tip)
            rig.step()
            assert np.linalg.norm(rig.tip - before) < 0.2e-3
            before = rig.tip
        told = rig.half.signal()
        assert (told.strategy, told.engagement) == (strategy, rig.engagement)


def test_what_it_tells_is_steady_under_sensor_noise():
    rig = Rig(noise=np.array([2e-3, 2e-3, 1e-4]))
    rig.tell(rig.tip)
    speeds = []
    for k in range(1500):
        if k % 20 == 0:
            rig.tell(tip_of(POSE[ROWS]))
        rig.step()
        if k > 300:
            speeds.append(np.linalg.norm(rig.half.signal().velocity))
    assert np.sqrt(np.mean(np.square(speeds))) < 0.03


def test_contact_is_told_and_what_is_not_finite_is_none():
    rig = Rig(Strategy.POSITION_FORCE)
    rig.tell(rig.tip)
    contact = np.zeros((4, 3))
    contact[LIMB] = (0.5, -1.0, 2.0)
    rig.step(contact)
    assert rig.half.signal().force == (0.5, -1.0, 2.0)
    contact[LIMB, 0] = np.nan
    rig.step(contact)
    assert rig.half.signal().force == (0.0, 0.0, 0.0)
