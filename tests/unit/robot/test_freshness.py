"""What is young and new, stream by stream."""

from hypothesis import given
from hypothesis import strategies as st

from app.clock import NS_PER_MS, NS_PER_S
from app.robot.freshness import FUTURE_TOLERANCE_NS, Freshness, Rejection

NOW_NS = 100 * NS_PER_S
LIMIT_NS = 4000 * NS_PER_MS


def take(gate: Freshness, stream: int, generated_ns: int, sequence: int) -> object:
    stamp = (generated_ns, sequence)
    fresh, rejection = gate.judge(NOW_NS, (stream,), stamp)
    assert (rejection is None) == (tuple(fresh) == (stream,))
    gate.accept(fresh, stamp)
    return rejection


def judged(gate: Freshness, generated_ns: int) -> object:
    return gate.judge(NOW_NS, (0,), (generated_ns, 1))[1]


def test_age_limit_and_future_are_sharp() -> None:
    gate = Freshness(4000.0)
    assert judged(gate, NOW_NS - LIMIT_NS) is None
    assert judged(gate, NOW_NS - LIMIT_NS - 1) == Rejection.STALE
    assert judged(gate, NOW_NS + FUTURE_TOLERANCE_NS) is None
    assert judged(gate, NOW_NS + FUTURE_TOLERANCE_NS + 1) == Rejection.FUTURE


def test_a_judged_frame_is_not_yet_the_newest() -> None:
    gate = Freshness(4000.0)
    gate.judge(NOW_NS, (0,), (NOW_NS, 9))
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


def test_a_frame_is_believed_for_the_streams_in_which_it_is_the_newest() -> None:
    gate = Freshness(4000.0)
    old, late, new = ((NOW_NS - back, 1) for back in (9, 5, 2))
    gate.accept((0, 1, 2), old)
    gate.accept((1,), new)
    assert gate.judge(NOW_NS, (0, 1, 2), late) == ([0, 2], None)
    assert gate.judge(NOW_NS, (1,), late) == ((), Rejection.REPLAYED)
    far = NOW_NS + LIMIT_NS
    assert gate.judge(far, (0, 1), late) == ((), Rejection.STALE)
    assert gate.judge(far, (1, 0), late) == ((), Rejection.REPLAYED)
    gate.accept((0, 2), late)
    assert gate.judge(NOW_NS, (0, 1, 2), late) == ((), Rejection.REPLAYED)
