import pytest
import rustypot
from hypothesis import given
from hypothesis import strategies as st

from app.drivers.servo_table import SERVO_MODELS, Item

_OTHER_NAMES = {
    "firmware": "firmware_version",
    "return_delay": "return_delay_time",
    "present_voltage": "present_input_voltage",
}
_PEERS = {
    "xm430-w350": rustypot.Xl430PyController,
    "xl330-m288": rustypot.Xl330PyController,
}


@pytest.mark.parametrize("name", _PEERS)
def test_addresses_and_sizes_are_those_of_rustypots_tables(name):
    compared = 0
    for item_name, item in SERVO_MODELS[name].items.items():
        other = _PEERS[name].register(_OTHER_NAMES.get(item_name, item_name))
        if other is not None:
            assert (other.addr, other.size) == (item.address, item.size), item_name
            compared += 1
    assert compared >= 40


def test_sts_items_are_those_of_rustypots_table():
    peers = {(one.addr, one.size) for one in rustypot.Sts3215PyController.registers()}
    ours = {
        (item.address, item.size)
        for name, item in SERVO_MODELS["sts3215"].items.items()
        if name != "async_write"
    }
    assert ours <= peers


@pytest.mark.parametrize("name", SERVO_MODELS)
def test_model_numbers_are_rustypots(name):
    number, _ = rustypot.find_model(name)
    assert number == SERVO_MODELS[name].number


@pytest.mark.parametrize("name", SERVO_MODELS)
def test_items_do_not_overlap_and_hold_their_initial_values(name):
    model = SERVO_MODELS[name]
    end = 0
    for item in sorted(model.items.values(), key=lambda one: one.address):
        assert item.address >= end
        end = item.address + item.size
        assert item.decode(item.encode(item.initial)) == item.initial
        if item.writable and item.initial:
            assert item.least <= item.initial <= item.greatest
    assert end <= model.size


@given(st.integers(-32767, 32767))
def test_sign_and_magnitude_round_trips(value):
    item = Item(42, 2, True, -32767, 32767, 0, 15)
    assert item.decode(item.encode(value)) == value


def test_sign_and_magnitude_is_no_twos_complement():
    assert Item(42, 2, True, -32767, 32767, 0, 15).encode(-1) == b"\x01\x80"
    with pytest.raises(OverflowError):
        Item(42, 2, True, -32767, 32767, 0, 15).encode(32768)
