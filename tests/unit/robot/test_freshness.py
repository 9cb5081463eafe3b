"""What is young and new, stream by stream."""

from hypothesis import given
from hypothesis import strategies as st

from app.clock import NS_PER_MS, NS_PER_S
from app.robot.freshness import FUTURE_TOLERANCE_NS, Freshness, Rejection

NOW_NS = 100 * NS_PER_S
LIMIT_NS = 4000 * NS_PER_MS


def take(gate: Freshness, stream: int, generated_ns: int, sequence: int) -> object:
    rejection = gate.judge(NOW_NS, stream, generated_ns, sequence)
    if rejection is None:
        gate.accept(stream, generated_ns, sequence)
    return rejection


def test_age_limit_and_future_are_sharp() -> None:
    gate = Freshness(4000.0)
    assert gate.judge(NOW_NS, 0, NOW_NS - LIMIT_NS, 1) is None
    assert gate.judge(NOW_NS, 0, NOW_NS - LIMIT_NS - 1, 1) == Rejection.STALE
    assert gate.judge(NOW_NS, 0, NOW_NS + FUTURE_TOLERANCE_NS, 1) is None
    ahead = NOW_NS + FUTURE_TOLERANCE_NS + 1
    assert gate.judge(NOW_NS, 0, ahead, 1) == Rejection.FUTURE


def test_a_judged_frame_is_not_yet_the_newest() -> None:
    gate = Freshness(4000.0)
    gate.judge(NOW_NS, 0, NOW_NS, 9)
    assert take(gate, 0, NOW_NS - 1, 1) is None


def test_a_station_that_counts_from_zero_again_is_not_late() -> None:
    gate = Freshness(4000.0)
    assert take(gate, 0, NOW_NS - 2, 50_000) is None
    assert take(gate, 0, NOW_NS - 1, 0) is None


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(0, 10), st.integers(0, 10)),
        max_size=60,
    )
)
def test_every_stream_is_strictly_rising(frames: list[tuple[int, int, int]]) -> None:
    gate = Freshness(4000.0)
    newest: dict[int, tuple[int, int]] = {}
    for stream, back, sequence in frames:
        order = (NOW_NS - back, sequence)
        rejection = take(gate, stream, *order)
        if order > newest.get(stream, (0, 0)):
            assert rejection is None
            newest[stream] = order
        else:
            assert rejection == Rejection.REPLAYED
