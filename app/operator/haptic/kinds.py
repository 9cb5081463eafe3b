"""From parameters to a device, real or virtual; what is here to be found."""

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from app.errors import DeviceError, LimblinkError
from app.operator.haptic.base import HapticDevice
from app.operator.haptic.force_dimension import ForceDimension, find_libdhd
from app.operator.haptic.inverse3 import Inverse3
from app.operator.haptic.inverse3_messages import decode_state
from app.operator.haptic.parameters import HapticParameters
from app.operator.haptic.spacemouse import UDEV_RULE, SpaceMouse, find_caps
from app.operator.haptic.virtual_force_dimension import (
    VirtualForceDimension,
    build_standin,
)
from app.operator.haptic.virtual_hand import VirtualHand
from app.operator.haptic.virtual_inverse3 import InverseService, VirtualInverse3
from app.operator.haptic.virtual_spacemouse import VirtualSpaceMouse, cap_hand
from app.operator.haptic.websocket import ClientSocket

__all__ = ["Finding", "build_device", "find_devices", "virtual_device"]

_ANSWER_S = 1.0


class Finding(NamedTuple):
    """What a search for a kind of device gave.

    Attributes:
        kind: as in haptic.toml.
        usable: it can be opened as it is.
        found: what is there.
        cure: what to do; empty where nothing needs doing.
    """

    kind: str
    usable: bool
    found: str
    cure: str


def build_device(parameters: HapticParameters) -> HapticDevice:
    """Make the device that the parameters name; nothing is opened."""
    if parameters.device == "inverse3":
        return Inverse3(parameters.url, parameters.device_id)
    if parameters.device == "force-dimension":
        return ForceDimension(parameters.library)
    return SpaceMouse(Path(parameters.node) if parameters.node else None)


@contextlib.contextmanager
def virtual_device(
    parameters: HapticParameters, arm: str = "relaxed", path: str = "circle"
) -> Iterator[HapticDevice]:
    """Make the virtual device of a kind, served while the context lasts.

    Args:
        parameters: of which only the kind counts.
        arm: of the hand that holds it and its first button; `human_arm.GRIPS`.
        path: that the hand moves along; see `hand_path.HAND_PATHS`.

    Raises:
        ConfigError: no such arm or path.
        DeviceError: it cannot be served here.
    """
    if parameters.device == "inverse3":
        held = VirtualInverse3(VirtualHand(parameters.facts, arm, path, buttons=1))
        with InverseService(held) as service:
            yield Inverse3(service.url)
    elif parameters.device == "force-dimension":
        with tempfile.TemporaryDirectory(prefix="limblink-dhd-") as folder:
            library = build_standin(Path(folder))
            hand = VirtualHand(parameters.facts, arm, path, buttons=1)
            virtual = VirtualForceDimension(library, hand)
            try:
                yield ForceDimension(str(library))
            finally:
                virtual.close()
    else:
        cap = VirtualSpaceMouse(cap_hand(arm, path))
        cap.serve()
        try:
            yield SpaceMouse(opener=cap.open)
        finally:
            cap.close()


def find_devices(parameters: HapticParameters) -> list[Finding]:
    """Look for every kind of device; opens none and moves none.

    Args:
        parameters: where to look: address and library.
    """
    return [_find_inverse3(parameters.url), _find_libdhd(parameters.library), _cap()]


def _find_inverse3(url: str) -> Finding:
    try:
        channel = ClientSocket(url, _ANSWER_S)
        try:
            told = channel.receive(_ANSWER_S)
        finally:
            channel.close()
        if told is None:
            raise DeviceError(f"{url} accepts but says nothing.")
        state = decode_state(told)
    except LimblinkError as error:
        return Finding(
            "inverse3",
            False,
            str(error),
            "Start Haply Hub or its Inverse Service; `limblink haptic serve` is a "
            "virtual one.",
        )
    if not state.device_id:
        return Finding(
            "inverse3", False, f"Inverse Service at {url}", "Plug the Inverse3 in."
        )
    return Finding(
        "inverse3", True, f"Inverse3 {state.device_id} at {url}", state.notice
    )


def _find_libdhd(library: str) -> Finding:
    found = find_libdhd(library)
    if found:
        return Finding("force-dimension", True, f"{found} (untested on hardware)", "")
    return Finding(
        "force-dimension",
        False,
        "no libdhd",
        "Install the vendor's SDK and give its path: `library`, --library or the "
        "variable FORCEDIM_SDK.",
    )


def _cap() -> Finding:
    caps = find_caps()
    if not caps:
        return Finding("spacemouse", False, "none listed by the kernel", "Plug it in.")
    shown = ", ".join(f"{cap.name} at {cap.path}" for cap in caps)
    if any(cap.permitted for cap in caps):
        return Finding("spacemouse", True, shown, "")
    return Finding(
        "spacemouse",
        False,
        shown,
        "It may not be read. Write to /etc/udev/rules.d/70-spacemouse.rules, then "
        f"plug it in again:\n{UDEV_RULE}",
    )
