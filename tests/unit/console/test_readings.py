"""What the console knows: fresh, stale, gone, and back again."""

import os
from pathlib import Path

import numpy as np
import pytest

from app.clock import NS_PER_MS, NS_PER_S
from app.console.readings import StationReadings
from app.errors import ProcessError
from app.messages import Severity
from models.tip import limb_tips
from tests.unit.console.stand import CLOCK, MODEL, StandStation

EXACT = 1e-12  # [m]; sums of a few products


@pytest.fixture
def station(tmp_path: Path) -> StandStation:
    return StandStation(tmp_path / "session")


def test_straight_limbs_end_their_length_from_the_base() -> None:
    tips = limb_tips(MODEL, np.zeros_like(MODEL.rest_coordinates))
    for limb in range(4):
        base = MODEL.pose_base_to_hull[limb]
        np.testing.assert_allclose(
            tips[limb], base[:3, 3] + 0.6 * base[:3, 2], atol=EXACT
        )


def test_a_missing_session_is_named(tmp_path: Path) -> None:
    with pytest.raises(ProcessError, match="not running"):
        StationReadings(tmp_path, MODEL)


def test_it_waits_then_lives_then_stands_still(station: StandStation) -> None:
    readings = StationReadings(station.folder, MODEL)
    readings.refresh(CLOCK.now_ns())
    assert readings.waiting
    assert not readings.is_alive
    station.step()
    now_ns = CLOCK.now_ns()
    readings.refresh(now_ns)
    assert readings.is_alive
    assert not readings.waiting
    readings.refresh(now_ns + 501 * NS_PER_MS)
    assert not readings.is_alive
    station.step()
    readings.refresh(now_ns + 502 * NS_PER_MS)
    assert readings.is_alive


def test_blocks_made_anew_are_found(station: StandStation) -> None:
    station.step()
    readings = StationReadings(station.folder, MODEL)
    now_ns = CLOCK.now_ns()
    readings.refresh(now_ns)
    station.remove_blocks()
    assert not readings.refresh(now_ns + 2 * NS_PER_S)
    station.make_blocks()
    station.step()
    assert readings.refresh(now_ns + 4 * NS_PER_S)
    readings.refresh(now_ns + 4 * NS_PER_S)
    assert readings.is_alive


def test_events_from_before_the_window_are_shown_once(station: StandStation) -> None:
    station.event(Severity.INFO, "first")
    readings = StationReadings(station.folder, MODEL)
    station.event(Severity.ALARM, "second")
    assert [event.text for event in readings.new_events()] == ["first", "second"]
    assert readings.new_events() == []


def test_age_and_place_of_the_confirmed_pose(station: StandStation) -> None:
    readings = StationReadings(station.folder, MODEL)
    station.heard = False
    station.step()
    readings.refresh(CLOCK.now_ns())
    assert not readings.has_robot
    assert np.isnan(readings.confirmed_age_ms(0))
    station.heard = True
    station.pose_age_ms = 700.0
    station.step()
    readings.refresh(CLOCK.now_ns())
    assert 700.0 <= readings.confirmed_age_ms(2) < 800.0
    np.testing.assert_allclose(
        readings.tip_confirmed, limb_tips(MODEL, station.coordinates), atol=EXACT
    )


def test_tip_speed_is_distance_over_the_stations_time(station: StandStation) -> None:
    readings = StationReadings(station.folder, MODEL)
    state = station.blocks.state.local
    for step in range(3):
        state.time_ns[0] = NS_PER_S + step * 100 * NS_PER_MS
        state.tip_model[1] = [0.5 + 0.015 * step, 0.0, 0.0]
        station.blocks.state.publish()
        readings.refresh(NS_PER_S + step * 100 * NS_PER_MS)
    assert readings.tip_speed[1] == pytest.approx(0.15)
    assert readings.tip_speed[0] == pytest.approx(0.0)
    readings.refresh(3 * NS_PER_S)
    assert readings.tip_speed[1] == pytest.approx(0.0)


def test_recording_is_judged_by_the_file(station: StandStation) -> None:
    readings = StationReadings(station.folder, MODEL)
    recording = readings.recording
    recording.refresh(NS_PER_S)
    assert not recording.is_growing(NS_PER_S)
    station.log.write_bytes(b"0" * 1000)
    recording.refresh(2 * NS_PER_S)
    assert recording.is_growing(2 * NS_PER_S)
    recording.refresh(6 * NS_PER_S)
    assert not recording.is_growing(6 * NS_PER_S)
    station.log.write_bytes(b"0" * 2_000_000)
    recording.refresh(7 * NS_PER_S)
    assert recording.is_growing(7 * NS_PER_S)
    assert recording.megabytes == pytest.approx(2.0)


def test_a_restarted_stations_numbered_file_is_followed(station: StandStation) -> None:
    station.log.write_bytes(b"0" * 1000)
    readings = StationReadings(station.folder, MODEL)
    readings.recording.refresh(NS_PER_S)
    later = station.log.with_stem(f"{station.log.stem}-2")
    later.write_bytes(b"0" * 500)
    os.utime(later, ns=(1, station.log.stat().st_mtime_ns + NS_PER_S))
    readings.recording.refresh(4 * NS_PER_S)
    assert readings.recording.path == later
    assert readings.recording.is_growing(4 * NS_PER_S)
