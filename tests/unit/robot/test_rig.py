"""A rig on scripted buses and on the plant: what it asks, believes and refuses."""

from types import SimpleNamespace

import numpy as np
import pytest

from app.config.robot import build_robot_model
from app.drivers.base import Action, Channel, Fault, Reading
from app.drivers.virtual.base import Drive, VirtualActuators
from app.drivers.worker import BusState
from app.robot.body import Applied
from app.robot.estimator import PoseEstimator
from app.robot.lines import Lines
from app.robot.plant import Plant, PlantMismatch
from app.robot.rig import Rig
from app.robot.rig_file import load_rig
from app.robot.safety import Actuation
from app.robot.virtual_world import VirtualWorld
from models.chamber_limits import hold_chambers
from tests.unit.robot.test_lines import HERE

STIFF, COMPLIANT, SLACK = Actuation.STIFF, Actuation.COMPLIANT, Actuation.SLACK


class ScriptedBus:
    """A worker without a thread: virtual actuators read at each command."""

    def __init__(self, name: str, count: int, unit: str, load_unit: str = "mA") -> None:
        self.name, self.wanted_hz = name, 100.0
        low, high = (-12.0, 12.0) if unit == "rad" else (0.0, 60.0)
        if name == "legs":
            low, high = -3.2, 3.2
        self.driver = SimpleNamespace(
            channels=tuple(
                Channel(f"{name} {k + 1}", unit, low, high, load_unit)
                for k in range(count)
            )
        )
        off = None if unit == "rad" else np.zeros(count)
        self.actuators = VirtualActuators(
            np.zeros(count), time_constant_s=0.02, off_value=off
        )
        self.applied = np.full(count, np.nan)
        self.actions: list[Action] = []
        self.now_ns = 0
        self.alive, self.interrupted = True, False
        self.faults: tuple[Fault, ...] = ()
        self.load: float | None = None
        self.temperature = 30.0

    def command(self, _now_ns: int, action: Action, setpoint: np.ndarray) -> None:
        self.actions.append(action)
        drive = {Action.FOLLOW: Drive.DRIVEN, Action.HOLD: Drive.DRIVEN}.get(
            action, Drive.RELAXED if action is Action.RELAX else Drive.OFF
        )
        if action is Action.FOLLOW:
            np.copyto(self.applied, setpoint, where=np.isfinite(setpoint))
        for k, value in enumerate(self.applied):
            if np.isfinite(value):
                self.actuators.command(k, float(value), drive)
        if drive is not Drive.DRIVEN:
            self.actuators.release(drive)

    def state(self) -> BusState:
        self.now_ns += 5_000_000
        self.actuators.advance(self.now_ns)
        count = len(self.applied)
        reading = Reading(
            self.now_ns,
            self.applied.copy(),
            self.actuators.measured.copy(),
            self.actuators.load.copy()
            if self.load is None
            else np.full(count, self.load),
            np.full(count, self.temperature),
            ~self.actuators.silent,
            self.faults,
        )
        return BusState(reading, self.alive, self.interrupted, 100.0, 1e-3, "")

    def resume(self) -> None:
        self.interrupted = False


class Stand:
    """A rig on scripted buses, moved by a plant."""

    def __init__(self, name: str) -> None:
        rig, robot = load_rig(name)
        self.model = build_robot_model(robot)
        self.buses = {}
        for bus in rig.buses:
            own = getattr(bus.line, "servos", None) or getattr(
                bus.line, "actuators", ()
            )
            unit = "rad" if bus.line.driver == "dynamixel" else "kPa"
            self.buses[bus.name] = ScriptedBus(bus.name, len(own) or 4, unit)
        self.plant = Plant(self.model, PlantMismatch(noise=0.0), 0)
        world = VirtualWorld(
            Lines(rig, robot, self.model, HERE),
            self.plant,
            {name: SimpleNamespace(device=bus) for name, bus in self.buses.items()},
        )
        lines = Lines(rig, robot, self.model, HERE)
        self.rig = Rig(rig, robot, self.model, lines, self.buses, world.step)
        self.pose = self.model.rest_coordinates

    def run(self, target: np.ndarray, actuation: Actuation, milliseconds: int) -> None:
        for _ in range(milliseconds):
            self.pose, self.tension = self.rig.measure()
            self.rig.step(Applied(target, actuation))

    def moved(self, scale: float) -> np.ndarray:
        target = scale * self.model.rest_coordinates
        for limb in range(self.model.tip_speed_limit.size):
            start, stop = self.model.limb_segment_start[limb : limb + 2]
            hold_chambers(self.model, limb, target[start:stop])
        return target


@pytest.mark.parametrize(
    "name", ["ursula-dynamixel", "silver2-modbus", "rov-arm-ctrlp"]
)
def test_a_pose_is_reached_and_told(name: str) -> None:
    stand = Stand(name)
    target = stand.moved(0.8)
    stand.run(target, COMPLIANT, 200)
    stand.run(target, STIFF, 6000)
    assert stand.rig.unsafe == ""
    assert np.abs(stand.plant.coordinates - target)[:, :2].max() < 0.03
    assert np.abs(stand.pose - stand.plant.coordinates)[:, :2].max() < 0.03
    stand.run(target, SLACK, 1500)
    assert np.abs(stand.plant.tension).max() < 1.0


def test_nothing_is_driven_before_it_is_armed() -> None:
    stand = Stand("ursula-dynamixel")
    stand.run(stand.moved(0.5), COMPLIANT, 50)
    for bus in stand.buses.values():
        assert set(bus.actions) == {Action.RELAX}
        assert np.isnan(bus.applied).all()


def test_engaging_begins_where_the_actuators_are() -> None:
    stand = Stand("ursula-dynamixel")
    stand.run(stand.model.rest_coordinates, COMPLIANT, 300)
    before = stand.buses["arms"].actuators.measured.copy()
    stand.run(stand.moved(-1.0), STIFF, 10)
    first = stand.buses["arms"].applied
    assert np.abs(first - before).max() < 0.05  # rad; the target is radians away


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"alive": False}, "bus arms is lost"),
        ({"interrupted": True}, "bus arms was lost"),
        ({"temperature": 90.0}, "over its limit: 90 deg C"),
    ],
)
def test_what_makes_it_unsafe(change: dict[str, object], said: str) -> None:
    stand = Stand("ursula-dynamixel")
    stand.run(stand.moved(1.0), COMPLIANT, 100)
    stand.run(stand.moved(1.0), STIFF, 100)
    assert stand.rig.unsafe == ""
    for key, value in change.items():
        setattr(stand.buses["arms"], key, value)
    stand.run(stand.moved(1.0), STIFF, 6)
    assert said in stand.rig.unsafe


def test_a_limb_that_is_not_measured_has_no_pose() -> None:
    stand = Stand("ursula-dynamixel")
    stand.run(stand.moved(1.0), COMPLIANT, 100)
    assert np.isfinite(stand.pose).all()
    stand.buses["arms"].actuators.silent[0] = True
    stand.run(stand.moved(1.0), COMPLIANT, 200)
    assert np.isfinite(stand.pose).all()  # one lost answer, or a few, change nothing
    stand.run(stand.moved(1.0), COMPLIANT, 200)
    assert np.isnan(stand.pose[:2]).all()  # the grasper
    assert np.isfinite(stand.pose[2:]).all()
    stand.run(stand.moved(1.0), STIFF, 10)
    assert "cannot be measured" in stand.rig.unsafe
    texts = " ".join(event.text for event in stand.rig.events())
    assert "arms 1 does not answer" in texts


def test_an_actuator_that_sticks_is_found_by_what_it_does_not_follow() -> None:
    stand = Stand("ursula-dynamixel")
    stand.run(stand.moved(1.0), STIFF, 300)
    assert stand.rig.unsafe == ""
    stand.buses["arms"].actuators.stuck[2] = True
    stand.run(stand.moved(0.2), STIFF, 3000)
    assert "arms 3 does not follow" in stand.rig.unsafe


def test_an_interrupted_bus_is_resumed_only_when_disarmed() -> None:
    stand = Stand("ursula-dynamixel")
    stand.run(stand.moved(1.0), STIFF, 20)
    stand.buses["arms"].interrupted = True
    stand.run(stand.moved(1.0), STIFF, 20)
    assert stand.buses["arms"].interrupted
    stand.run(stand.moved(1.0), COMPLIANT, 20)
    assert not stand.buses["arms"].interrupted


def test_legs_stand_while_the_arm_gives_way() -> None:
    stand = Stand("silver2-modbus")
    stand.run(stand.moved(1.0), COMPLIANT, 20)
    stand.run(stand.moved(1.0), STIFF, 100)
    legs = stand.buses["legs"]
    assert legs.actions[-1] is Action.FOLLOW
    stand.run(stand.moved(1.0), COMPLIANT, 20)
    assert stand.buses["valves-a"].actions[-1] is Action.RELAX
    assert legs.actions[-1] is Action.HOLD


def test_faults_are_said_once() -> None:
    stand = Stand("ursula-dynamixel")
    stand.buses["arms"].faults = (Fault(3, "Servo 4 is hot.", latched=True),)
    stand.run(stand.moved(1.0), COMPLIANT, 200)
    texts = [event.text for event in stand.rig.events()]
    assert texts.count("Servo 4 is hot.") == 1


def test_the_estimate_follows_what_is_measured() -> None:
    stand = Stand("ursula-dynamixel")
    estimator = PoseEstimator(stand.model)
    stand.run(stand.moved(0.7), STIFF, 4000)
    pose = np.zeros_like(stand.pose)
    for _ in range(6000):
        pose = estimator.step(stand.plant.servo_length)
    assert np.abs(pose - stand.plant.coordinates)[:, :2].max() < 0.02
