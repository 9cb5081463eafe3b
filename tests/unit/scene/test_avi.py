"""Films: every byte where RIFF wants it, and every frame a picture."""

import io
import struct
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from app.errors import ConfigError
from app.scene.avi import AviWriter


def test_frames_and_index_are_where_the_head_says(tmp_path: Path) -> None:
    path = tmp_path / "film.avi"
    with AviWriter(path, 48, 32, 25.0) as film:
        for shade in (0, 120, 240):
            film.add(np.full((32, 48, 4), shade, dtype=np.uint8))
    data = path.read_bytes()
    assert data[:4] == b"RIFF"
    assert struct.unpack_from("<I", data, 4)[0] == len(data) - 8
    movie = data.index(b"movi")
    assert movie + 4 == 224
    index = data.index(b"idx1")
    assert struct.unpack_from("<I", data, index + 4)[0] == 3 * 16
    assert struct.unpack_from("<I", data, 48)[0] == 3, "frames in the head"
    for number, shade in enumerate((0, 120, 240)):
        name, _, place, size = struct.unpack_from(
            "<4sIII", data, index + 8 + 16 * number
        )
        start = movie + place
        assert data[start : start + 4] == name == b"00dc"
        picture = Image.open(io.BytesIO(data[start + 8 : start + 8 + size]))
        assert picture.size == (48, 32)
        assert abs(int(np.asarray(picture).mean()) - shade) < 3


def test_what_cannot_be_filmed(tmp_path: Path) -> None:
    with (
        AviWriter(tmp_path / "film.avi", 48, 32, 25.0) as film,
        pytest.raises(ConfigError, match="does not fit a film of 48x32"),
    ):
        film.add(np.zeros((16, 16, 4), dtype=np.uint8))
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="cannot be written"):
        AviWriter(tmp_path / "file" / "film.avi", 48, 32, 25.0)
