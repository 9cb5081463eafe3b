"""A haptic device at the station: input of the tick, force of the tick, one thread."""

import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from app.config.robot import build_robot_model, load_robot
from app.errors import ConfigError
from app.messages import (
    INPUT_SHAPES,
    Event,
    InputBlock,
    InputMode,
    Source,
    StationState,
    state_shapes,
)
from app.operator.haptic.parameters import HapticParameters, mapping_model
from app.operator.haptic.seat import (
    HAPTIC_NAMES,
    HandInbox,
    HandOutbox,
    HapticSeat,
    haptic_parameters,
)
from app.operator.haptic.signals import LocalBox

WAIT_S = 20.0  # a thread that has not come by then never will
MODEL = mapping_model(HapticParameters())


def command_box() -> LocalBox[InputBlock]:
    return LocalBox(
        InputBlock(
            **{name: np.zeros(shape, kind) for name, (kind, shape) in
               INPUT_SHAPES.items()}
        )
    )  # fmt: skip


@pytest.fixture
def state() -> LocalBox[StationState]:
    shapes = state_shapes(build_robot_model(load_robot("ursula")))
    return LocalBox(
        StationState(
            **{name: np.zeros(shape, kind) for name, (kind, shape) in shapes.items()}
        )
    )


def test_a_sample_becomes_the_ticks_input(state) -> None:
    events: list[Event] = []
    commands = command_box()
    box = HandOutbox(MODEL, commands, state, events.append)
    state.local.selected_limb[0] = 2
    sample, told = box.local, commands.local
    sample.present[0], sample.opened[0] = 1, 1
    sample.buttons[0] = 1
    sample.stamp_ns[0] = 7
    sample.position[:] = MODEL.centre
    box.publish()
    sample.position[1] += 0.01
    sample.velocity[1] = 0.1
    box.publish()
    assert told.target == pytest.approx((0.025, 0.0, 0.0))
    assert told.velocity == pytest.approx((0.25, 0.0, 0.0))
    assert (told.stamp_ns[0], told.present[0], told.deadman[0]) == (7, 1, 1)
    assert (told.limb[0], told.mode[0]) == (2, InputMode.TARGET)
    assert not events
    for _ in range(3):
        sample.position[1] = MODEL.centre[1] + 0.095
        box.publish()
    assert len(events) == 1
    assert "clutch" in events[0].text


def test_the_device_shows_the_opposite_of_what_the_hand_pushes(state) -> None:
    box = HandInbox(MODEL, state)
    state.local.force_hand[:] = (2.0, 0.0, 1.0)
    state.local.time_ns[0] = 5
    state.local.active_source[0] = Source.HAPTIC
    assert box.refresh()
    assert box.local.force == pytest.approx((0.0, -2.0, -1.0))
    assert box.local.time_ns[0] == 5
    state.local.active_source[0] = Source.GAMEPAD
    box.refresh()
    assert not box.local.force.any()


@pytest.mark.parametrize("name", ["virtual-inverse3", "virtual-spacemouse"])
def test_it_starts_and_ends(state, name: str) -> None:
    commands = command_box()
    seat = HapticSeat(name, commands, state, lambda _: None)
    assert seat.told() == {}
    seat.start()
    pause = threading.Event()
    for _ in range(round(WAIT_S / 0.002)):
        told = seat.told()
        if told["cycles"] > 20:
            break
        pause.wait(0.002)
    assert commands.local.present[0] == 1
    seat.stop()
    seat.stop()
    assert commands.local.present[0] == 0
    names = {thread.name for thread in threading.enumerate()}
    assert names.isdisjoint({"haptic", "virtual Inverse3", "virtual SpaceMouse"})


def test_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "app.operator.haptic.parameters.platformdirs",
        SimpleNamespace(user_config_dir=lambda _: str(tmp_path)),
    )
    for name in HAPTIC_NAMES:
        parameters, virtual = haptic_parameters(name)
        assert name.endswith(parameters.device)
        assert virtual == name.startswith("virtual-")
    own = tmp_path / "haptic.toml"
    own.write_text("scale = 5.0\n", encoding="utf-8")
    assert haptic_parameters("inverse3")[0].scale == 5.0
    assert haptic_parameters("spacemouse")[0].scale == 2.5
    assert haptic_parameters(str(own))[0].scale == 5.0
    with pytest.raises(ConfigError, match="virtual-inverse3"):
        haptic_parameters("falcon")
