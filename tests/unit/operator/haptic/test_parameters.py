"""haptic.toml, and what is found on this computer."""

from pathlib import Path

import numpy as np
import pytest

from app.errors import ConfigError, DeviceError, LinkError
from app.operator.haptic import kinds, spacemouse
from app.operator.haptic.force_dimension import ForceDimension, find_libdhd
from app.operator.haptic.inverse3 import Inverse3
from app.operator.haptic.kinds import build_device, find_devices, virtual_device
from app.operator.haptic.parameters import (
    FACTS,
    HapticParameters,
    load_haptic,
    mapping_model,
    render_model,
)
from app.operator.haptic.spacemouse import SpaceMouse
from app.operator.haptic.virtual_inverse3 import InverseService, VirtualInverse3
from app.operator.haptic.websocket import address_of


@pytest.mark.parametrize("device", FACTS)
def test_every_device_turns_right_handed_axes(device: str) -> None:
    turn = mapping_model(
        HapticParameters.model_validate({"device": device})
    ).rotation_device_to_hull
    assert turn @ turn.T == pytest.approx(np.eye(3))
    assert np.linalg.det(turn) == pytest.approx(1.0)


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "haptic.toml"
    path.write_text(
        'device = "force-dimension"\nscale = 4.0\nforce_limit_n = 12.0\n'
        'deadman = ["b"]\nclutch = ["c"]\n',
        encoding="utf-8",
    )
    parameters = load_haptic(path)
    model = mapping_model(parameters)
    assert (model.scale, model.deadman, model.clutch) == (4.0, 2, 4)
    assert render_model(parameters).force_limit == 12.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('device = "falcon"', "device"),
        ('deadman = ["z"]', "no button 'z'"),
        ('deadman = ["a"]\nclutch = ["a"]', "different buttons"),
        ('clutch = ["c"]\ngrip = ["c"]', "different buttons"),
        ('axes = ["+x", "-x", "+z"]', "three different axes"),
        ("scale = 0.0", "scale"),
        ("forces = 1", "unknown key"),
    ],
)
def test_what_is_wrong_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "haptic.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=words):
        load_haptic(path)


def test_a_deadman_of_ones_own_frees_the_clutch() -> None:
    model = mapping_model(HapticParameters(deadman=("b",)))
    assert (model.deadman, model.clutch) == (2, 0)


def test_kinds_are_built() -> None:
    kinds_of = {name: type(build_device(HapticParameters.model_validate(
        {"device": name}))) for name in FACTS}  # fmt: skip
    assert kinds_of == {
        "inverse3": Inverse3,
        "force-dimension": ForceDimension,
        "spacemouse": SpaceMouse,
    }


@pytest.mark.parametrize("device", FACTS)
def test_every_virtual_device_answers(device: str) -> None:
    parameters = HapticParameters.model_validate({"device": device})
    with virtual_device(parameters, "firm", "circle") as one:
        one.open()
        readings = [one.read() for _ in range(20)]
        one.close()
    assert any(reading is not None for reading in readings)


def test_nothing_found_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kinds, "find_libdhd", lambda _: "")
    monkeypatch.setattr(kinds, "find_caps", list)
    found = find_devices(HapticParameters(url="ws://127.0.0.1:9"))
    assert not any(one.usable for one in found)
    assert all(one.cure for one in found)


def test_what_is_there_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    cap = spacemouse.FoundCap(Path("/dev/hidraw7"), "SpaceMouse", permitted=False)
    monkeypatch.setattr(kinds, "find_libdhd", lambda path: path)
    monkeypatch.setattr(kinds, "find_caps", lambda: [cap])
    device = VirtualInverse3()
    with InverseService(device) as service:
        parameters = HapticParameters(url=service.url, library="/opt/libdhd.so")
        inverse3, libdhd, mouse = find_devices(parameters)
        assert inverse3.usable
        assert libdhd.usable
        assert "uaccess" in mouse.cure
        device.plugged = False
        assert not find_devices(parameters)[0].usable


def test_libdhd_is_found_by_path_and_in_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FORCEDIM_SDK", raising=False)
    library = tmp_path / "lib" / "release" / "libdhd.so"
    library.parent.mkdir(parents=True)
    library.touch()
    assert find_libdhd(str(library)) == str(library)
    assert find_libdhd(str(tmp_path)) == str(library)
    assert find_libdhd(str(tmp_path / "other")) == ""
    monkeypatch.setenv("FORCEDIM_SDK", str(tmp_path))
    assert find_libdhd() == str(library)


def test_a_library_that_is_none_is_refused(tmp_path: Path) -> None:
    library = tmp_path / "libdhd.so"
    library.write_bytes(b"not a library")
    with pytest.raises(DeviceError, match="cannot be used as libdhd"):
        ForceDimension(str(library)).open()
    with pytest.raises(DeviceError, match="not found"):
        ForceDimension(str(tmp_path / "nowhere")).open()


@pytest.mark.parametrize("url", ["", "http://localhost", "wss://localhost:1", "ws:/x"])
def test_addresses_that_are_none_are_refused(url: str) -> None:
    with pytest.raises(LinkError):
        address_of(url)


def test_nobody_there_is_told() -> None:
    with pytest.raises(DeviceError, match="Haply Hub"):
        Inverse3("ws://127.0.0.1:9").open()
