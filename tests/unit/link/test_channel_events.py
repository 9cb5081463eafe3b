"""Outages, distance, turn-around, lanes and traces: when they act, and on what."""

import itertools
import random
from pathlib import Path

import pytest

from app.clock import NS_PER_MS, NS_PER_S
from app.config.link import load_link
from app.config.trace import parse_trace
from app.link.channel import Channel, ChannelSettings, Direction, Fate, LinkOverrides
from app.link.outages import Outage, is_out, next_change_ns
from app.link.replay import Replay

DOWN, UP = Direction.DOWN, Direction.UP
TRACE = "time_s,delay_ms,loss,rate_bps\n0,10,0,8000\n1,500,1,8000\n2,30,0,80000\n"


def calm(name, **changes):
    """A link without blockages, losses and jitter."""
    link = load_link(name)
    parts = {
        "loss": {"bad_s": 0.0, "residual": 0.0},
        "jitter": {"kind": "none", "deviation_ms": 0.0, "spike_per_s": 0.0},
    }
    for part, values in parts.items():
        changed = getattr(link, part).model_copy(update=values)
        link = link.model_copy(update={part: changed})
    return link.model_copy(update=changes)


def channel(link, seed=1, start_ns=0, **overrides):
    return Channel(ChannelSettings.of(link, LinkOverrides(**overrides)), seed, start_ns)


def finish(run):
    while (due_ns := run.next_due_ns()) is not None:
        run.advance(due_ns)
    return sorted(run.take_records(), key=lambda record: record.submitted_ns)


def feed(run, times_ms, way=DOWN, key=0x20, size=10):
    for time_ms in times_ms:
        run.submit(round(time_ms * NS_PER_MS), way, key, bytes(size))
        run.advance(round(time_ms * NS_PER_MS))
    return finish(run)


def test_an_entry_covers_its_time_and_tells_its_next_change():
    schedule = [Outage(10, 5), Outage(100, 2, 20)]
    for time in range(200):
        out = 10 <= time < 15 or (time >= 100 and (time - 100) % 20 < 2)
        assert is_out(schedule, time) is out, time
        after = next_change_ns(schedule, time)
        later = range(time, after)
        assert {is_out(schedule, moment) for moment in later} == {out}
    assert next_change_ns([Outage(10, 5)], 15) is None


def test_a_schedule_parts_the_link_and_loses_what_is_on_its_way():
    link = calm("acoustic-hs").with_outages([(1.0, 0.5), (4.0, 0.1, 1.0)])
    records = feed(channel(link), range(0, 6000, 50))
    for record in records:
        sent_s, due_s = record.submitted_ns / NS_PER_S, record.submitted_ns / NS_PER_S
        due_s += 0.633 + 80 / 31200
        out = [(1.0, 1.5), (4.0, 4.1), (5.0, 5.1), (6.0, 6.1)]
        hit = any(sent_s < end and due_s > start for start, end in out)
        assert (record.fate is Fate.CUT) is hit, sent_s


def test_late_calls_change_nothing_whatever_goes_on(tmp_path):
    """A process that wakes late must not bend outages, trace, turns or lanes."""
    path = tmp_path / "t.csv"
    path.write_text("time_s,loss,rate_bps\n0,0.1,8000\n0.7,0.3,2000\n1.3,0,90000\n")
    link = load_link("acoustic-hs").with_trace(path)
    link = link.with_outages([(0.35, 0.22, 1.37)])
    schedules = []
    for looks in (1, 10):
        run = channel(link, seed=2)
        for k in range(2000):
            now_ns = k * 10 * NS_PER_MS
            run.submit(now_ns, (DOWN, UP)[k % 3 % 2], (k * 37) % 256, bytes(25))
            for part in range(10 * (looks - 1)):
                run.advance(now_ns + part * NS_PER_MS // 10)
        run.advance(60 * NS_PER_S)
        schedules.append(
            sorted(
                (r.submitted_ns, r.started_ns, r.scheduled_due_ns, r.fate.value)
                for r in run.take_records()
            )
        )
    assert schedules[0] == schedules[1]
    assert {row[3] for row in schedules[0]} >= {"cut", "delivered", "lost-residual"}


def test_an_outage_on_demand_ends_by_itself_or_early():
    run = channel(calm("tether"))
    run.outage(0, 2 * NS_PER_S)
    assert run.is_cut
    fates = [r.fate for r in feed(run, (0, 1999, 2000, 2500))]
    assert fates == [Fate.CUT, Fate.CUT, Fate.DELIVERED, Fate.DELIVERED]
    assert not run.is_cut
    run.outage(3 * NS_PER_S, 5 * NS_PER_S)
    run.outage(4 * NS_PER_S, 0)
    assert not run.is_cut
    run.cut(5 * NS_PER_S, cut=True)
    run.outage(5 * NS_PER_S, NS_PER_S)
    run.advance(7 * NS_PER_S)
    assert run.is_cut  # the outage is over, the cut is not


def test_what_has_arrived_when_an_outage_begins_is_safe():
    run = channel(calm("tether").with_outages([(0.5, 1.0)]))
    run.submit(0, DOWN, 0x20, b"x")
    assert len(run.advance(NS_PER_S)) == 1  # called late


def test_distance_gives_the_propagation_of_sound_and_of_nothing_else():
    near = channel(load_link("acoustic-hs"), distance_m=150.0).settings
    assert near.delay_ms == pytest.approx(100.0 + 300.0)
    assert near.least_delay_ms == pytest.approx(100.0)
    assert channel(load_link("tether"), distance_m=150.0).settings.delay_ms == 3.0
    wins = channel(load_link("acoustic-hs"), distance_m=150.0, delay_ms=50.0).settings
    assert wins.delay_ms == 50.0
    for name in ("acoustic-hs", "acoustic-psk", "acoustic-nano", "acoustic-m64"):
        link = load_link(name)
        metres = {"acoustic-hs": 500, "acoustic-psk": 1000, "acoustic-nano": 200}
        told = link.with_distance(metres.get(name, 100)).propagation_ms
        assert told == pytest.approx(link.propagation_ms, abs=0.5)


def test_distance_changes_in_mid_session_and_packets_on_their_way_keep_theirs():
    link = calm("acoustic-hs")
    run = channel(link, distance_m=1500.0)
    run.submit(0, DOWN, 0x20, bytes(39))  # 10 ms on the air
    run.advance(50 * NS_PER_MS)
    near = ChannelSettings.of(link, LinkOverrides(distance_m=15.0))
    run.apply(near, 100 * NS_PER_MS)
    run.submit(2 * NS_PER_S, DOWN, 0x20, bytes(39))
    first, second = finish(run)
    assert first.scheduled_due_ns == pytest.approx(1310 * NS_PER_MS, abs=1e6)
    assert second.scheduled_due_ns == pytest.approx(2320 * NS_PER_MS, abs=1e6)


def test_turning_round_takes_time_and_staying_does_not():
    run = channel(calm("acoustic-psk"))  # 490 bit/s, 10 ms
    run.submit(0, DOWN, 0x20, bytes(49))
    run.submit(0, DOWN, 0x21, bytes(49))
    run.submit(1, UP, 0x20, bytes(49))
    starts = [(r.direction, r.started_ns // NS_PER_MS) for r in finish(run)]
    assert starts == [(DOWN, 0), (DOWN, 1620), (UP, 810)]
    alone = channel(calm("acoustic-psk"))
    alone.submit(0, DOWN, 0x20, bytes(49))
    alone.submit(0, DOWN, 0x21, bytes(49))
    assert [r.started_ns // NS_PER_MS for r in finish(alone)] == [0, 800]
    rested = channel(calm("acoustic-psk"))
    rested.submit(0, DOWN, 0x20, bytes(49))
    rested.advance(NS_PER_S)
    rested.submit(NS_PER_S, UP, 0x20, bytes(49))
    assert finish(rested)[1].started_ns == NS_PER_S  # it has turned meanwhile


def test_lanes_go_before_turns(monkeypatch):
    from app.link import serialiser

    lanes = [0] * 8 + [1] * 8 + [2] * 16 + [3] * 224
    monkeypatch.setattr(serialiser, "_LANES", lanes)
    run = channel(calm("acoustic-psk"))
    for way, key in itertools.product((DOWN, UP), (0x80, 0x10, 0x08, 0x00)):
        run.submit(0, way, key, bytes(20))
    order = sorted(finish(run), key=lambda r: r.started_ns)
    # The first was alone when it started.
    assert [(r.key, r.direction) for r in order] == [
        (0x80, DOWN), (0x00, UP), (0x00, DOWN), (0x08, UP), (0x08, DOWN),
        (0x10, UP), (0x10, DOWN), (0x80, UP),
    ]  # fmt: skip

    urgent = channel(calm("acoustic-psk"))
    for way, key in ((DOWN, 0x80), (UP, 0x80), (DOWN, 0x00), (UP, 0x08), (DOWN, 0x10)):
        urgent.submit(0, way, key, bytes(20))
    order = sorted(finish(urgent), key=lambda r: r.started_ns)
    assert [r.key for r in order] == [0x80, 0x00, 0x08, 0x10, 0x80]


def test_what_waits_when_an_outage_begins_never_starts():
    late, prompt = (
        channel(calm("acoustic-psk").with_outages([(1.0, 0.5)])) for _ in range(2)
    )
    for run in (late, prompt):
        for key in (0x20, 0x21, 0x22):
            run.submit(0, DOWN, key, bytes(49))  # 800 ms each
    for time_ms in range(2000):
        prompt.advance(time_ms * NS_PER_MS)
    late.advance(20 * NS_PER_S)
    records = late.take_records()
    starts = sorted(record.started_ns // NS_PER_MS for record in records)
    assert starts == [0, 0, 800]  # 0: never
    assert {record.fate for record in records} == {Fate.CUT}
    assert set(records) == set(prompt.take_records())


@pytest.mark.parametrize(
    "name", ["acoustic-psk", "acoustic-m64", "optical-rov", "tether"]
)
def test_nothing_happens_before_the_time_it_names(name):
    link = load_link(name).with_outages([(4.0, 0.5), (9.0, 0.1, 3.0)])
    run, chance = channel(link), random.Random(5)
    schedule, delivered = run.settings.outages, 0
    for now_ns in range(0, 15 * NS_PER_S, 5 * NS_PER_MS):
        if chance.random() < 0.1:
            way = chance.choice([DOWN, UP])
            run.submit(now_ns, way, chance.choice([0x20, 0x21, 0x80]), bytes(8))
        if now_ns >= run.next_ns:
            for delivery in run.advance(now_ns):
                assert now_ns - delivery.due_ns < 5 * NS_PER_MS
                delivered += 1
        due_ns = run.next_due_ns()
        assert now_ns < run.next_ns
        assert due_ns is None or run.next_ns <= due_ns
        assert run.is_cut is is_out(schedule, now_ns)
    assert delivered > 2


@pytest.fixture
def traced(tmp_path):
    def make(name="tether", at_end="loop", text=TRACE):
        path: Path = tmp_path / "trace.csv"
        path.write_text(text)
        return calm(name).with_trace(path, at_end)

    return make


def test_a_trace_stands_in_for_delay_loss_and_rate(traced):
    run = channel(traced(), start_ns=7)
    records = []
    for time_ms in (0, 999, 1000, 1999, 2000, 2900, 3000, 4500):
        run.submit(7 + time_ms * NS_PER_MS, DOWN, 0x20, bytes(54))  # 800 bits
    records = finish(run)
    assert [r.fate is Fate.DELIVERED for r in records] == [
        True, True, False, False, True, True, True, False,
    ]  # fmt: skip
    delays = [r.scheduled_due_ns - r.started_ns for r in records if r.scheduled_due_ns]
    assert delays[0] == (100 + 10) * NS_PER_MS
    assert delays[2] == (10 + 30) * NS_PER_MS
    assert run.delay_ms(7 + 3500 * NS_PER_MS) == 10.0  # again from the start
    assert run.rate_bps(UP, 7 + 5500 * NS_PER_MS) == 80000


def test_a_packet_meets_every_rate_of_the_trace_while_it_is_sent(traced):
    text = "time_s,rate_bps\n0,1000\n1,3000\n2,500\n"
    link = traced(text=text)
    run = channel(link)
    run.submit(0, DOWN, 0x20, bytes(1500))  # 12368 bits: 4500 a round of 3 s
    assert run.next_due_ns() == 7_789_333_334
    held = channel(traced(at_end="hold", text=text))
    held.submit(0, DOWN, 0x20, bytes(1500))
    assert held.next_due_ns() == (2 + 16) * NS_PER_S + 736 * NS_PER_MS


@pytest.mark.parametrize(("at_end", "delay_ms"), [("loop", 10), ("hold", 30)])
def test_after_its_end_a_trace_loops_or_holds(traced, at_end, delay_ms):
    run = channel(traced(at_end=at_end))
    record = feed(run, [3100], size=54)[0]
    air_ms = 100 if at_end == "loop" else 10
    assert record.scheduled_due_ns == (3100 + air_ms + delay_ms) * NS_PER_MS


def test_after_its_end_a_trace_may_part_the_link(traced):
    run = channel(traced(at_end="cut"))
    fates = [r.fate for r in feed(run, [2500, 2999, 3000, 9000])]
    assert fates == [Fate.DELIVERED, Fate.CUT, Fate.CUT, Fate.CUT]


def test_live_wishes_win_over_a_trace_and_it_runs_on(traced):
    link = traced()
    run = channel(link)
    wish = LinkOverrides(delay_ms=5.0, loss=0.0)
    run.apply(ChannelSettings.of(link, wish), 1500 * NS_PER_MS)
    run.submit(1500 * NS_PER_MS, DOWN, 0x20, bytes(54))
    run.apply(ChannelSettings.of(link), 2100 * NS_PER_MS)
    run.submit(2100 * NS_PER_MS, DOWN, 0x20, bytes(54))
    first, second = finish(run)
    assert first.scheduled_due_ns == (1500 + 100 + 5) * NS_PER_MS
    assert second.scheduled_due_ns == (2100 + 10 + 30) * NS_PER_MS  # its third second


def test_a_trace_taken_up_in_mid_session_begins_then(traced):
    run = channel(calm("tether"))
    run.apply(ChannelSettings.of(traced()), 100 * NS_PER_S)
    record = feed(run, [100_000], size=54)[0]
    assert record.scheduled_due_ns == (100_000 + 100 + 10) * NS_PER_MS


def test_a_slotted_link_takes_a_traced_rate_in_its_slots(traced):
    run = channel(traced("acoustic-m64", text="time_s,rate_bps\n0,640\n"))
    run.submit(600 * NS_PER_MS, DOWN, 0x20, bytes(8))  # 64 bits, 50 ms at twice 640
    record = finish(run)[0]
    assert record.started_ns == NS_PER_S
    assert record.scheduled_due_ns == (1000 + 50 + 500) * NS_PER_MS


@pytest.mark.parametrize("loops", [True, False])
def test_bits_through_are_the_rate_summed_up(loops):
    table = parse_trace("time_s,rate_bps\n0,7\n0.5,901\n0.9,33\n2.5,40001\n", "x")
    replay = Replay(table, loops, uses_delay=False, uses_loss=False, uses_rate=True)
    step_ns = NS_PER_MS
    for start_ms in (0, 499, 2000, 3999, 4100, 9050):
        for bits in (1, 64, 999, 30_000):
            ends_ns = replay.sent_ns(start_ms * step_ns, bits)
            passed, time_ms = 0.0, start_ms
            while passed < bits - 1e-6:
                passed += replay.rate_bps(time_ms * step_ns) * 1e-3
                time_ms += 1
            assert 0 <= time_ms * step_ns - ends_ns <= step_ns + 1
