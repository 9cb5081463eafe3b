"""Scripted operators: their paths, and when they arm, wait and end."""

import math

import numpy as np
import pytest

from app.clock import NS_PER_MS, NS_PER_S
from app.config.robot import build_robot_model, load_robot
from app.control.mailbox import Layout
from app.errors import ConfigError
from app.messages import (
    InputMode,
    LinkHealth,
    OperatorInput,
    RobotState,
    Source,
    StationMode,
    StationState,
    health_shapes,
    state_shapes,
)
from app.operator.paths import Dome, minimum_jerk
from app.operator.pilot import VirtualPilot
from app.operator.scripted import (
    PATH_NAMES,
    SCRIPTED_NAMES,
    ScriptedOperator,
    make_scripted,
)
from app.operator.supervisor import SUPERVISOR
from app.operator.virtual_gamepad import VirtualGamepad
from models.arc import arc_pose
from models.numerics import FloatArray

# closed forms in double precision; Newton's method stops near 1e-13
TOLERANCE = 1e-9

MODEL = build_robot_model(load_robot("ursula"))
CAMERA = 2  # one segment
GRASPER = 0  # two segments


def rest_tip(limb: int, coordinates: FloatArray | None = None) -> FloatArray:
    """Tip of a limb at rest, or at coordinates (n, 3), in the hull frame [m]."""
    start, stop = MODEL.limb_segment_start[limb : limb + 2]
    rest = MODEL.rest_coordinates[start:stop] if coordinates is None else coordinates
    pose = MODEL.pose_base_to_hull[limb].copy()
    for k, (x, y, extension) in enumerate(rest):
        step = np.empty((4, 4))
        arc_pose(x, y, MODEL.segment_length[start + k] + extension, step)
        pose = pose @ step
    tip: FloatArray = pose[:3, 3].copy()
    return tip


class Stage:
    """A station and a robot as a scripted operator sees them, and what it does."""

    def __init__(self, operator: ScriptedOperator, limb: int = GRASPER) -> None:
        state_layout = Layout(StationState, state_shapes(MODEL))
        health_layout = Layout(LinkHealth, health_shapes(MODEL))
        self.operator = operator
        self.limb = limb
        self.state = state_layout.view(np.zeros(state_layout.words, dtype=np.int64))
        self.health = health_layout.view(np.zeros(health_layout.words, dtype=np.int64))
        self.health.telemetry_limit_ns[0] = NS_PER_S
        self.state.active_source[0] = -1
        self.state.tip_commanded[limb] = rest_tip(limb)
        self.state.target_position[limb] = rest_tip(limb)
        self.now_ns = 10 * NS_PER_S
        self.telemetry = True
        self.obedient = True  # arms when asked, and the robot follows
        self.arms = 0
        self.disarms = 0

    def step(self, step_ns: int = 2 * NS_PER_MS) -> OperatorInput:
        """Let the operator act once; the station obeys, the tip follows at once."""
        self.now_ns += step_ns
        if self.telemetry:
            self.health.robot_heard_ns[0] = self.now_ns - 50 * NS_PER_MS
        sample = self.operator.step(self.now_ns, self.state, self.health)
        if sample.arm_count > self.arms and self.obedient:
            self.state.mode[0] = StationMode.ARMED
            self.state.arm_refusal[0] = 0
            self.health.robot_state[0] = RobotState.ACTIVE
        if sample.disarm_count > self.disarms:
            self.state.mode[0] = StationMode.DISARMED
            self.state.arm_refusal[0] = 0
        self.arms, self.disarms = sample.arm_count, sample.disarm_count
        if sample.deadman:
            self.state.active_source[0] = Source.SCRIPT
            self.state.tip_commanded[self.limb] = sample.target
            self.state.target_position[self.limb] = sample.target
        else:
            self.state.active_source[0] = -1
        return sample

    def run(self, seconds: float, step_ns: int = 2 * NS_PER_MS) -> list[OperatorInput]:
        """Act for a while; return the samples."""
        return [self.step(step_ns) for _ in range(int(seconds * NS_PER_S / step_ns))]

    def let_go(self) -> None:
        """The robot lets go by itself; the station disarms and says so."""
        self.health.robot_state[0] = RobotState.COMPLIANT
        self.state.mode[0] = StationMode.DISARMED
        self.state.arm_refusal[0] = 7


def driven(samples: list[OperatorInput]) -> FloatArray:
    """Targets (n, 3) of the samples that drive."""
    return np.array([sample.target for sample in samples if sample.deadman])


def test_minimum_jerk_is_smooth_at_both_ends() -> None:
    h = 1e-5
    assert minimum_jerk(0.0) == 0.0
    assert minimum_jerk(1.0) == 1.0
    assert minimum_jerk(0.5) == pytest.approx(0.5)
    assert minimum_jerk(h) < 1e-13
    assert 1.0 - minimum_jerk(1.0 - h) < 1e-13
    assert (minimum_jerk(0.5 + h) - minimum_jerk(0.5 - h)) / (2 * h) == pytest.approx(
        1.875, abs=1e-6
    )


@pytest.mark.parametrize("bend", [0.0, 1e-7, 0.01, 0.35, 1.0, 1.5, 2.1])
@pytest.mark.parametrize("direction", [0.0, 1.0, -2.5])
def test_the_dome_is_the_surface_that_an_arc_sweeps(
    bend: float, direction: float
) -> None:
    coordinates = np.array(
        [[bend * math.cos(direction), bend * math.sin(direction), -0.013]]
    )
    tip = rest_tip(CAMERA, coordinates)
    base = MODEL.pose_base_to_hull[CAMERA]
    dome = Dome.through(base, tip)
    assert dome.length == pytest.approx(0.587, abs=TOLERANCE)
    across = (base[:3, :3].T @ (tip - base[:3, 3]))[:2]
    np.testing.assert_allclose(dome.point(across), tip, atol=TOLERANCE)


def test_a_place_beyond_the_dome_is_brought_back_to_its_rim() -> None:
    base = np.eye(4)
    dome = Dome(base, 0.6)
    far = dome.point(np.array([5.0, 0.0]))
    assert far[0] == pytest.approx(0.6 * (1.0 - math.cos(2.2)) / 2.2, abs=TOLERANCE)
    assert far[1] == 0.0


@pytest.mark.parametrize("name", PATH_NAMES)
def test_a_one_segment_limb_can_follow_without_changing_its_length(name: str) -> None:
    stage = Stage(make_scripted(name, MODEL, limb=CAMERA), CAMERA)
    targets = driven(stage.run(20.0, 20 * NS_PER_MS))
    assert len(targets) > 800
    base = MODEL.pose_base_to_hull[CAMERA]
    for target in targets[::20]:
        x, y, z = base[:3, :3].T @ (target - base[:3, 3])
        bend = 2.0 * math.atan2(math.hypot(x, y), z)
        direction = math.atan2(y, x)
        tip = rest_tip(
            CAMERA,
            np.array([[bend * math.cos(direction), bend * math.sin(direction), 0.0]]),
        )
        np.testing.assert_allclose(tip, target, atol=1e-7)


@pytest.mark.parametrize("name", PATH_NAMES)
@pytest.mark.parametrize("plane", ["dome", "xy", "xz", "yz"])
def test_it_starts_at_the_tip_from_rest_and_keeps_its_speed(
    name: str, plane: str
) -> None:
    speed = 0.05
    stage = Stage(make_scripted(name, MODEL, speed=speed, plane=plane))  # type: ignore[arg-type]
    period = 0.005
    targets = driven(stage.run(12.0, 5 * NS_PER_MS))
    np.testing.assert_allclose(targets[0], rest_tip(GRASPER), atol=TOLERANCE)
    speeds = np.linalg.norm(np.diff(targets, axis=0), axis=1) / period
    assert speeds[0] < 1e-3
    assert speeds.max() == pytest.approx(speed, rel=1e-3)
    jerks = np.abs(np.diff(speeds)).max() / period
    assert jerks < 0.2  # [m/s2]: no step in the speed


def test_the_flat_circle_is_a_circle_with_its_centre_toward_the_axis() -> None:
    stage = Stage(make_scripted("circle", MODEL, size=0.04, plane="yz"))
    targets = driven(stage.run(20.0, 10 * NS_PER_MS))
    tip = rest_tip(GRASPER)
    np.testing.assert_allclose(targets[:, 0], tip[0], atol=TOLERANCE)
    centre = 0.5 * (targets.max(axis=0) + targets.min(axis=0))
    radius = np.linalg.norm(targets - centre, axis=1)
    np.testing.assert_allclose(radius, 0.04, atol=1e-5)
    base = MODEL.pose_base_to_hull[GRASPER]

    def off_axis(point: FloatArray) -> float:
        return float(np.linalg.norm(np.cross(base[:3, 2], point - base[:3, 3])))

    assert off_axis(centre) < off_axis(tip)


def test_the_flat_line_goes_out_and_comes_back() -> None:
    stage = Stage(make_scripted("line", MODEL, size=0.1, plane="xy"))
    targets = driven(stage.run(16.0, 10 * NS_PER_MS))
    along = rest_tip(GRASPER)[0] - targets[:, 0]  # toward the hull
    assert along.max() == pytest.approx(0.1, abs=1e-4)
    assert along.min() >= -TOLERANCE
    assert along[len(along) // 2 :].min() < 0.05


def test_it_waits_for_telemetry_then_for_arming() -> None:
    stage = Stage(make_scripted("circle", MODEL))
    stage.telemetry = False
    stage.obedient = False
    samples = stage.run(3.0)
    assert samples[-1].arm_count == 0
    assert samples[-1].present
    assert samples[-1].mode == InputMode.NEUTRAL
    stage.telemetry = True
    samples = stage.run(1.0)
    assert samples[-1].arm_count == 1
    assert not samples[-1].deadman  # refused: it does not drive
    assert stage.run(1.9)[-1].arm_count == 2  # asks again, not oftener than every 2 s
    stage.obedient = True
    samples = stage.run(2.5)
    assert samples[-1].arm_count == 3
    assert samples[-1].deadman
    assert samples[-1].mode == InputMode.TARGET


def test_no_press_before_the_station_has_seen_it() -> None:
    stage = Stage(make_scripted("circle", MODEL))
    assert stage.step().arm_count == 0
    assert stage.run(0.09)[-1].arm_count == 0
    assert stage.run(0.1)[-1].arm_count == 1


def test_arming_is_at_most_every_two_seconds() -> None:
    stage = Stage(make_scripted("circle", MODEL))
    stage.obedient = False
    counts = [sample.arm_count for sample in stage.run(10.0)]
    assert counts[-1] == 5
    steps = np.flatnonzero(np.diff(counts)) * 0.002
    assert np.diff(steps).min() >= 2.0 - 0.002


def test_when_the_robot_lets_go_it_arms_anew_and_resumes_its_path() -> None:
    stage = Stage(make_scripted("circle", MODEL, plane="yz", speed=0.05))
    before = driven(stage.run(8.0))
    stage.let_go()
    # meanwhile the limb sank: the station adopts the confirmed pose
    sunk = rest_tip(GRASPER) + np.array([-0.02, 0.0, -0.05])
    stage.state.tip_commanded[GRASPER] = sunk
    samples = stage.run(8.0)
    assert not samples[0].deadman
    assert samples[-1].arm_count == 2
    after = driven(samples)
    np.testing.assert_allclose(after[0], sunk, atol=TOLERANCE)
    speeds = np.linalg.norm(np.diff(after, axis=0), axis=1) / 0.002
    assert speeds.max() == pytest.approx(0.05, rel=1e-3)
    # it comes to rest where it left the path, then goes on
    gaps = np.linalg.norm(after - before[-1], axis=1)
    back = int(gaps.argmin())
    assert gaps[back] < 2e-4
    assert speeds[back - 5 : back + 5].max() < 1e-3
    assert abs(after[-1][0] - before[-1][0]) < TOLERANCE  # back in the same plane


def test_old_telemetry_makes_it_pause() -> None:
    stage = Stage(make_scripted("circle", MODEL))
    assert stage.run(3.0)[-1].deadman
    stage.telemetry = False
    assert not stage.run(1.5)[-1].deadman
    stage.telemetry = True
    assert stage.step().deadman
    assert stage.arms == 1


def test_a_robot_that_never_follows_gets_a_new_arming() -> None:
    stage = Stage(make_scripted("circle", MODEL))
    stage.run(0.2)
    stage.health.robot_state[0] = RobotState.IDLE
    samples = stage.run(6.0)
    assert samples[-1].disarm_count == 1
    assert samples[-1].arm_count == 2
    assert not stage.operator.events()


def test_it_is_patient_on_a_slow_link() -> None:
    stage = Stage(make_scripted("circle", MODEL))
    stage.health.rtt_ms[0] = 4000.0
    stage.run(0.2)
    stage.health.robot_state[0] = RobotState.IDLE
    assert stage.run(11.0)[-1].disarm_count == 0
    assert stage.run(2.0)[-1].disarm_count == 1


@pytest.mark.parametrize("how", [StationMode.DISARMED, StationMode.ESTOP])
def test_a_person_who_stops_it_has_the_last_word(how: StationMode) -> None:
    stage = Stage(make_scripted("circle", MODEL))
    assert stage.run(3.0)[-1].deadman
    stage.state.mode[0] = how
    samples = stage.run(1.0)
    assert not any(sample.deadman for sample in samples)
    stage.state.mode[0] = StationMode.DISARMED
    assert stage.run(5.0)[-1].arm_count == 1
    (event,) = stage.operator.events()
    assert "has ended" in event.text


def test_it_yields_to_a_person_in_charge() -> None:
    stage = Stage(make_scripted("circle", MODEL))
    stage.run(3.0)
    stage.state.active_source[0] = Source.GAMEPAD
    assert not stage.step().deadman


def test_it_never_arms_a_stopped_robot() -> None:
    stage = Stage(make_scripted("circle", MODEL))
    stage.health.robot_state[0] = RobotState.ESTOP
    assert stage.run(5.0)[-1].arm_count == 0


def test_same_seed_same_hand() -> None:
    def hand(seed: int) -> FloatArray:
        stage = Stage(make_scripted("circle", MODEL, tremor=2e-4, seed=seed))
        return driven(stage.run(3.0))

    np.testing.assert_array_equal(hand(1), hand(1))
    smooth = driven(Stage(make_scripted("circle", MODEL)).run(3.0))
    assert np.abs(hand(1) - hand(2)).max() > 1e-5
    assert np.abs(hand(1) - smooth).max() < 1e-3


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "square"}, ["'square'", "circle, line"]),
        ({"limb": 4}, ["No limb 4", "0 to 3"]),
        ({"speed": 0.3}, ["0.3 m/s", "0.2 m/s"]),
        ({"size": 60.0}, ["60 m", "0.6 m"]),
        ({"plane": "zz"}, ["'zz'", "dome"]),
    ],
)
def test_wrong_wishes_are_explained(
    changes: dict[str, object], words: list[str]
) -> None:
    with pytest.raises(ConfigError) as caught:
        make_scripted(**({"name": "circle", "model": MODEL} | changes))  # type: ignore[arg-type]
    for word in words:
        assert word in str(caught.value)


def test_the_supervisor_arms_and_moves_nothing() -> None:
    samples = Stage(make_scripted(SUPERVISOR, MODEL)).run(1.0)
    assert samples[-1].arm_count == 1
    assert not any(sample.deadman for sample in samples)


@pytest.mark.parametrize(
    "name", [name for name in SCRIPTED_NAMES if name != SUPERVISOR]
)
def test_each_begins_at_the_tip_and_keeps_to_the_hand_s_speed(name: str) -> None:
    stage = Stage(make_scripted(name, MODEL))
    stage.health.confirmed_generated_ns[:] = 1
    start, stop = MODEL.limb_segment_start[GRASPER : GRASPER + 2]
    rest = MODEL.rest_coordinates[start:stop]
    stage.state.coordinates_model[start:stop] = rest
    stage.health.confirmed_coordinates[start:stop] = rest
    targets = driven(stage.run(2.0))
    np.testing.assert_allclose(targets[0], rest_tip(GRASPER), atol=TOLERANCE)
    speeds = np.linalg.norm(np.diff(targets, axis=0), axis=1) / 0.002
    assert speeds.max() <= 0.06 * (1.0 + 1e-6)


def test_the_pilot_taps_start_then_holds_the_deadman_and_turns_the_sticks() -> None:
    pad = VirtualGamepad()
    pilot = VirtualPilot(pad, deflection=0.6, round_s=8.0)
    stage = Stage(make_scripted("circle", MODEL))
    seen = []
    for _ in range(1000):
        stage.now_ns += 2 * NS_PER_MS
        stage.health.robot_heard_ns[0] = stage.now_ns
        pilot.step(stage.now_ns, stage.state, stage.health)
        reading = pad.wanted
        seen.append(reading)
        if "start" in reading.buttons:
            stage.state.mode[0] = StationMode.ARMED
            stage.health.robot_state[0] = RobotState.ACTIVE
    taps = [reading for reading in seen if "start" in reading.buttons]
    assert len(taps) == 50  # 100 ms
    assert "rightshoulder" not in seen[0].buttons
    assert seen[-1].buttons == {"rightshoulder"}
    assert max(abs(reading.left[0]) for reading in seen) == pytest.approx(0.6)
    stage.state.mode[0] = StationMode.DISARMED
    pilot.step(stage.now_ns, stage.state, stage.health)
    assert pad.wanted.buttons == frozenset()
    assert pad.wanted.left == (0.0, 0.0)
    assert len(pilot.events()) == 1
