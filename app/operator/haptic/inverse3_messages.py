"""Messages of Haply's Inverse Service, version 3.1 and later, port 10001.

Pure text to values and back. After connecting, the service sends an inventory of all
devices; from then on it answers each message with one state of all of them, so whoever
wants a state must send something, and a force lasts only as long as it is renewed
("applied once and forgotten"). Axes: x right, y forward, z up; metres, newtons.

Sources: docs.haply.co, "WebSocket Protocol", "Simulation Channel", "Control Commands",
"Basis Permutation" (3.5.x, 3.4.x); IsaacLab `se3_haply` for the grip's buttons. Up to
3.4 a force is called "values" (IsaacLab), from 3.5 "vector"; an inventory of 3.5 has a
session_id, which is how the two are told apart here.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from app.errors import FrameError

__all__ = [
    "BUTTONS",
    "GripState",
    "Inverse3State",
    "decode_force",
    "decode_state",
    "encode_force",
    "encode_state",
]

BUTTONS = ("a", "b", "c", "d")
"""Bits of a grip's buttons; a wired grip's only button is "a"."""

_GRIPS = ("wireless_verse_grip", "verse_grip", "custom_verse_grip")
_NO_GRIP = "No VerseGrip is heard: it has the deadman. Wake it by a press, or pair it."


class GripState(NamedTuple):
    """A handle that knows how it is turned.

    Attributes:
        orientation: quaternion wxyz.
        buttons: bit k is `BUTTONS[k]`.
    """

    orientation: tuple[float, float, float, float]
    buttons: int


class Inverse3State(NamedTuple):
    """What a message tells of one Inverse3 and of the first grip.

    Attributes:
        device_id: as the service calls it; empty where no Inverse3 is listed.
        position: of the cursor [m].
        velocity: of the cursor [m/s].
        grip: None where none is listed.
        notice: what a person should do; empty: nothing.
        names_vector: a force is called "vector" and not "values".
    """

    device_id: str
    position: tuple[float, float, float]
    velocity: tuple[float, float, float]
    grip: GripState | None
    notice: str
    names_vector: bool


def encode_force(
    device_id: str, x: float, y: float, z: float, *, vector: bool, profile: str = ""
) -> str:
    """Write the message that renews a force.

    Args:
        device_id: of the Inverse3.
        x: to the right [N]; likewise y forward, z up.
        y: forward [N].
        z: up [N].
        vector: name it as 3.5 does.
        profile: name of this program for Haply Hub, in the first message only.
    """
    session = ""
    if profile:
        name = json.dumps(profile)
        session = f'"session":{{"configure":{{"profile":{{"name":{name}}}}}}},'
    key = "vector" if vector else "values"
    return (
        f'{{{session}"inverse3":[{{"device_id":"{device_id}","commands":'
        f'{{"set_cursor_force":{{"{key}":{{"x":{x:.5f},"y":{y:.5f},"z":{z:.5f}}}}}}}'
        "}]}"
    )


def decode_state(text: str, device_id: str = "") -> Inverse3State:
    """Read an inventory or a state.

    Args:
        text: the message.
        device_id: the Inverse3 that is meant; empty takes the first.

    Raises:
        FrameError: not JSON, or not of the service's form.
    """
    try:
        message = json.loads(text)
        devices = message.get("inverse3") or []
        found: Mapping[str, Any] = {}
        for device in devices:
            if not device_id or device["device_id"] == device_id:
                found = device
                break
        if not found:
            nothing = (0.0, 0.0, 0.0)
            return Inverse3State("", nothing, nothing, None, "", False)
        state = found["state"]
        grip = _grip(message)
        return Inverse3State(
            str(found["device_id"]),
            _vector(state["cursor_position"]),
            _vector(state["cursor_velocity"]),
            grip,
            _notice(found.get("status") or {}) or ("" if grip else _NO_GRIP),
            "session_id" in message or "control_domain" in state,
        )
    except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
        raise FrameError(
            f"Not a message of Haply's Inverse Service 3.1 or later: {error!r} in "
            f"{text[:80]!r}. Is another program behind that address?"
        ) from error


def _vector(item: Mapping[str, Any]) -> tuple[float, float, float]:
    return float(item["x"]), float(item["y"]), float(item["z"])


def _grip(message: Mapping[str, Any]) -> GripState | None:
    for kind in _GRIPS:
        for device in message.get(kind) or []:
            if (device.get("status") or {}).get("awake") is False:
                continue
            state = device["state"]
            turn = state.get("orientation") or {}
            buttons = dict(state.get("buttons") or {})
            if state.get("button"):
                buttons["a"] = True
            down = 0
            for name, pressed in buttons.items():
                if pressed:
                    down |= 1 << _bit(name)
            return GripState(
                (
                    float(turn.get("w", 1.0)),
                    float(turn.get("x", 0.0)),
                    float(turn.get("y", 0.0)),
                    float(turn.get("z", 0.0)),
                ),
                down,
            )
    return None


def _bit(name: str) -> int:
    if name in BUTTONS:
        return BUTTONS.index(name)
    return int(name.removeprefix("button_"))


def _notice(status: Mapping[str, Any]) -> str:
    if status.get("power_supply") is False:
        return "The Inverse3 has no power supply: it cannot push. Plug it in."
    if status.get("calibrated") is False:
        return (
            "The Inverse3 is not calibrated: hold it in its calibration posture until "
            "its light changes (Haply Hub shows how)."
        )
    if status.get("ready") is False:
        return "The Inverse3 is not ready. Look at it in Haply Hub."
    return ""


def decode_force(text: str) -> tuple[str, tuple[float, float, float]] | None:
    """Read a force as the service does, by either of its names.

    Returns:
        The device's id and the force [N]; None where the message asks for none.

    Raises:
        FrameError: not JSON, or not of the service's form.
    """
    try:
        for device in json.loads(text).get("inverse3") or []:
            wanted = (device.get("commands") or {}).get("set_cursor_force")
            if wanted is not None:
                force = wanted["vector"] if "vector" in wanted else wanted["values"]
                return str(device["device_id"]), _vector(force)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise FrameError(f"Not a command: {error!r} in {text[:80]!r}.") from error
    return None


def encode_state(
    device_id: str,
    position: tuple[float, float, float],
    velocity: tuple[float, float, float],
    force: tuple[float, float, float],
    grip: GripState | None,
    *,
    session: int | None = None,
) -> str:
    """Write a state as the service does, the parts that this program reads.

    Args:
        device_id: of the Inverse3; empty lists none.
        position: of the cursor [m].
        velocity: of the cursor [m/s].
        force: that is felt now [N].
        grip: a wireless grip, None for none.
        session: its number, which makes this an inventory of 3.5.
    """
    head = "" if session is None else f'"session_id":{session},'
    config = "" if session is None else '"config":{"type":"inverse3"},'
    device = ""
    if device_id:
        device = (
            f'{{"device_id":"{device_id}",{config}"state":{{"cursor_position":'
            f'{_triple(position)},"cursor_velocity":{_triple(velocity)},'
            f'"current_cursor_force":{_triple(force)},'
            '"control_domain":"cartesian","control_mode":"force"},'
            '"status":{"calibrated":true,"power_supply":true,"ready":true}}'
        )
    held = ""
    if grip is not None:
        w, x, y, z = grip.orientation
        a, b, c = ("true" if grip.buttons >> k & 1 else "false" for k in range(3))
        held = (
            ',"wireless_verse_grip":[{"device_id":"virtual","state":{"buttons":'
            f'{{"a":{a},"b":{b},"c":{c}}},"orientation":'
            f'{{"w":{w:.7g},"x":{x:.7g},"y":{y:.7g},"z":{z:.7g}}}}},'
            '"status":{"awake":true,"connected":true,"ready":true}}]'
        )
    return f'{{{head}"inverse3":[{device}]{held}}}'


def _triple(vector: tuple[float, float, float]) -> str:
    x, y, z = vector
    return f'{{"x":{x:.7g},"y":{y:.7g},"z":{z:.7g}}}'
