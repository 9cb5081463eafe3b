"""Bridge and plant together, in virtual time, driven by the station's real bytes."""

import hashlib

import numpy as np

from app.clock import NS_PER_MS, NS_PER_S
from app.config.link import load_link
from app.config.robot import load_robot
from app.link.frame import Codec, HelloFrame, SetpointFrame, TelemetryFrame
from app.messages import RobotState, StationMode
from app.robot.core import DEFAULT_ROBOT_ID, STEP_NS, RobotCore
from app.robot.plant import PlantMismatch
from models.numerics import FloatArray

ROBOT = load_robot("ursula")
LINK = load_link("ideal")
START_NS = 50 * NS_PER_S
SESSION = 7


class Station:
    """Sends every limb's setpoint every 20 ms, and listens."""

    def __init__(self, core: RobotCore) -> None:
        self.core = core
        self.codec = Codec(core.model, DEFAULT_ROBOT_ID, LINK.medium.mtu_bytes, SESSION)
        self.now_ns = START_NS
        self.sequence = 0
        self.heard: list[TelemetryFrame] = []
        self.bytes = hashlib.sha256()

    def send(self, mode: StationMode, epoch: int, pose: FloatArray) -> None:
        for limb in range(4):
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
        self,
        milliseconds: int,
        mode: StationMode | None = None,
        epoch: int = 1,
        pose: FloatArray | None = None,
    ) -> None:
        wanted = self.core.model.rest_coordinates if pose is None else pose
        for index in range(milliseconds):
            if mode is not None and index % 20 == 0:
                self.send(mode, epoch, wanted)
            self.now_ns += STEP_NS
            for packet in self.core.step(self.now_ns):
                self.bytes.update(packet)
                frame = self.codec.decode(packet, self.now_ns)
                if isinstance(frame, HelloFrame):
                    assert frame.session == SESSION
                    continue
                assert isinstance(frame, TelemetryFrame)
                self.heard.append(frame)


def station(seed: int = 0, **mismatch: float) -> Station:
    plant = PlantMismatch(**mismatch)
    return Station(RobotCore(ROBOT, LINK, plant, seed, session=SESSION))


def test_a_limb_follows_and_telemetry_tells_so() -> None:
    rig = station()
    goal = rig.core.model.rest_coordinates * 0.6
    rig.run(1000, StationMode.DISARMED, 0)
    rig.run(6000, StationMode.ARMED, 1, goal)
    assert rig.core.state == RobotState.ACTIVE
    last = rig.heard[-1]
    assert last.state == RobotState.ACTIVE
    assert np.max(np.abs((last.coordinates - goal)[:, :2])) < 0.03


def test_engaging_does_not_jerk_the_limb() -> None:
    rig = station(noise=0.0)
    rig.run(6000, StationMode.DISARMED, 0)  # sagged to where compliance lets it
    before = rig.core.body.coordinates.copy()
    rig.run(300, StationMode.ARMED, 1, before)
    # the winches stiffen about this pose; 0.01 rad is the sag of one pretension
    assert np.max(np.abs(rig.core.body.coordinates - before)[:, :2]) < 0.05


def test_silence_takes_the_plant_to_hold_compliant_and_slack() -> None:
    rig = station(noise=0.0)
    rig.run(500, StationMode.DISARMED, 0)
    rig.run(8000, StationMode.ARMED, 1)  # the limbs swing out
    rig.run(4800)
    assert rig.core.state == RobotState.HOLD
    held = rig.core.body.coordinates.copy()
    rig.run(150)
    assert np.max(np.abs(rig.core.body.coordinates - held)) < 1e-3
    rig.run(3000)
    assert rig.core.state == RobotState.COMPLIANT
    rig.run(25_000)
    assert rig.core.state == RobotState.SLACK
    assert np.all(rig.core.body.tension == 0.0)
    assert {frame.state for frame in rig.heard} >= {
        RobotState.ACTIVE,
        RobotState.HOLD,
        RobotState.COMPLIANT,
        RobotState.SLACK,
    }


def test_takes_up_again_after_silence_with_a_new_arming() -> None:
    rig = station()
    rig.run(200, StationMode.DISARMED, 0)
    rig.run(500, StationMode.ARMED, 1)
    rig.run(6000)
    rig.run(100, StationMode.ARMED, 1)
    assert rig.core.state == RobotState.COMPLIANT
    assert rig.heard[-1].epoch == 1, "tells which number is used up"
    rig.run(100, StationMode.ARMED, 2)
    assert rig.core.state == RobotState.ACTIVE


def test_a_robot_that_restarts_in_motion_waits_for_a_new_arming() -> None:
    rig = station()
    rig.run(300, StationMode.ARMED, 9)
    assert rig.core.state == RobotState.IDLE
    rig.run(50, StationMode.DISARMED, 9)
    rig.run(50, StationMode.ARMED, 10)
    assert rig.core.state == RobotState.ACTIVE


def test_a_frozen_limb_is_an_alarm_once_and_recovers_when_compliant() -> None:
    rig = station(noise=0.0)
    rig.run(200, StationMode.DISARMED, 0)
    rig.run(500, StationMode.ARMED, 1)
    rig.core.events()
    rig.core.body.push(0, np.zeros(3), np.full(3, np.nan))
    rig.run(500, StationMode.ARMED, 1)
    texts = [event.text for event in rig.core.events() if "stand still" in event.text]
    assert len(texts) == 1
    rig.core.body.push(0, np.zeros(3), np.zeros(3))
    rig.run(5200, StationMode.DISARMED, 1)
    assert rig.core.state == RobotState.IDLE
    assert rig.core.body.frozen == 0


def test_equal_seeds_give_equal_bytes() -> None:
    digests = []
    for seed in (4, 4, 5):
        rig = station(seed, stiffness=1.1)
        rig.run(100, StationMode.DISARMED, 0)
        rig.run(500, StationMode.ARMED, 1)
        digests.append(rig.bytes.hexdigest())
    assert digests[0] == digests[1] != digests[2]


def test_a_second_robot_does_not_listen() -> None:
    core = RobotCore(ROBOT, LINK, PlantMismatch(), 0, robot_id=2)
    rig = Station(core)
    for mode in (StationMode.DISARMED, StationMode.ARMED):
        rig.send(mode, 1, core.model.rest_coordinates)
    assert core.state == RobotState.IDLE
    assert core.bridge.received == 0


def test_narrow_links_get_narrow_frames() -> None:
    slow = load_link("acoustic-m64")
    core = RobotCore(ROBOT, slow, PlantMismatch(), 0)
    sizes = [
        len(packet)
        for index in range(20_000)
        for packet in core.step(START_NS + index * NS_PER_MS)
    ]
    assert max(sizes) <= slow.medium.mtu_bytes
    # 20 s at 64 bit/s hold 20 packets of 8 bytes, of which 90 % may be used
    assert 8 <= len(sizes) <= 20


def test_modes_of_frames_do_not_depend_on_the_limb_they_name() -> None:
    rig = station()
    rig.run(100, StationMode.DISARMED, 0)
    rig.run(100, StationMode.ARMED, 1)
    frame = SetpointFrame(
        sequence=rig.sequence + 1,
        generated_ns=rig.now_ns,
        robot=DEFAULT_ROBOT_ID,
        limb=3,
        epoch=1,
        mode=StationMode.ESTOP,
        period_ms=20.0,
        coordinates=np.zeros((1, 3)),
    )
    rig.core.receive(rig.now_ns, rig.codec.encode(frame._replace(limb=2)))
    assert rig.core.state == RobotState.ESTOP
