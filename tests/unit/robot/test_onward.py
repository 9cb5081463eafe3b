"""A millisecond in which nothing is decided does what the long way does, to the bit."""

import numpy as np
import pytest

from app.clock import NS_PER_MS, NS_PER_S
from app.config.robot import build_robot_model, load_robot
from app.link.frame import (
    Codec,
    GripTold,
    SetpointFrame,
    SignalField,
    SignalTold,
)
from app.link.pacing import PaceBudget
from app.messages import RobotState, StationMode
from app.robot.bridge import Bridge
from models.numerics import FloatArray

ROBOT = load_robot("ursula")
MODEL = build_robot_model(ROBOT)
LIMB, ROWS = 1, slice(2, 4)
ROBOT_ID = 3
AXIS = MODEL.pose_base_to_hull[LIMB, :3, 2]


def bridge() -> Bridge:
    codec = Codec(MODEL, ROBOT_ID, 256)
    return Bridge(MODEL, ROBOT, codec, PaceBudget(bandwidth_bps=1e6))


def setpoint(now_ns: int, sequence: int, force: float) -> SetpointFrame:
    """A limb that leads its tip about, and pushes."""
    pose = MODEL.rest_coordinates[ROWS].copy()
    pose[:, 0] += 0.1 * np.sin(1e-9 * now_ns)
    x, y, z = (force * AXIS).tolist()
    signal = SignalTold(LIMB, 4, 1, SignalField.FORCE, force=(x, y, z))
    return SetpointFrame(
        sequence=sequence,
        generated_ns=now_ns,
        robot=ROBOT_ID,
        limb=LIMB,
        epoch=7,
        mode=StationMode.ARMED,
        period_ms=20.0,
        coordinates=pose,
        signal=signal if force else None,
        active=True,
    )


def drive(
    robot: Bridge, milliseconds: int, still_from: int = 1500
) -> tuple[list[FloatArray], list[bytes]]:
    """Frames every 20 ms until `still_from`; noise, and a force felt."""
    station, random = Codec(MODEL, ROBOT_ID, 256), np.random.default_rng(3)
    poses, told = [], []
    tension = np.zeros(MODEL.tendon_angle.size)
    start_ns = 100 * NS_PER_S
    robot.step(start_ns - NS_PER_MS, MODEL.rest_coordinates)
    release = setpoint(start_ns, 0, 0.0)._replace(mode=StationMode.DISARMED, epoch=0)
    robot.receive(start_ns - NS_PER_MS, station.encode(release))
    for step in range(milliseconds):
        now_ns = start_ns + step * NS_PER_MS
        measured = MODEL.rest_coordinates + random.normal(
            size=MODEL.rest_coordinates.shape, scale=2e-3
        )
        if 700 <= step < 703:
            measured[ROWS] = np.nan
        contact = np.zeros((4, 3))
        contact[LIMB] = min(1.0, max(0.0, (step - 500) * 1e-2)) * AXIS
        if step % 20 == 5 and step < still_from:
            frame = setpoint(now_ns, 1 + step, 0.0 if step < 200 else 1.0)
            robot.receive(now_ns, station.encode(frame))
        applied = robot.step(now_ns, measured, contact=contact)
        poses.append(applied.coordinates.copy())
        if not robot.is_silent(now_ns):
            told += robot.telemetry(now_ns, measured, tension, felt=contact)
    return poses, told


def test_the_short_way_does_as_the_long_way(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = bridge()
    poses, told = drive(quick, 3000)
    assert quick.state is RobotState.HOLD  # silence was noticed on time
    monkeypatch.setattr(Bridge, "_decided_until_ns", lambda self: 0)
    slow = bridge()
    every_pose, every_word = drive(slow, 3000)
    assert slow.state is RobotState.HOLD
    np.testing.assert_array_equal(poses, every_pose)
    assert told == every_word
    assert np.abs(np.diff(poses, axis=0)).max() > 0.0


def test_nothing_is_decided_anew_between_frames() -> None:
    robot = bridge()
    drive(robot, 1500)
    assert robot.state is RobotState.ACTIVE
    assert not robot.decided


def test_a_setpoint_alone_leaves_nothing_to_decide() -> None:
    robot, station = bridge(), Codec(MODEL, ROBOT_ID, 256)
    drive(robot, 1500)
    now_ns = 100 * NS_PER_S + 1500 * NS_PER_MS
    tension = np.zeros(MODEL.tendon_angle.size)

    def step() -> bool:
        nonlocal now_ns
        now_ns += NS_PER_MS
        robot.step(now_ns, MODEL.rest_coordinates)
        if not robot.is_silent(now_ns):
            robot.telemetry(now_ns, MODEL.rest_coordinates, tension)
        return robot.decided

    def hear(packet: bytes) -> tuple[bool, bool]:
        """Whether the robot knows to be quiet, and whether it then decides."""
        step()
        assert robot.quiet_until_ns > now_ns
        robot.receive(now_ns, packet)
        quiet = robot.quiet_until_ns > now_ns
        decided = step()
        assert not step()
        return quiet, decided

    told = setpoint(now_ns, 1600, 1.0)
    later = [told._replace(sequence=1600 + k) for k in range(3)]
    assert hear(station.encode(later[0])) == (True, False)
    slower = later[1]._replace(uplink_bps=2e5)
    assert hear(station.encode(slower)) == (False, False)
    gripping = later[2]._replace(uplink_bps=2e5, grip=GripTold(LIMB, 1.0))
    assert hear(station.encode(gripping)) == (False, True)
    assert hear(station.encode(later[2])) == (False, True)  # a repeat


def test_a_failure_is_acted_on_in_the_very_millisecond() -> None:
    robot = bridge()
    drive(robot, 1500)
    now_ns = 100 * NS_PER_S + 1500 * NS_PER_MS
    robot.step(now_ns, MODEL.rest_coordinates, unsafe="a bus is gone")
    assert robot.state is not RobotState.ACTIVE
    assert robot.decided
