"""A recording at any moment: index, player, overview and timeline agree with it."""

from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader

from app.clock import NS_PER_MS, NS_PER_S
from app.errors import LogError
from app.messages import Event, Mark, Severity
from app.session import Player, Recorder, recover, trim, verify
from app.session.container import part_path
from app.session.digest import DIGEST_NAME
from app.session.index import FileIndex
from app.session.overview import OverviewWriter, join_segments
from app.session.timeline import SpanKind, build_timeline, clock_words
from tests.unit.session import samples

SECONDS = 70  # past the first segment of the overview
CUT_S = (20.0, 24.0)


@pytest.fixture(scope="module")
def drive(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A session at 20 states a second with an outage, a mark and warnings."""
    path = tmp_path_factory.mktemp("drive") / "drive.mcap"
    row = samples.state_rows(1)
    health = samples.health()
    with Recorder(path, samples.METADATA, samples.ATTACHMENTS) as recorder:
        for k in range(20 * SECONDS):
            now_ns = samples.START_NS + k * 50 * NS_PER_MS
            state = samples.STATES.view(row[0])
            state.time_ns[0], state.tick[0] = now_ns, k
            state.mode[0] = int(k >= 200)
            recorder.write_states(row, samples.STATES.describe())
            if k % 2 == 0:
                health.time_ns[0] = now_ns
                health.cut[0] = int(CUT_S[0] <= k / 20 < CUT_S[1])
                health.contact_force[:] = 0.0
                health.robot_state[0], health.age_ms[0] = 1, 20.0
                health.telemetry_limit_ns[0] = 150 * NS_PER_MS
                recorder.write_health(health)
            if k == 300:
                recorder.write_mark(Mark(now_ns, 1, "first touch", "console"))
                event = Event(now_ns, Severity.WARNING, "link", "It is slow.")
                recorder.write_event(event)
            if k % 10 == 9:
                recorder.flush()
    return path


def at(seconds: float) -> int:
    return samples.START_NS + round(seconds * NS_PER_S)


def digest_of(path: Path) -> dict[str, str]:
    with path.open("rb") as file:
        records = list(make_reader(file).iter_metadata())
    return next(r.metadata for r in records if r.name == DIGEST_NAME)


def cut_of(path: Path, place: Path, share: float) -> Path:
    data = path.read_bytes()
    place.write_bytes(data[: int(len(data) * share)])
    return place


def test_the_newest_message_at_any_moment(drive: Path) -> None:
    with Player(drive) as player:
        for seconds in (0.0, 0.049, 0.05, 33.333, 69.95, 500.0):
            message = player.at("/state", at(seconds))
            assert message is not None
            assert message.content.tick == min(int(seconds * 20 + 1e-9), 1399)
        assert player.at("/state", at(-1.0)) is None
        assert player.at("/statistics", at(10.0)) is None
        mark = player.at("/mark", at(16.0))
        assert mark is not None
        assert mark.content.note == "first touch"


def test_steps_and_spans(drive: Path) -> None:
    with Player(drive) as player:
        assert player.step("/state", at(10.0), 1) == at(10.05)
        assert player.step("/state", at(10.0), -1) == at(9.95)
        assert player.step("/state", at(10.02), -1) == at(10.0)
        assert player.step("/state", at(69.95), 5) == at(69.95)
        inside = list(player.between({"/state"}, at(5.0), at(6.0)))
        assert [m.content.tick for m in inside] == list(range(100, 121))


def test_the_overview_needs_no_messages(drive: Path) -> None:
    with Player(drive) as player:
        overview = player.overview
        names = [place.name for place in player.index.attachments]
    assert len([name for name in names if "overview" in name]) == 2
    assert overview.state_ns.size == 10 * SECONDS
    assert overview.health_ns.size == 10 * SECONDS
    assert np.all(np.diff(overview.state_ns) == 100 * NS_PER_MS)
    row = samples.STATES.view(samples.state_rows(1)[0])
    wanted = row.tip_model.astype(np.float32).reshape(-1)
    np.testing.assert_array_equal(overview.state["tip_model"][17], wanted)
    assert [event.text for event in overview.events] == ["It is slow."]
    assert [mark.note for mark in overview.marks] == ["first touch"]


def test_the_timeline_says_what_lasted(drive: Path) -> None:
    with Player(drive) as player:
        timeline = build_timeline(player.overview, player.start_ns, player.end_ns)
    by_kind = {span.kind: span for span in timeline.spans}
    assert set(by_kind) == {SpanKind.ARMED, SpanKind.CUT}
    assert by_kind[SpanKind.CUT].first_ns == at(20.0)
    assert by_kind[SpanKind.CUT].seconds == pytest.approx(4.0)
    assert by_kind[SpanKind.ARMED].first_ns == at(10.0)
    assert timeline.next_moment(at(1.0), 1) == at(15.0)
    assert timeline.next_moment(at(15.0), 1) == at(20.0)
    assert timeline.next_moment(at(15.0), -1) == timeline.start_ns
    said = timeline.near(at(15.0), NS_PER_MS)
    assert "first touch" in said
    assert "It is slow" in said


def test_a_gap_in_the_states_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "gap.mcap"
    with Recorder(path, {}) as recorder:
        for first in (0, 2000):
            rows = samples.state_rows(300, first)
            recorder.write_states(rows, samples.STATES.describe())
    with Player(path) as player:
        timeline = build_timeline(player.overview, player.start_ns, player.end_ns)
    assert SpanKind.GAP in {span.kind for span in timeline.spans}
    assert "1 gaps in the states" in verify(path).notes[0]


@pytest.mark.parametrize("share", [0.25, 0.97])
def test_a_cut_file_is_walked_and_its_end_is_read(
    drive: Path, tmp_path: Path, share: float
) -> None:
    cut = cut_of(drive, tmp_path / "cut.mcap", share)
    with Player(cut) as player, Player(drive) as whole:
        assert not player.index.complete
        assert player.index.channels.keys() <= whole.index.channels.keys()
        count = player.index.offset.size
        np.testing.assert_array_equal(player.index.offset, whole.index.offset[:count])
        np.testing.assert_array_equal(player.index.topics, whole.index.topics[:count])
        seen = player.overview.state_ns
        np.testing.assert_array_equal(seen, whole.overview.state_ns[: seen.size])
        assert player.end_ns - seen[-1] < 100 * NS_PER_MS


def test_a_file_cut_amid_the_indexes_of_its_last_chunk(
    drive: Path, tmp_path: Path
) -> None:
    """The whole chunk is there; what is written of it after it is not, or in part."""
    index = FileIndex(drive)
    end = int(index.offset[40] + index.length[40])
    for more in range(0, 400, 23):
        cut = tmp_path / f"cut-{more}.mcap"
        cut.write_bytes(drive.read_bytes()[: end + more])
        with Player(cut) as player:
            message = player.at("/state", at(100.0))
            assert message is not None
            assert message.content.tick == 409, more
            assert player.index.count("/state") == 410, more
            assert player.index.count("/health") == 205, more


def test_a_recovered_file_has_the_overview_of_what_it_holds(
    drive: Path, tmp_path: Path
) -> None:
    cut = cut_of(drive, tmp_path / "cut.mcap", 0.97)
    made = recover(cut)
    with Player(cut) as before, Player(made) as after:
        assert after.index.complete
        wanted, got = before.overview, after.overview
        np.testing.assert_array_equal(got.state_ns, wanted.state_ns)
        np.testing.assert_array_equal(got.health_ns, wanted.health_ns)
        assert got.marks == wanted.marks
        last = max(p.offset for p in after.index.attachments if "over" in p.name)
        assert last > int(after.index.offset.max())
    assert verify(made).problems == []
    assert "not closed" in verify(cut).problems[0]


def test_a_trimmed_file_is_its_span(drive: Path, tmp_path: Path) -> None:
    made = trim(drive, 5.0, 6.0, tmp_path / "part.mcap")
    with Player(made) as player:
        assert (player.start_ns, player.end_ns) == (at(5.0), at(6.0))
        assert player.index.count("/state") == 21
        assert player.recording.metadata["trimmed_from"] == "drive.mcap"
        assert player.recording.attachments["ursula.toml"]
    with pytest.raises(LogError, match=r"it is 70\.0 s long"):
        trim(drive, 80.0, 90.0)
    with pytest.raises(LogError, match="Give a beginning before the end"):
        trim(drive, 6.0, 5.0)


def test_damage_is_named_with_its_place(drive: Path, tmp_path: Path) -> None:
    data = bytearray(drive.read_bytes())
    index = FileIndex(drive)
    data[int(index.offset[100] + index.length[100]) - 20] ^= 0xFF
    bad = tmp_path / "bad.mcap"
    bad.write_bytes(data)
    problems = verify(bad).problems
    assert any("Chunk 101 of" in p and "at 50.0 s" in p for p in problems)
    with Player(bad) as player:
        message = player.at("/state", at(50.2))
        assert message is not None, "the chunk before stands in"
        assert message.content.tick == 999
        assert player.damaged == {100}


def test_a_recording_goes_on_in_parts(tmp_path: Path) -> None:
    path = tmp_path / "long.mcap"
    with Recorder(path, samples.METADATA, part_bytes=200_000) as recorder:
        for k in range(20):
            rows = samples.state_rows(50, 50 * k)
            recorder.write_states(rows, samples.STATES.describe())
            recorder.flush()
        assert recorder.part_name != path
    parts = [part_path(path, number) for number in (1, 2)]
    ticks: list[int] = []
    for number in range(1, 20):
        part = part_path(path, number)
        if not part.exists():
            break
        assert verify(part).problems == []
        with Player(part) as player:
            wanted = {} if number == 1 else {"continues", "part"}
            assert set(player.recording.metadata) - set(samples.METADATA) == set(wanted)
            states = player.between({"/state"}, player.start_ns, player.end_ns)
            found = [message.content.tick for message in states]
        assert digest_of(part)["/state"].startswith(f"{len(found)} ")
        ticks += found
    assert ticks == list(range(1000))
    assert parts[1].exists()
    assert f"It goes on in {parts[1].name}." in verify(path).notes


def test_nothing_to_show_is_an_error(tmp_path: Path) -> None:
    Recorder(tmp_path / "empty.mcap", {}).close()
    with pytest.raises(LogError, match="holds no messages"):
        Player(tmp_path / "empty.mcap")


def test_a_damaged_overview_says_what_to_do() -> None:
    writer = OverviewWriter()
    writer.add_event(samples.EVENT)
    data = writer.take()
    assert [event.text for event in join_segments([data]).events] == [
        samples.EVENT.text
    ]
    with pytest.raises(LogError, match="sessions recover"):
        join_segments([data[:40]])


def test_times_in_words() -> None:
    assert clock_words(0) == "00:00.0"
    assert clock_words(299_999_000_000) == "05:00.0"
    assert clock_words(3_723_456_000_000, fine=True) == "1:02:03.456"
    assert clock_words(-1_500_000_000) == "-00:01.5"
