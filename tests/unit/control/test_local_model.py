"""The local model drawn where the robot is: correction by late telemetry."""

from pathlib import Path

import numpy as np
import pytest

from app.clock import NS_PER_MS
from app.messages import RobotState, Source
from tests.unit.control.bench import MODEL, Bench

BENT = np.array([0.1, -0.05, 0.0])  # rad, rad, m: how the robot differs
DELAY_NS = 400 * NS_PER_MS
TICKS_PER_TELEMETRY = 100


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    bench = Bench(tmp_path)
    bench.arm()
    bench.drive(rate=(0.0, 0.3, 0.0))
    return bench


def follow(
    bench: Bench,
    seconds: float,
    bent: np.ndarray,
    at: np.ndarray | None = None,
    every: int = TICKS_PER_TELEMETRY,
) -> None:
    """Let a robot that is bent otherwise answer `DELAY_NS` late, so often [ms].

    What it measures is what the uncorrected model had under the same command, or what
    it is held at.
    """
    health = bench.blocks.health.local
    past: list[tuple[int, np.ndarray]] = []
    for tick in range(round(seconds * 1000)):
        bench.run(1)
        past.append((bench.now_ns, bench.loop.uncorrected.copy()))
        if tick % every or len(past) < 400:
            continue
        time_ns, pose = past[-400]
        health.confirmed_command_ns[:] = time_ns
        health.confirmed_generated_ns[:] = time_ns + DELAY_NS // 2
        health.confirmed_coordinates[:] = pose if at is None else at
        health.confirmed_coordinates[0] += bent
        bench.blocks.health.publish()


def test_the_model_is_drawn_where_the_robot_is(bench: Bench) -> None:
    bench.obeys = False
    bench.hear(RobotState.ACTIVE)
    follow(bench, 4.0, BENT)
    offset = bench.state.coordinates_model - bench.loop.uncorrected
    np.testing.assert_array_equal(offset, 0.0)  # late: it may swing yet
    follow(bench, 4.0, BENT)
    offset = bench.state.coordinates_model - bench.loop.uncorrected
    np.testing.assert_allclose(offset[0], BENT, atol=1e-3)
    np.testing.assert_allclose(offset[1:], 0.0, atol=1e-9)


def test_rare_measurements_are_believed_at_once(bench: Bench) -> None:
    bench.obeys = False
    bench.hear(RobotState.ACTIVE)
    follow(bench, 6.0, np.zeros(3))
    follow(bench, 7.0, BENT, every=3000)
    offset = bench.state.coordinates_model - bench.loop.uncorrected
    np.testing.assert_allclose(offset[0], BENT, rtol=0.01)


def test_a_segment_is_compared_with_its_own_measurement_alone(bench: Bench) -> None:
    bench.obeys = False
    bench.hear(RobotState.ACTIVE)
    bench.blocks.health.local.confirmed_earlier[0] = 1
    follow(bench, 8.0, BENT)
    offset = bench.state.coordinates_model - bench.loop.uncorrected
    np.testing.assert_allclose(offset, 0.0, atol=1e-9)
    bench.blocks.health.local.confirmed_earlier[0] = 0
    follow(bench, 2.0, BENT)
    offset = bench.state.coordinates_model - bench.loop.uncorrected
    np.testing.assert_allclose(offset[0], BENT, atol=1e-2)


def test_a_robot_as_modelled_is_left_alone(bench: Bench) -> None:
    bench.obeys = False
    bench.hear(RobotState.ACTIVE)
    follow(bench, 3.0, np.zeros(3))
    np.testing.assert_allclose(
        bench.state.coordinates_model, bench.loop.uncorrected, atol=1e-12
    )
    assert bench.state.mismatch.max() < 1e-9
    assert not bench.state.unexplained.any()
    assert np.isfinite(bench.state.tube[0])


def test_what_the_model_does_not_explain_raises_the_alarm(bench: Bench) -> None:
    """But not in the first 5 s, in which a limb that has just stiffened swings."""
    bench.obeys = False
    bench.hear(RobotState.ACTIVE)
    for turn in range(7):
        assert turn > 4 or not bench.state.unexplained.any()
        follow(bench, 1.0, 4.0 * (-1.0) ** turn * BENT)
    assert bench.state.unexplained[0] == 1
    assert bench.state.mismatch[0] > 0.02
    assert not bench.state.unexplained[1:].any()


def test_the_correction_moves_no_command(bench: Bench) -> None:
    bench.obeys = False
    bench.hear(RobotState.ACTIVE)
    bench.say(Source.GAMEPAD, rate=(0.0, 0.0, 0.0))
    bench.run(300)
    before = bench.state.coordinates_commanded.copy()
    follow(bench, 2.0, BENT)
    np.testing.assert_allclose(
        bench.state.coordinates_commanded, before, rtol=0.0, atol=1e-15
    )


def test_a_new_arming_begins_without_an_offset(bench: Bench) -> None:
    bench.obeys = False
    bench.hear(RobotState.ACTIVE)
    follow(bench, 3.0, BENT)
    bench.obeys = True
    bench.say(Source.GAMEPAD, deadman=False)
    bench.press(Source.GAMEPAD, "disarm")
    bench.press(Source.GAMEPAD, "arm")
    np.testing.assert_allclose(
        bench.state.coordinates_model, bench.loop.uncorrected, atol=1e-12
    )
    assert bench.state.coordinates_model.shape == MODEL.rest_coordinates.shape


def test_a_limb_that_a_surface_pushes_keeps_its_offset(bench: Bench) -> None:
    """Else the surface would push it back, and the offset grow without end."""
    bench.obeys = False
    bench.hear(RobotState.ACTIVE)
    bench.say(Source.GAMEPAD, rate=(0.0, 0.0, 0.0))
    bench.run(300)
    held = bench.loop.uncorrected.copy()
    bench.report_wall(bench.state.tip_model[0], stiffness=1000.0)
    follow(bench, 8.0, -BENT, at=held)  # the wall is not where it is told to be
    assert bench.state.surface_known[0] == 1
    before = bench.state.coordinates_model - bench.loop.uncorrected
    follow(bench, 4.0, -BENT, at=held)
    offset = bench.state.coordinates_model - bench.loop.uncorrected
    limb = slice(*MODEL.limb_segment_start[:2])
    np.testing.assert_allclose(offset[limb], before[limb], atol=1e-9)
    assert np.abs(offset).max() < np.abs(BENT).max()
    assert bench.state.mismatch[0] > 2e-3  # it is seen all the same
