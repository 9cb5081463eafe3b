"""What is said and drawn of forces, surfaces, energy and the model's error.

Tolerance: words are exact; a pixel for what is projected.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PyQt6.QtCore import QRectF
from PyQt6.QtGui import QFontMetrics, QImage, QPainter

from app.clock import NS_PER_MS
from app.config.robot import load_robot
from app.console.arrows import draw_forces
from app.console.energy import (
    draw_energy_bar,
    draw_energy_words,
    energy_share,
    energy_words,
)
from app.console.objects import ObjectTracker
from app.console.overlay import LIMB_PLATE_LINES, limb_plate_width
from app.console.readings import StationReadings
from app.console.scene_frame import build_scene_frame
from app.console.theme import ALARM, FELT_COLOR, GOOD, base_pixel_size, color, font
from app.console.touch import (
    Line,
    coast_m,
    grip_words,
    limb_lines,
    surface_words,
)
from app.messages import InputMode, Source, StationMode
from app.scene import OrbitCamera
from app.teleop.goals import GoalKind, GoalState
from app.teleop.strategy import Strategy
from models.environment_report import SPHERE, SurfaceStatus
from tests.unit.console.stand import MODEL, ROBOT, StandStation

pytestmark = pytest.mark.usefixtures("qapp")
PX = 1.5
LIMB = 1
FORCE = np.array([0.9, 0.0, 1.2])


@pytest.fixture
def station(tmp_path: Path) -> StandStation:
    made = StandStation(tmp_path / "session")
    made.selected = LIMB
    return made


def _read(station: StandStation, **state: object) -> StationReadings:
    station.state_also.update(state)
    station.step()
    readings = StationReadings(station.folder, MODEL)
    readings.refresh(int(station.blocks.state.local.time_ns[0]))
    return readings


def _of(values: object) -> list[object]:
    return [0, values, 0, 0]


def _lines(station: StandStation, **state: object) -> list[Line]:
    return limb_lines(_read(station, **state), ROBOT, MODEL)


def test_forces_have_a_size_a_unit_and_the_robots_an_age(station: StandStation) -> None:
    station.health_also["contact_force"] = [np.zeros(3), FORCE, np.zeros(3), FORCE]
    lines = [text for text, _ in _lines(station, force_hand=[0.3, 0.4, 0.0])]
    assert "hand pushes 0.50 N" in lines
    assert "robot felt 1.50 N, 40 ms ago" in lines


def test_a_strategy_without_force_says_nothing_of_the_hand(
    station: StandStation,
) -> None:
    station.strategy = int(Strategy.PREDICTIVE)
    lines = [text for text, _ in _lines(station)]
    assert not any(text.startswith("hand pushes") for text in lines)
    assert any(text.startswith("robot felt") for text in lines)


def test_the_surface_tells_stiffness_and_age_and_what_is_wrong(
    station: StandStation,
) -> None:
    station.health_also["report_exponent"] = 1.0
    before = _read(station)
    assert surface_words(before, LIMB) == []
    since = before.now_ns - 2500 * NS_PER_MS
    known = {
        "surface_known": _of(1),
        "surface_stiffness": _of(849.6),
        "surface_estimated_ns": _of(since),
        "surface_status": _of(SurfaceStatus.AS_KNOWN),
    }
    assert surface_words(_read(station, **known), LIMB) == [
        ("surface 850 N/m, 2.5 s old", 1)
    ]
    for status, loud, word in (
        (SurfaceStatus.MOVED, 2, "moved"),
        (SurfaceStatus.CHANGED, 2, "softer or stiffer"),
        (SurfaceStatus.GONE, 3, "GONE"),
        (SurfaceStatus.NOT_EXPLAINED, 3, "NOT EXPLAINED"),
    ):
        told = surface_words(_read(station, surface_status=_of(status)), LIMB)[-1]
        assert told[1] == loud
        assert word in told[0]
        assert ": " in told[0]  # and what to do
    station.health_also["report_exponent"] = 1.3
    assert "850 N/m^1.3" in surface_words(_read(station), LIMB)[0][0]


def test_the_models_error_is_a_number_and_loud_where_it_explains_nothing(
    station: StandStation,
) -> None:
    assert ("model differs from robot by 4.3 mm", 1) in _lines(
        station, mismatch=_of(0.0043)
    )
    assert ("model differs from robot by 4.3 mm", 3) in _lines(
        station, unexplained=_of(1)
    )


def test_coasting_is_speed_times_round_trip_and_reaction() -> None:
    assert coast_m(0.05, 2000.0) == pytest.approx(0.1125)
    assert np.isnan(coast_m(0.05, float("nan")))


def test_move_and_wait_shows_what_was_told_and_how_far_it_would_coast(
    station: StandStation,
) -> None:
    station.strategy = int(Strategy.MOVE_AND_WAIT)
    station.health_also["rtt_ms"] = 2000.0
    station.mode = StationMode.ARMED
    most = 1e3 * coast_m(float(MODEL.tip_speed_limit[LIMB]), 2000.0)
    readings = _read(station, surface_known=_of(1), unexplained=_of(1))
    lines = limb_lines(readings, ROBOT, MODEL)
    assert lines[0] == (f"coasts 0 mm if let go (at most {most:.0f})", 1)
    assert not any("model" in text or "surface" in text for text, _ in lines)
    readings.tip_speed[LIMB] = 0.05
    readings.state.active_source[0] = Source.CONSOLE
    readings.inputs[Source.CONSOLE].mode[0] = InputMode.RATE
    assert limb_lines(readings, ROBOT, MODEL)[0] == (
        f"coasts 112 mm if let go (at most {most:.0f})",
        2,
    )


@pytest.mark.parametrize("strategy", list(Strategy))
def test_only_move_and_wait_hides_model_target_and_surfaces(
    station: StandStation, strategy: Strategy
) -> None:
    station.strategy = int(strategy)
    readings = _read(
        station,
        surface_known=_of(1),
        surface_kind=_of(SPHERE),
        surface_radius=_of(0.1),
        surface_point=[np.zeros(3), np.array([0.5, 0.1, 0.2])] + 2 * [np.zeros(3)],
        surface_normal=[np.zeros(3), np.array([-1.0, 0.0, 0.0])] + 2 * [np.zeros(3)],
    )
    frame = build_scene_frame(readings.now_ns, readings, None, skin=True)
    hidden = strategy == Strategy.MOVE_AND_WAIT
    assert frame.ghosts is not hidden
    assert frame.trail is not hidden
    assert (frame.target is None) is hidden
    assert len(frame.surfaces) == (0 if hidden else 1)
    if not hidden:  # the mark lies on the ball, not at its centre
        np.testing.assert_allclose(frame.surfaces[0].point, [0.4, 0.1, 0.2])


def test_before_the_first_telemetry_the_model_stands_in(station: StandStation) -> None:
    station.strategy = int(Strategy.MOVE_AND_WAIT)
    station.heard = False
    readings = _read(station)
    assert build_scene_frame(readings.now_ns, readings, None, skin=True).ghosts


def test_a_robot_that_has_not_followed_a_bilateral_strategy_is_told_of(
    station: StandStation,
) -> None:
    station.strategy = int(Strategy.WAVES)
    station.health_also.update(heard_limb=LIMB, heard_strategy=Strategy.TWO_PORT)
    waits = ("robot has not taken this up yet", 2)
    assert waits not in _lines(station)  # nobody is in charge
    assert waits in _lines(station, active_source=Source.CONSOLE)
    station.health_also.update(heard_strategy=Strategy.WAVES)
    assert waits not in _lines(station)


def test_a_grip_is_named_where_there_is_a_gripper(station: StandStation) -> None:
    readings = _read(station, grip=[0.0, 1.0, 0.6, 0.0])
    words = [grip_words(readings, ROBOT, limb) for limb in range(4)]
    assert words == ["", "grip closed", "grip 60 %", ""]
    silver = load_robot("silver2")
    assert silver.limbs[0].gripper is not None
    assert grip_words(readings, silver, 0) == "grip open"


def test_every_line_fits_its_plate(station: StandStation) -> None:
    station.health_also.update(
        contact_force=np.full((4, 3), 7.0),
        rtt_ms=9_876.0,
        report_exponent=1.3,
    )
    station.pose_age_ms = 98_765.0
    longest = {
        "force_hand": np.full(3, 7.0),
        "mismatch": _of(0.1234),
        "reach_error": _of(0.4444),
        "surface_known": _of(1),
        "surface_stiffness": _of(12_345.0),
        "active_source": Source.CONSOLE,
        "grip": _of(0.66),
    }
    for size in (12, 16):
        metrics = QFontMetrics(font(size, bold=True))
        for strategy in Strategy:
            station.strategy = int(strategy)
            for status in SurfaceStatus:
                lines = _lines(station, surface_status=_of(status), **longest)
                assert len(lines) <= LIMB_PLATE_LINES
                for text, _ in lines:
                    width = metrics.horizontalAdvance(text)
                    assert width < limb_plate_width(size) - 16, text


def _painted(draw: Callable[[QPainter], None]) -> np.ndarray:
    image = QImage(640, 480, QImage.Format.Format_RGB32)
    image.fill(0)
    painter = QPainter(image)
    draw(painter)
    painter.end()
    bits = image.constBits()
    assert bits is not None
    pixels = np.frombuffer(bits.asstring(image.sizeInBytes()), dtype=np.uint8)
    return pixels.reshape(480, 640, 4)[..., 2::-1].astype(int)


def _where(pixels: np.ndarray, shade: str) -> np.ndarray:
    wanted = np.array(color(shade).getRgb()[:3])
    return np.argwhere(np.abs(pixels - wanted).max(axis=2) < 3)[:, ::-1]


def test_an_arrow_begins_at_the_tip_and_points_where_the_tip_pushes(
    station: StandStation,
) -> None:
    station.health_also["contact_force"] = [
        np.zeros(3),
        FORCE,
        np.zeros(3),
        0.1 * FORCE,
    ]
    readings = _read(station)
    camera = OrbitCamera(640, 480)
    drawn = _where(
        _painted(lambda painter: draw_forces(painter, camera, readings)), FELT_COLOR
    )
    tip = readings.tip_confirmed[LIMB]
    start = np.array(camera.project(tip)[:2])
    head = np.array(camera.project(tip + 0.08 * FORCE)[:2])
    way = (head - start) / np.linalg.norm(head - start)
    assert np.linalg.norm(drawn - start, axis=1).min() < 2 * PX
    # its point is thinner than a pixel, so that its last ones are not of full colour
    assert np.linalg.norm(drawn - head, axis=1).min() < 3 * PX
    assert ((drawn - start) @ way).min() > -4.0  # nothing behind the tip


def test_a_force_too_small_to_be_felt_is_not_drawn(station: StandStation) -> None:
    station.health_also["contact_force"] = np.full((4, 3), 0.02)
    readings = _read(station)
    camera = OrbitCamera(640, 480)
    assert not _painted(lambda painter: draw_forces(painter, camera, readings)).any()


def test_the_tube_is_the_selected_limbs_and_of_alarms(station: StandStation) -> None:
    readings = _read(station, tube=np.full(4, 0.05), unexplained=[0, 0, 1, 0])
    station.selected = LIMB
    frame = build_scene_frame(readings.now_ns, readings, None, skin=True)
    assert frame.tube is not None
    shown = np.zeros(4)
    shown[[int(readings.state.selected_limb[0]), 2]] = 0.05
    assert frame.tube == pytest.approx(shown)
    station.strategy = int(Strategy.MOVE_AND_WAIT)
    readings = _read(station)
    assert build_scene_frame(readings.now_ns, readings, None, skin=True).tube is None


def test_a_limb_that_is_not_the_operators_says_so(station: StandStation) -> None:
    hold = np.zeros(4, dtype=int)
    hold[int(_read(station).state.selected_limb[0])] = 2
    station.health_also["goal_hold"] = hold
    assert ("listens to goals: F11 gives it back", 2) in _lines(station)
    station.health_also["goal_hold"] = 0
    station.strategy = int(Strategy.SUPERVISED)
    assert any("F9" in text for text, _ in _lines(station))
    station.strategy = int(Strategy.PREDICTIVE)
    assert ("assistance has 60 % of its speed", 1) in _lines(station, blend_share=0.6)


def test_the_mark_of_a_goal_is_where_it_goes_and_stays_a_while(
    station: StandStation,
) -> None:
    station.health_also.update(
        goal_number=3,
        goal_kind=int(GoalKind.FOLLOW),
        goal_limb=LIMB,
        goal_state=int(GoalState.RUNNING),
        goal_position=(0.5, 0.1, 0.2),
        goal_points=1,
        goal_path=np.full((7, 3), 0.3),
        goal_tolerance=0.01,
    )
    readings = _read(station)
    mark = build_scene_frame(readings.now_ns, readings, None, skin=True).goal
    assert mark is not None
    assert mark.place == pytest.approx((0.5, 0.1, 0.2))
    assert len(mark.path) == 2
    assert mark.outcome == 0
    station.health_also.update(goal_state=int(GoalState.FAILED), goal_ended_ns=1)
    readings = _read(station)
    failed = build_scene_frame(5_000_000_000, readings, None, skin=True).goal
    assert failed is not None
    assert failed.outcome == 2
    assert build_scene_frame(9_000_000_000, readings, None, skin=True).goal is None


def test_an_object_stands_where_it_was_seen_and_goes_with_the_limb_that_holds_it(
    station: StandStation,
) -> None:
    tracker = ObjectTracker(MODEL)
    readings = _read(station)
    assert np.isnan(tracker.poses(readings, 2)).all()
    assert tracker.words(readings, 0) == ("as in the scene's file", True)
    told_ns = readings.now_ns - 500 * NS_PER_MS
    place = readings.tip_confirmed[LIMB] + [0.02, 0.0, 0.03]
    station.health_also.update(
        object_told_ns=np.array([told_ns] + [0] * 7),
        object_holder=np.full(8, LIMB),
        object_position=np.tile(place, (8, 1)),
        object_turn=np.tile([1.0, 0.0, 0.0, 0.0], (8, 1)),
    )
    readings = _read(station)
    poses = tracker.poses(readings, 2)
    assert poses[0, :3, 3] == pytest.approx(place)
    assert np.isnan(poses[1]).all()
    words, old = tracker.words(readings, 0)
    assert words.endswith("ago, held")
    assert not old
    before = readings.tip_confirmed[LIMB].copy()
    station.coordinates[MODEL.limb_segment_start[LIMB], 0] += 0.2
    readings = _read(station)
    moved = tracker.poses(readings, 2)[0]
    assert np.linalg.norm(readings.tip_confirmed[LIMB] - before) > 0.05
    gap = moved[:3, 3] - readings.tip_confirmed[LIMB]
    assert np.linalg.norm(gap) == pytest.approx(np.hypot(0.02, 0.03), abs=1e-6)


@pytest.mark.parametrize(
    ("energy", "words"),
    [
        (0.0, "0.0 mJ"),
        (-4e-5, "0.0 mJ"),
        (0.0123, "+12.3 mJ"),
        (-0.0042, "−4.2 mJ"),
        (9.9999, "+9999.9 mJ"),
        (250.0, "+250.0 J"),
    ],
)
def test_energies_in_words(energy: float, words: str) -> None:
    assert energy_words(energy) == words


def test_the_meter_grows_with_energy_and_ends_at_its_ends() -> None:
    shares = [energy_share(value) for value in (-1e3, -1e-2, 0.0, 1e-4, 1.0, 10.0)]
    assert shares == sorted(shares)
    assert (shares[0], shares[2], shares[-1]) == (-1.0, 0.0, 1.0)


@pytest.mark.parametrize(
    ("port", "injected", "shade", "side"),
    [(0.1, 0.0, GOOD, 1), (-0.1, 0.1, ALARM, -1)],
)
def test_green_to_the_right_was_absorbed_red_to_the_left_injected(
    port: float, injected: float, shade: str, side: int
) -> None:
    bar = QRectF(20.0, 100.0, 200.0, 4.0)
    pixels = _painted(lambda painter: draw_energy_bar(painter, bar, port, injected))
    columns = _where(pixels, shade)[:, 0]
    assert (side * (columns - 120) > 0).mean() > 0.95
    assert np.abs(columns - 120).max() == pytest.approx(
        100.0 * energy_share(0.1), abs=2 * PX
    )


def test_what_was_injected_stays_in_red_after_it_was_taken_back() -> None:
    row = QRectF(0.0, 100.0, 300.0, 20.0)

    def draw(painter: QPainter) -> None:
        painter.setFont(font(base_pixel_size()))
        draw_energy_words(painter, row, 0.5, 2e-4)

    assert _where(_painted(draw), ALARM).size > 0
    bar = QRectF(20.0, 100.0, 200.0, 4.0)
    pixels = _painted(lambda painter: draw_energy_bar(painter, bar, 0.5, 2e-4))
    assert _where(pixels, ALARM)[:, 0].max() < 120
