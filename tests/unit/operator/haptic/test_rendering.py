"""Limit, slew limit and fading of what is felt."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.operator.haptic.hand import hand_model
from app.operator.haptic.parameters import (
    HapticParameters,
    mapping_model,
    render_model,
)
from app.operator.haptic.rendering import (
    LIMITED,
    NOT_FINITE,
    SLEWED,
    STALE,
    RenderModel,
    allocate_render_data,
    render_force,
)
from app.operator.haptic.signals import allocate_force
from app.operator.haptic.trial import draw_trouble, run_trial

TOLERANCE = 1e-12  # sums of a few doubles of the size of 1
MODEL = RenderModel(fade_in=1e-3)
MS = 1_000_000


class Felt:
    """Renders a force a millisecond."""

    def __init__(self, model: RenderModel = MODEL) -> None:
        self.model = model
        self.data = allocate_render_data()
        self.asked = allocate_force()
        self.force = np.zeros(3)
        self.now_ns = 0
        self.status = 0

    def turn(self, asked=None, count=1, *, blind=False) -> float:
        """Render as often; a force that is None is not renewed. The size felt."""
        for _ in range(count):
            self.now_ns += MS
            if asked is not None:
                self.asked.force[:] = asked
                self.asked.time_ns[0] = self.now_ns
            before = self.force.copy()
            self.status = render_force(
                self.model, self.now_ns, blind, before, self.asked, self.data,
                self.force,
            )  # fmt: skip
        return float(np.linalg.norm(self.force))


def test_nothing_is_felt_before_a_first_force() -> None:
    felt = Felt()
    assert felt.turn(count=50) == 0.0
    assert felt.status == STALE


def test_a_force_comes_through_as_it_is() -> None:
    felt = Felt()
    felt.turn((0.3, -0.2, 0.1), 5)
    assert felt.force == pytest.approx((0.3, -0.2, 0.1), abs=TOLERANCE)
    assert felt.status == 0


def test_it_grows_at_the_slew_limit_and_stops_at_the_force_limit() -> None:
    felt = Felt()
    sizes = [felt.turn((30.0, 40.0, 0.0)) for _ in range(6)]
    assert sizes == pytest.approx([1.0, 2.0, 3.0, 3.3, 3.3, 3.3], abs=TOLERANCE)
    assert felt.force == pytest.approx((1.98, 2.64, 0.0), abs=TOLERANCE)
    assert felt.status == LIMITED


def test_an_old_force_fades_after_20_ms_and_within_120() -> None:
    felt = Felt()
    felt.turn((2.0, 0.0, 0.0), 10)
    assert felt.turn(count=20) == pytest.approx(2.0, abs=TOLERANCE)
    assert felt.turn() == pytest.approx(1.98, abs=TOLERANCE)
    assert felt.turn(count=49) == pytest.approx(1.0, abs=1e-9)
    assert felt.turn(count=51) == 0.0
    assert felt.status == STALE


def test_a_device_that_tells_nothing_is_pushed_no_more() -> None:
    felt = Felt()
    felt.turn((2.0, 0.0, 0.0), 10)
    assert felt.turn((2.0, 0.0, 0.0), 50, blind=True) == pytest.approx(1.0, abs=1e-9)


def test_force_fades_in_after_an_interruption() -> None:
    felt = Felt(RenderModel())
    sizes = np.array([felt.turn((2.0, 0.0, 0.0)) for _ in range(200)])
    assert np.diff(sizes) == pytest.approx(0.01, abs=1e-9)
    assert sizes[-1] == pytest.approx(2.0, abs=1e-9)


@pytest.mark.parametrize("wild", [np.nan, np.inf, -np.inf])
def test_what_is_no_number_fades_the_last_force(wild: float) -> None:
    felt = Felt()
    felt.turn((2.0, 0.0, 0.0), 10)
    size = felt.turn((0.0, wild, 0.0), 10)
    assert size == pytest.approx(1.8, abs=1e-9)
    assert felt.status == STALE | NOT_FINITE


def test_a_reversal_is_slewed_along_the_straight_line() -> None:
    felt = Felt()
    felt.turn((3.0, 0.0, 0.0), 10)
    felt.turn((0.0, 3.0, 0.0))
    assert felt.status & SLEWED
    share = 1.0 / np.hypot(3.0, 3.0)
    assert felt.force == pytest.approx((3.0 - 3.0 * share, 3.0 * share, 0.0))


@settings(deadline=None, max_examples=200)
@given(
    st.lists(
        st.tuples(
            st.sampled_from(["fresh", "old", "blind", "reopened"]),
            st.floats(allow_nan=True, width=32),
            st.floats(-5.0, 5.0),
            st.integers(1, 40),
        ),
        max_size=30,
    )
)
def test_no_sequence_makes_a_step_above_the_slew_limit(
    events: list[tuple[str, float, float, int]],
) -> None:
    felt = Felt()
    for what, x, y, count in events:
        if what == "reopened":
            felt.force[:] = 0.0
            felt.data.gain[0] = 0.0
        for _ in range(count):
            before = felt.force.copy()
            asked = None if what == "old" else (x, y, 0.0)
            felt.turn(asked, blind=what == "blind")
            assert np.linalg.norm(felt.force - before) <= 1.0 + TOLERANCE
            assert np.linalg.norm(felt.force) <= 3.3 + TOLERANCE


@pytest.mark.parametrize("grip", ["relaxed", "light", "firm"])
def test_ten_minutes_of_trouble(grip: str) -> None:
    parameters = HapticParameters()
    found = run_trial(
        render_model(parameters),
        hand_model(grip),
        mapping_model(parameters),
        draw_trouble(600.0, seed=3),
    )
    assert min(found.disconnects, found.silences, found.clutches, found.jumps) > 50
    assert found.greatest_step <= 1.0 + TOLERANCE
    assert 3.0 < found.greatest_force <= 3.3 + TOLERANCE
    assert found.late_force == 0.0
    assert found.greatest_jump < TOLERANCE
