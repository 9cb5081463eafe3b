"""Paths by which a stale or wild value could move an actuator of a rig."""

from types import SimpleNamespace

import numpy as np
import pytest
from pydantic import ValidationError

from app.clock import NS_PER_MS, NS_PER_S
from app.config.link import load_link
from app.config.robot import load_robot
from app.drivers.base import Fault, Reading
from app.link.frame import Codec, SetpointFrame
from app.link.pacing import PaceBudget
from app.messages import RobotState, StationMode
from app.robot.bridge import Bridge
from app.robot.core import DEFAULT_ROBOT_ID, STEP_NS, RobotCore
from app.robot.custody import Custody
from app.robot.joints import Joints
from app.robot.plant import PlantMismatch
from app.robot.rig_file import ChamberLineParameters, load_rig
from app.robot.safety import Actuation, SafetyMachine
from models.numerics import FloatArray
from tests.unit.robot.test_rig import Stand

STIFF, COMPLIANT = Actuation.STIFF, Actuation.COMPLIANT
SESSION = 7
LINK = load_link("ideal")


class Operator:
    """Drives a rig through a whole robot, in virtual time, by real bytes."""

    def __init__(self, name: str) -> None:
        self.stand = Stand(name)
        _, robot = load_rig(name)
        self.core = RobotCore(
            robot, LINK, PlantMismatch(), 0, session=SESSION, body=self.stand.rig
        )
        self.codec = Codec(
            self.core.model, DEFAULT_ROBOT_ID, LINK.medium.mtu_bytes, SESSION
        )
        self.now_ns = 50 * NS_PER_S
        self.sequence = 0

    def send(self, mode: StationMode, pose: FloatArray, epoch: int) -> None:
        for limb in range(self.core.model.tip_speed_limit.size):
            self.sequence += 1
            start, stop = self.core.model.limb_segment_start[limb : limb + 2]
            frame = SetpointFrame(
                sequence=self.sequence,
                generated_ns=self.now_ns,
                robot=DEFAULT_ROBOT_ID,
                limb=limb,
                epoch=epoch,
                mode=mode,
                period_ms=20.0,
                coordinates=pose[start:stop],
            )
            self.core.receive(self.now_ns, self.codec.encode(frame))

    def run(
        self, milliseconds: int, mode: StationMode, pose: FloatArray, epoch: int = 1
    ) -> None:
        for index in range(milliseconds):
            if index % 20 == 0:
                self.send(mode, pose, epoch)
            self.now_ns += STEP_NS
            self.core.step(self.now_ns)

    def applied(self, bus: str) -> FloatArray:
        return self.stand.buses[bus].applied.copy()


def test_an_emergency_stop_stops_the_legs() -> None:
    operator = Operator("silver2-modbus")
    rest = operator.core.model.rest_coordinates
    operator.run(40, StationMode.DISARMED, rest, epoch=0)
    operator.run(60, StationMode.ARMED, rest)
    operator.run(10, StationMode.ESTOP, rest)
    assert operator.core.state is RobotState.ESTOP
    before = operator.applied("legs")
    operator.run(100, StationMode.ESTOP, rest)
    assert np.abs(operator.applied("legs") - before).max() < 0.02


@pytest.mark.parametrize("mode", [StationMode.ESTOP, StationMode.DISARMED])
def test_a_stop_stops_what_lags_behind_the_pose(mode: StationMode) -> None:
    operator = Operator("rov-arm-ctrlp")
    rest = operator.core.model.rest_coordinates
    operator.run(60, StationMode.DISARMED, rest, epoch=0)
    operator.run(200, StationMode.ARMED, -2.0 * rest)
    operator.run(10, mode, rest)
    assert operator.core.state in {RobotState.ESTOP, RobotState.HOLD}
    before = operator.applied("pressures")
    operator.run(300, mode, rest)
    assert np.abs(operator.applied("pressures") - before).max() < 1.0  # kPa


def test_an_actuator_over_its_limit_gives_way_in_an_emergency_stop_too() -> None:
    robot = load_robot("ursula")
    assert robot.safety.estop_action == "hold"
    safety = SafetyMachine(robot.safety)
    now_ns = 10 * NS_PER_S
    for sequence, (mode, epoch) in enumerate(
        ((StationMode.DISARMED, 0), (StationMode.ARMED, 3), (StationMode.ESTOP, 3))
    ):
        now_ns += NS_PER_MS
        safety.command(
            now_ns,
            generated_ns=now_ns,
            sequence=sequence,
            mode=mode,
            epoch=epoch,
            period_ms=20.0,
        )
    assert (safety.state, safety.actuation) == (RobotState.ESTOP, STIFF)
    safety.fail(now_ns, "servo 1 is over its limit: 90 deg C")
    assert safety.state is RobotState.ESTOP
    assert safety.actuation is not STIFF


def leg_reading(joints_bus: int, angle: float, *, answered: bool = True) -> Reading:
    value = np.full(joints_bus, angle)
    return Reading(
        1, value, value, value, value, np.full(joints_bus, answered, dtype=np.bool_), ()
    )


@pytest.mark.parametrize("lost", [True, False])
def test_legs_begin_anew_where_they_are(lost: bool) -> None:
    rig, robot = load_rig("silver2-modbus")
    joints = Joints(rig, robot)
    setpoint = np.full(18, np.nan)
    joints.take("legs", leg_reading(18, 0.0))
    for _ in range(1000):
        joints.fill("legs", setpoint, 5e-3, engaged=True)
    if lost:
        joints.take("legs", leg_reading(18, np.nan, answered=False))
    joints.fill("legs", setpoint, 5e-3, engaged=False)
    fallen = -1.5  # rad: the bus was lost, or all was slack, and the robot sank down
    joints.take("legs", leg_reading(18, fallen))
    for _ in range(10):
        joints.fill("legs", setpoint, 5e-3, engaged=False)
    joints.fill("legs", setpoint, 5e-3, engaged=True)
    assert np.abs(setpoint - fallen).max() < 0.05


def test_a_bus_that_brings_nothing_new_ends_the_arming() -> None:
    stand = Stand("ursula-dynamixel")
    stand.run(stand.moved(1.0), COMPLIANT, 100)
    stand.run(stand.moved(1.0), STIFF, 100)
    bus = stand.buses["arms"]
    last = bus.state()
    stand.buses["arms"].state = lambda: last  # type: ignore[method-assign]
    stand.run(stand.moved(1.0), STIFF, 3000)
    assert stand.rig.unsafe


def test_a_servo_that_shut_down_ends_the_arming() -> None:
    stand = Stand("ursula-dynamixel")
    stand.run(stand.moved(1.0), COMPLIANT, 100)
    stand.run(stand.moved(1.0), STIFF, 100)
    stand.buses["arms"].faults = (Fault(2, "Servo 3 shut down: overload.", True),)
    stand.run(stand.moved(1.0), STIFF, 20)
    assert stand.rig.unsafe


def test_a_leg_over_its_temperature_is_unsafe() -> None:
    stand = Stand("silver2-modbus")
    stand.run(stand.moved(1.0), COMPLIANT, 50)
    stand.run(stand.moved(1.0), STIFF, 50)
    stand.buses["legs"].temperature = 95.0  # 70 deg C is what the file's limits say
    stand.run(stand.moved(1.0), STIFF, 20)
    assert stand.rig.unsafe


def test_a_sign_that_chambers_do_not_have_is_refused() -> None:
    with pytest.raises(ValidationError):
        ChamberLineParameters(limb="arm", bus="valves", channels=(1,), sign=(-1,))


def test_a_fault_with_figures_is_not_said_each_round() -> None:
    stand = Stand("ursula-dynamixel")
    stand.run(stand.moved(1.0), COMPLIANT, 50)
    stand.rig.events()
    for silent_ms in range(0, 500, 10):
        text = f"The board does not answer ({silent_ms} ms)."
        stand.buses["arms"].faults = (Fault(-1, text),)
        stand.run(stand.moved(1.0), COMPLIANT, 10)
    assert len(stand.rig.events()) < 10


def test_all_buses_are_closed_whatever_one_does() -> None:
    stand = Stand("ursula-dynamixel")
    closed: list[str] = []

    def fail() -> None:
        raise RuntimeError("a mistake in a driver")

    first, *others = stand.rig.workers
    stand.rig.workers[first] = SimpleNamespace(close=fail)  # type: ignore[assignment]
    for name in others:
        stand.rig.workers[name] = SimpleNamespace(  # type: ignore[assignment]
            close=lambda name=name: closed.append(name)
        )
    with pytest.raises(RuntimeError):
        stand.rig.close()
    assert closed == others


@pytest.mark.parametrize("on_loss", ["hold", "home"])
def test_who_only_watches_does_not_end_what_a_lost_link_began(on_loss: str) -> None:
    robot = load_robot("ursula")
    safety = robot.safety.model_copy(update={"on_loss": on_loss})
    robot = robot.model_copy(update={"safety": safety})
    stand = Stand("ursula-dynamixel")
    model = stand.model
    bridge = Bridge(
        model,
        robot,
        Codec(model, 1, 256),
        PaceBudget(bandwidth_bps=1e6),
        session=SESSION,
        custody=Custody(),
    )
    stations = {peer: Codec(model, 1, 256, SESSION) for peer in (1, 2)}
    now_ns, sequence = 50 * NS_PER_S, 0
    measured = model.rest_coordinates * 0.5

    def send(peer: int, mode: StationMode, epoch: int) -> None:
        nonlocal sequence
        sequence += 1
        frame = SetpointFrame(
            sequence=sequence,
            generated_ns=now_ns,
            robot=1,
            limb=0,
            epoch=epoch,
            mode=mode,
            period_ms=20.0,
            coordinates=measured[:2],
        )
        bridge.receive(now_ns, stations[peer].encode(frame), peer)

    def step(milliseconds: int) -> None:
        nonlocal now_ns
        for index in range(milliseconds):
            now_ns += NS_PER_MS
            if index % 100 == 0:
                send(2, StationMode.DISARMED, 0)
            bridge.step(now_ns, measured)

    step(10)
    send(1, StationMode.DISARMED, 0)
    send(1, StationMode.ARMED, 5)
    assert bridge.state is RobotState.ACTIVE
    after_ms = round(robot.safety.compliant_after_ms)
    step(after_ms + 50)  # the driver's link is lost, the watcher's is not
    step(after_ms + 500)
    assert bridge.safety.actuation is STIFF
    assert bridge.safety.homing is (on_loss == "home")


def test_an_emergency_stop_is_obeyed_whatever_its_clock_says() -> None:
    robot = load_robot("ursula")
    stand = Stand("ursula-dynamixel")
    model, now_ns = stand.model, 50 * NS_PER_S
    bridge = Bridge(
        model,
        robot,
        Codec(model, 1, 256),
        PaceBudget(bandwidth_bps=1e6),
        session=SESSION,
    )
    station = Codec(model, 1, 256, SESSION)
    bridge.step(now_ns, model.rest_coordinates)
    frame = SetpointFrame(
        sequence=1,
        generated_ns=now_ns,
        robot=1,
        limb=0,
        epoch=0,
        mode=StationMode.DISARMED,
        period_ms=20.0,
        coordinates=model.rest_coordinates[:2],
    )
    bridge.receive(now_ns, station.encode(frame))
    ahead_ns = now_ns + 200 * NS_PER_MS  # an offset that is not yet well known
    stop = frame._replace(sequence=2, mode=StationMode.ESTOP, generated_ns=ahead_ns)
    bridge.receive(now_ns, station.encode(stop))
    assert bridge.state is RobotState.ESTOP
