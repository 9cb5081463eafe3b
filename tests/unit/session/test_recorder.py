"""What `Recorder` writes, as mcap's own reader and protobuf decoder see it."""

import errno
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory

from app.control.blocks import LoopStatistics
from app.errors import LogError
from app.messages import LinkHealth, OperatorInput, Source, StationState
from app.session.recorder import Recorder
from app.session.schema import SCHEMAS
from tests.unit.session import samples

# The 1 kHz state is kept in single precision.
SINGLE = {"rtol": 1e-7, "atol": 0.0}


@pytest.fixture
def decoded(tmp_path: Path) -> dict[str, list[tuple[int, Any]]]:
    """Every message by topic, (time, message), read by the independent decoder."""
    path = tmp_path / "all.mcap"
    samples.write_recording(path)
    found: dict[str, list[tuple[int, Any]]] = {}
    with path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        for _, channel, message, content in reader.iter_decoded_messages():
            found.setdefault(channel.topic, []).append((message.log_time, content))
    return found


def test_every_topic_is_there(decoded: dict[str, list[tuple[int, Any]]]) -> None:
    assert {topic: len(rows) for topic, rows in decoded.items()} == {
        "/state": 30,
        "/contact": 3,
        "/energy": 3,
        "/input/gamepad": 1,
        "/frame/down": 1,
        "/frame/up": 1,
        "/packet": 1,
        "/health": 1,
        "/event": 1,
        "/statistics": 1,
    }


def test_states_keep_every_field(decoded: dict[str, list[tuple[int, Any]]]) -> None:
    rows = samples.state_rows(30)
    for (time_ns, content), row in zip(decoded["/state"], rows, strict=True):
        state = samples.STATES.view(row)
        assert time_ns == state.time_ns[0]
        for name in StationState._fields:
            wanted = getattr(state, name).reshape(-1)
            got = np.atleast_1d(getattr(content, name))
            if wanted.dtype == np.int64:
                np.testing.assert_array_equal(got, wanted, err_msg=name)
            else:
                np.testing.assert_allclose(
                    got, wanted.astype(np.float32), **SINGLE, err_msg=name
                )


def test_hand_encoding_is_what_protobuf_makes() -> None:
    from app.session.schema import StateEncoder, fill_message

    rows = samples.state_rows(3)
    for data, row in zip(
        StateEncoder(samples.STATES.describe()).encode(rows), rows, strict=True
    ):
        schema = SCHEMAS["State"]
        parsed = schema.message.FromString(data)
        assert parsed == fill_message(schema, samples.STATES.view(row))


def test_input(decoded: dict[str, list[tuple[int, Any]]]) -> None:
    [(time_ns, content)] = decoded["/input/gamepad"]
    assert time_ns == samples.SAMPLE.stamp_ns
    assert content.source == Source.GAMEPAD
    for name in OperatorInput._fields:
        got, wanted = getattr(content, name), getattr(samples.SAMPLE, name)
        assert (tuple(got) if isinstance(wanted, tuple) else got) == wanted, name


def test_frames_are_timed_at_the_station(
    decoded: dict[str, list[tuple[int, Any]]],
) -> None:
    [(down_ns, down)] = decoded["/frame/down"]
    [(up_ns, up)] = decoded["/frame/up"]
    assert (down_ns, down.payload, down.received_ns) == (
        samples.START_NS + 2,
        b"\x10\x00\xff",
        0,
    )
    assert (up_ns, up.sent_ns) == (samples.START_NS + 9, samples.START_NS + 2)


def test_packet(decoded: dict[str, list[tuple[int, Any]]]) -> None:
    [(time_ns, content)] = decoded["/packet"]
    assert time_ns == content.submitted_ns == samples.PACKET.submitted_ns
    assert content.fate == "lost-burst"
    assert content.direction == "up"
    assert (content.key, content.size_bytes) == (0x18, 38)
    assert (content.started_ns, content.scheduled_due_ns) == (samples.START_NS + 6, 0)


def test_health_and_statistics(decoded: dict[str, list[tuple[int, Any]]]) -> None:
    for topic, block, kind in (
        ("/health", samples.health(), LinkHealth),
        ("/statistics", samples.statistics(), LoopStatistics),
    ):
        [(_, content)] = decoded[topic]
        for name in kind._fields:
            np.testing.assert_array_equal(
                np.atleast_1d(getattr(content, name)), getattr(block, name).reshape(-1)
            )


def test_event(decoded: dict[str, list[tuple[int, Any]]]) -> None:
    [(time_ns, content)] = decoded["/event"]
    assert time_ns == content.time_ns == samples.EVENT.time_ns
    assert (content.severity, content.source) == (2, "link")
    assert content.text == samples.EVENT.text
    assert dict(zip(content.field_names, content.field_values, strict=True)) == {
        "age_ms": 812.5
    }


def test_head_and_channels_explain_the_file(tmp_path: Path) -> None:
    path = tmp_path / "all.mcap"
    samples.write_recording(path)
    with path.open("rb") as file:
        reader = make_reader(file)
        summary = reader.get_summary()
        assert summary is not None
        [metadata, digest] = reader.iter_metadata()
        attachment, overview = reader.iter_attachments()
    assert metadata.metadata == samples.METADATA
    assert digest.metadata["/event"].startswith("1 ")
    assert overview.name == "limblink-overview-0001.npz"
    assert attachment.data == samples.ATTACHMENTS["ursula.toml"]
    by_topic = {
        channel.topic: channel.metadata for channel in summary.channels.values()
    }
    assert by_topic["/state"]["unit.tip_model"] == "m, hull frame"
    assert by_topic["/state"]["shape.tip_model"] == "4 x 3"
    assert by_topic["/state"]["values.mode"] == "0 DISARMED, 1 ARMED, 2 ESTOP"
    assert by_topic["/health"]["unit.rtt_ms"] == "ms"


def test_schemas_follow_the_records() -> None:
    """A field added to a record must appear in recordings."""
    assert [f.name for f in SCHEMAS["State"].fields] == list(StationState._fields)
    assert [f.name for f in SCHEMAS["Health"].fields] == list(LinkHealth._fields)
    assert {f.name for f in SCHEMAS["LoopStatistics"].fields} == set(
        LoopStatistics._fields
    )
    assert {f.name for f in SCHEMAS["OperatorInput"].fields} == {
        "source",
        *OperatorInput._fields,
    }


def test_every_real_field_has_a_unit() -> None:
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto

    real = (FieldDescriptorProto.TYPE_DOUBLE, FieldDescriptorProto.TYPE_FLOAT)
    bare = [
        f"{schema.name}.{field.name}"
        for schema in SCHEMAS.values()
        for field in schema.fields
        if field.kind.type in real and not field.unit and field.name != "field_values"
    ]
    assert bare == []


def test_equal_calls_give_equal_bytes(tmp_path: Path) -> None:
    paths = [tmp_path / "a.mcap", tmp_path / "b.mcap"]
    for path in paths:
        samples.write_recording(path, chunks=3)
    assert paths[0].read_bytes() == paths[1].read_bytes()


def test_a_flush_reaches_the_file(tmp_path: Path) -> None:
    path = tmp_path / "live.mcap"
    recorder = Recorder(path, {})
    head = path.stat().st_size
    assert head > 0, "the head is there at once"
    samples.write_all(recorder)
    recorder.flush()
    assert path.stat().st_size > head + 1000
    recorder.close()
    recorder.close()
    assert recorder.closed
    assert recorder.counts["/state"] == 30


def test_an_existing_recording_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "old.mcap"
    path.write_bytes(b"precious")
    with pytest.raises(LogError, match="exists and is not overwritten"):
        Recorder(path, {})
    assert path.read_bytes() == b"precious"
    Recorder(path, {}, overwrite=True).close()
    assert path.read_bytes() != b"precious"


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LogError, match="cannot be made"):
        Recorder(tmp_path / "file" / "run.mcap", {})


def test_a_full_disk_is_one_clear_error() -> None:
    with pytest.raises(LogError, match="No space left on device"):
        Recorder(Path("/dev/full"), {}, overwrite=True)


def test_after_a_full_disk_every_error_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse() -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    recorder = Recorder(tmp_path / "run.mcap", {})
    monkeypatch.setattr(recorder._log._writer, "flush", refuse)
    with pytest.raises(LogError, match="No space left on device"):
        recorder.flush()
    with pytest.raises(LogError, match="No space left on device"):
        recorder.write_event(samples.EVENT)


def test_writing_after_the_end_is_refused(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "short.mcap", {})
    recorder.close()
    with pytest.raises(LogError, match="is closed"):
        recorder.write_event(samples.EVENT)


def test_rows_of_another_layout_are_refused(tmp_path: Path) -> None:
    with Recorder(tmp_path / "bad.mcap", {}) as recorder:
        description = samples.STATES.describe()[:-1]
        with pytest.raises(LogError, match=samples.STATES.describe()[-1][0]):
            recorder.write_states(samples.state_rows(1), description)
