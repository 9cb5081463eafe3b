"""Pictures of the window, in a file that stands for itself."""

import io
from pathlib import Path

import pytest
from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory
from PIL import Image
from PyQt6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from app.console.video import ConsoleVideo
from app.errors import LogError
from app.session.video import VideoRecorder


def test_pictures_are_foxgloves_and_of_the_window(tmp_path: Path, qtbot: QtBot) -> None:
    window = QLabel("limblink")
    qtbot.addWidget(window)
    window.resize(120, 80)
    video = ConsoleVideo(window, tmp_path / "run.mcap")
    for _ in range(2):
        video.take()
    video.close()
    video.close()
    assert video.failure == ""
    assert video.path == tmp_path / "run.video.mcap"
    with video.path.open("rb") as file:
        reader = make_reader(file, decoder_factories=[DecoderFactory()])
        found = [
            (schema.name, message.log_time, content)
            for schema, _, message, content in reader.iter_decoded_messages()
            if schema is not None
        ]
    assert len(found) == 2
    name, time_ns, content = found[0]
    assert name == "foxglove.CompressedImage"
    assert content.timestamp.ToNanoseconds() == time_ns
    assert Image.open(io.BytesIO(content.data)).size == (120, 80)


def test_another_film_of_the_recording_is_numbered(
    tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "run.video.mcap").write_bytes(b"")
    window = QLabel("limblink")
    qtbot.addWidget(window)
    video = ConsoleVideo(window, tmp_path / "run.mcap")
    assert video.path.name == "run.video-2.mcap"
    video.close()


def test_no_place_for_the_pictures(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(LogError, match="cannot be made"):
        VideoRecorder(tmp_path / "file" / "run.video.mcap", {})
