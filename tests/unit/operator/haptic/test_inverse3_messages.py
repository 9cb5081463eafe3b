"""Golden messages of Haply's Inverse Service, from its documentation.

Shortened to the devices and fields that are read; docs.haply.co, "WebSocket Protocol"
(3.5.x) and "Simulation Channel" (3.4.x), "Control Commands" (3.5.x).
"""

import json

import pytest

from app.errors import FrameError
from app.operator.haptic.inverse3_messages import (
    GripState,
    decode_force,
    decode_state,
    encode_force,
    encode_state,
)

INVENTORY_35 = """{ "session_id": 7, "inverse3": [ { "device_id": "049D",
"config": { "type": "inverse3", "port": "COM12", "handedness": "right",
"gravity_compensation": { "enabled": true, "scaling_factor": 1.0 } },
"state": { "cursor_position": { "x": 0.0, "y": -0.12, "z": 0.15 },
"cursor_velocity": { "x": 0.0, "y": 0.0, "z": 0.0 },
"body_orientation": { "w": 1.0, "x": 0.0, "y": 0.0, "z": 0.0 },
"current_cursor_force": { "x": 0.0, "y": 0.0, "z": 0.0 },
"control_domain": "cartesian", "control_mode": "idle" } } ] }"""

INVENTORY_34 = """{ "inverse3": [ { "device_id": "04BA",
"config": { "type": "inverse3", "port": "COM13" },
"state": { "angular_position": { "a0": -69.31704, "a1": 137.62952, "a2": 19.832787 },
"cursor_position": { "x": 0.07842738, "y": -0.14836666, "z": 0.14297646 },
"cursor_velocity": { "x": -0.011969013, "y": 0.0012009288, "z": -0.043197 },
"mode": "idle" },
"status": { "calibrated": false, "in_use": false, "power_supply": true,
"ready": true, "started": true } } ],
"verse_grip": [ { "device_id": "61548", "config": { "port": "COM3" },
"state": { "button": false, "hall": 0, "orientation": { "x": -0.5019531,
"y": 0.8632202, "z": -0.048095703, "w": -0.022338867 } },
"status": { "ready": true } } ] }"""

FORCE_35 = """{ "inverse3": [{ "device_id": "049D", "commands": {
"set_cursor_force": { "vector": { "x": 0.0, "y": 0.0, "z": 1.5 } } } }] }"""

FORCE_34 = """{ "inverse3": [{ "device_id": "04BA", "commands": {
"set_cursor_force": { "values": { "x": 0.0, "y": 0.0, "z": 1.5 } } } }] }"""


def test_inventory_of_3_5() -> None:
    state = decode_state(INVENTORY_35)
    assert state.device_id == "049D"
    assert state.position == (0.0, -0.12, 0.15)
    assert state.names_vector
    assert state.grip is None
    assert "VerseGrip" in state.notice


def test_inventory_of_3_4() -> None:
    state = decode_state(INVENTORY_34)
    assert state.device_id == "04BA"
    assert state.velocity == (-0.011969013, 0.0012009288, -0.043197)
    assert not state.names_vector
    assert state.grip is not None
    assert state.grip.orientation[0] == -0.022338867
    assert state.grip.orientation[1] == -0.5019531
    assert state.grip.buttons == 0
    assert "not calibrated" in state.notice


@pytest.mark.parametrize("golden", [FORCE_35, FORCE_34])
def test_force_by_either_name(golden: str) -> None:
    sent = json.loads(golden)
    vector = golden is FORCE_35
    number = sent["inverse3"][0]["device_id"]
    assert json.loads(encode_force(number, 0.0, 0.0, 1.5, vector=vector)) == sent
    assert decode_force(golden) == (number, (0.0, 0.0, 1.5))


def test_the_first_message_names_this_program() -> None:
    told = json.loads(
        encode_force("049D", 0, 0, 0, vector=True, profile='limblink "x"')
    )
    assert told["session"] == {"configure": {"profile": {"name": 'limblink "x"'}}}


WIRELESS = (
    '"wireless_verse_grip": [{"device_id": "g", "state": {"buttons": '
    '{"a": true, "b": false, "c": true}, "orientation": {"w": 1.0}}}]'
)
WIRED = '"verse_grip": [{"device_id": "g", "state": {"button": true}}]'
CUSTOM = (
    '"custom_verse_grip": [{"device_id": "g", "state": {"buttons": {"button_1": 1}}}]'
)


@pytest.mark.parametrize(
    ("grip", "bits"), [(WIRELESS, 0b101), (WIRED, 0b001), (CUSTOM, 0b010)]
)
def test_buttons_of_each_grip(grip: str, bits: int) -> None:
    state = decode_state(INVENTORY_35.removesuffix(" ] }") + " ], " + grip + "}")
    assert state.grip is not None
    assert state.grip.buttons == bits
    assert state.notice == ""


def test_a_sleeping_grip_does_not_hold_the_deadman() -> None:
    grip = (
        '"wireless_verse_grip": [{"device_id": "g", "status": {"awake": false}, '
        '"state": {"buttons": {"a": true}}}]'
    )
    state = decode_state(INVENTORY_35.removesuffix(" ] }") + " ], " + grip + "}")
    assert state.grip is None


def test_the_virtual_service_writes_the_same_form() -> None:
    grip = GripState((0.5, 0.5, -0.5, 0.5), 0b011)
    text = encode_state("A1", (0.1, -0.2, 0.3), (0, 1, 2), (3, 4, 5), grip, session=9)
    assert json.loads(text)["session_id"] == 9
    state = decode_state(text)
    assert state.position == (0.1, -0.2, 0.3)
    assert state.velocity == (0.0, 1.0, 2.0)
    assert state.grip == grip
    assert state.names_vector
    assert (
        decode_state(encode_state("", (0,) * 3, (0,) * 3, (0,) * 3, None)).device_id
        == ""
    )


def test_another_device_can_be_named() -> None:
    assert decode_state(INVENTORY_35, "049D").device_id == "049D"
    assert decode_state(INVENTORY_35, "FFFF").device_id == ""


@pytest.mark.parametrize(
    "text", ["", "hello", "[]", '{"inverse3": 7}', '{"inverse3": [{"device_id": "x"}]}']
)
def test_what_is_no_message_is_refused(text: str) -> None:
    with pytest.raises(FrameError, match="Inverse Service"):
        decode_state(text)


NAMELESS = '{"inverse3": [{"commands": {"set_cursor_force": {}}}]}'


@pytest.mark.parametrize("text", ["", "{", NAMELESS])
def test_what_is_no_command_is_refused(text: str) -> None:
    with pytest.raises(FrameError, match="Not a command"):
        decode_force(text)
