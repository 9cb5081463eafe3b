"""Virtual time stops where a state has news, and runs on where it has none."""

import pytest

from app.control.loop import PERIOD_NS
from app.messages import Source, StationMode
from tests.unit.control.bench import Bench


@pytest.fixture
def bench(tmp_path):
    return Bench(tmp_path)


def run_on(bench, ticks):
    """Run on from the present time; whatever was said last still holds."""
    done, news = bench.loop.run_on(bench.now_ns + PERIOD_NS, ticks)
    bench.now_ns += done * PERIOD_NS
    assert bench.state.time_ns[0] == bench.now_ns
    return done, news


def test_the_first_state_is_news_and_the_next_are_none(bench):
    assert run_on(bench, 50) == (1, True)
    assert run_on(bench, 50) == (50, False)
    assert bench.loop.statistics.ticks[0] == 51


def test_it_stops_where_the_mode_changes(bench):
    bench.say(Source.GAMEPAD)
    bench.put(Source.GAMEPAD, bench.now_ns)
    run_on(bench, 1)
    assert run_on(bench, 20) == (20, False)
    bench.say(Source.GAMEPAD, estop_count=1)
    bench.put(Source.GAMEPAD, bench.now_ns)
    assert run_on(bench, 20) == (1, True)
    assert bench.state.mode[0] == StationMode.ESTOP
    assert run_on(bench, 20) == (20, False)


def test_it_stops_where_an_arming_is_refused(bench):
    bench.say(Source.GAMEPAD)
    bench.put(Source.GAMEPAD, bench.now_ns)
    run_on(bench, 1)
    bench.blocks.health.local.robot_heard_ns[0] = 0
    bench.blocks.health.publish()
    bench.say(Source.GAMEPAD, arm_count=1)
    bench.put(Source.GAMEPAD, bench.now_ns)
    assert run_on(bench, 20) == (1, True)
    assert bench.state.mode[0] == StationMode.DISARMED
    assert bench.state.arm_refusal[0] != 0


def test_it_stops_in_the_middle_where_an_input_falls_silent(bench):
    bench.arm()
    bench.drive()
    bench.run(5)
    assert bench.state.active_source[0] == Source.GAMEPAD
    run_on(bench, 1)  # what the steps before had to tell
    done, news = run_on(bench, 1000)
    assert news
    assert 1 < done < 1000
    assert bench.state.active_source[0] == -1
