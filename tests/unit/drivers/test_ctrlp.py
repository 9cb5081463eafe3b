"""The Ctrl-P driver against the virtual controller, over a pseudo terminal."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from app.clock import NS_PER_MS
from app.config.loader import parse_toml
from app.drivers.base import Action
from app.drivers.ctrlp import (
    CtrlPActuator,
    CtrlPDriver,
    CtrlPParameters,
    build_ctrlp,
)
from app.drivers.transport import SerialLine
from app.drivers.virtual.base import Drive
from app.drivers.virtual.carrier import PtyCarrier
from app.drivers.virtual.ctrlp import VirtualCtrlP, virtual_ctrlp
from app.errors import ConfigError, DeviceError

N = 3
PARAMETERS = CtrlPParameters(
    driver="ctrlp",
    port="/dev/none",
    timeout_ms=200.0,
    baud=921_600,
    data_period_ms=10,
    start_s=0.3,
    silent_s=0.3,
    actuators=(
        CtrlPActuator(name="left", greatest_kpa=60.0),
        CtrlPActuator(name="right", greatest_kpa=60.0, relax_kpa=5.0),
        CtrlPActuator(name="lift", least_kpa=-20.0, greatest_kpa=80.0),
    ),
)
WANTED = np.array([10.0, 20.0, 30.0])
STEP_KPA = 0.04
"""Half of what two decimals of a psi are."""
Rig = tuple[PtyCarrier, VirtualCtrlP, CtrlPDriver]


@pytest.fixture
def rig() -> Iterator[Rig]:
    carrier, parameters = virtual_ctrlp(PARAMETERS)
    assert isinstance(carrier.device, VirtualCtrlP)
    with carrier, build_ctrlp(parameters) as driver:
        yield carrier, carrier.device, driver


def hear(device: VirtualCtrlP) -> list[str]:
    """Return a list that fills with the lines the controller is told."""
    lines: list[str] = []

    def listen(data: bytes) -> bytes:
        lines.extend(data.decode().splitlines())
        return data

    device.damage_in = listen
    return lines


def once(damage: Callable[[bytes], bytes], marker: bytes) -> Callable[[bytes], bytes]:
    """Damage the first piece that holds the marker."""
    left = [1]

    def filtered(data: bytes) -> bytes:
        if marker in data and left:
            left.pop()
            return damage(data)
        return data

    return filtered


def test_the_exact_conversation() -> None:
    carrier, parameters = virtual_ctrlp(PARAMETERS)
    assert isinstance(carrier.device, VirtualCtrlP)
    lines = hear(carrier.device)
    with carrier, build_ctrlp(parameters) as driver:
        driver.exchange(Action.FOLLOW, WANTED)
        driver.exchange(Action.HOLD, WANTED)
    set_up = ["", "echo;1.00", "valve;-1.00", "mode;0.00", "units;0.00;0.00", "maxp"]
    set_up += ["minp", "chan;1.00", "set;0.00;0.00;0.73;0.00", "time;10.00", "on"]
    follow = "set;0.00;1.45;2.90;4.35"
    assert lines == [
        *set_up,
        "trajloop;7321.00",
        *("trajloop", follow, "mode;1.00"),
        *("trajloop", follow, "mode"),
        *("trajloop", "valve;-1.00", "mode;0.00"),
    ]


def test_setpoints_are_clamped_and_what_was_taken_comes_back(rig: Rig) -> None:
    _, device, driver = rig
    reading = driver.exchange(Action.FOLLOW, np.array([1e6, -5.0, -1e6]))
    assert reading.applied == pytest.approx([60.0, 0.0, -20.0], abs=STEP_KPA)
    assert device.setpoint_kpa == pytest.approx([60.0, 0.0, -20.0], abs=STEP_KPA)
    assert reading.answered.all()
    assert not reading.faults
    assert np.isnan(driver.watchdog_s)


@pytest.mark.parametrize("wild", [np.nan, np.inf, -np.inf])
def test_what_is_not_a_number_drives_nothing(rig: Rig, wild: float) -> None:
    _, device, driver = rig
    driver.exchange(Action.FOLLOW, np.array([wild, wild, 30.0]))
    assert device.setpoint_kpa == pytest.approx([0.0, 5.0, 30.0], abs=STEP_KPA)


def test_the_four_actions(rig: Rig) -> None:
    _, device, driver = rig
    assert device.modes == (0, 0, 0)
    driver.exchange(Action.FOLLOW, WANTED)
    assert device.modes == (1, 1, 1)
    driver.exchange(Action.HOLD, np.zeros(N))
    assert device.setpoint_kpa == pytest.approx(WANTED, abs=STEP_KPA)
    driver.exchange(Action.RELAX, WANTED)
    assert device.setpoint_kpa == pytest.approx([0.0, 5.0, 0.0], abs=STEP_KPA)
    assert driver.exchange(Action.SAFE, WANTED).applied.tolist() == [0.0] * N
    assert device.modes == (0, 0, 0)
    assert (device.actuators.told()[1] == Drive.OFF).all()


def test_kilopascals_on_the_line_are_finer() -> None:
    carrier, parameters = virtual_ctrlp(PARAMETERS.model_copy(update={"units": "kpa"}))
    device = carrier.device
    assert isinstance(device, VirtualCtrlP)
    with carrier, build_ctrlp(parameters) as driver:
        device.actuators.sense(WANTED + 0.25)
        reading = driver.exchange(Action.FOLLOW, WANTED + 0.123)
        assert reading.applied == pytest.approx(WANTED + 0.12, abs=1e-9)
        assert device.setpoint_kpa == pytest.approx(WANTED + 0.12, abs=1e-6)
        reading = driver.exchange(Action.FOLLOW, WANTED)
        reading = driver.exchange(Action.FOLLOW, WANTED)
        assert reading.measured == pytest.approx(WANTED + 0.25, abs=0.0051)


def test_a_damaged_setpoint_is_found_in_its_echo_and_sent_again(rig: Rig) -> None:
    _, device, driver = rig
    driver.exchange(Action.FOLLOW, WANTED)
    device.damage_in = once(lambda data: data.replace(b"2.90", b"8.90"), b"2.90")
    reading = driver.exchange(Action.FOLLOW, WANTED)
    assert device.setpoint_kpa == pytest.approx(WANTED, abs=STEP_KPA)
    assert reading.applied == pytest.approx(WANTED, abs=STEP_KPA)
    assert not reading.faults


def test_a_set_that_lost_its_end_is_found(rig: Rig) -> None:
    _, device, driver = rig
    driver.exchange(Action.FOLLOW, WANTED)
    device.damage_in = once(lambda _: b"set;0.00;1.45\n", b"set")
    driver.exchange(Action.FOLLOW, WANTED)
    assert device.setpoint_kpa == pytest.approx(WANTED, abs=STEP_KPA)


def test_damage_that_stays_is_told_and_the_truth_is_reported(rig: Rig) -> None:
    _, device, driver = rig
    device.damage_in = lambda data: data.replace(b"2.90", b"1.90")
    reading = driver.exchange(Action.FOLLOW, WANTED)
    assert reading.applied[1] == pytest.approx(1.9 * 6.89475729)
    assert [fault.channel for fault in reading.faults] == [1]
    assert "right" in reading.faults[0].text
    assert device.modes == (0, 0, 0)  # never left the vent with a wrong setpoint


def test_a_controller_that_vented_itself_stays_so_until_cleared(rig: Rig) -> None:
    _, device, driver = rig
    driver.exchange(Action.FOLLOW, WANTED)
    device.actuators.sense(np.array([900.0, 0.0, 0.0]))
    while device.modes != (0, 0, 0):  # the carrier's thread lets it look
        driver.exchange(Action.FOLLOW, WANTED)
    device.actuators.sense(np.zeros(N))
    reading = driver.exchange(Action.FOLLOW, WANTED)
    assert reading.applied.tolist() == [0.0] * N
    assert any(fault.latched and "maxp" in fault.text for fault in reading.faults)
    driver.exchange(Action.FOLLOW, WANTED)
    assert device.modes == (0, 0, 0)
    driver.clear_faults()
    reading = driver.exchange(Action.FOLLOW, WANTED)
    assert not reading.faults
    assert device.modes == (1, 1, 1)
    assert device.setpoint_kpa == pytest.approx(WANTED, abs=STEP_KPA)


def test_a_controller_that_restarted_is_set_up_before_it_is_driven(rig: Rig) -> None:
    _, device, driver = rig
    driver.exchange(Action.FOLLOW, WANTED)
    device.feed(0, b"units;1;1\nsave\n")  # it would take psi for kPa now
    lines = hear(device)
    device.restart()
    reading = driver.exchange(Action.FOLLOW, WANTED)
    assert "restarted" in reading.faults[0].text
    assert device.setpoint_kpa == pytest.approx([0.0, 5.0, 0.0], abs=STEP_KPA)
    first_set = next(place for place, line in enumerate(lines) if line[:3] == "set")
    assert "units;0.00;0.00" in lines[:first_set]
    assert "valve;-1.00" in lines[:first_set]
    reading = driver.exchange(Action.FOLLOW, WANTED)
    assert device.setpoint_kpa == pytest.approx(WANTED, abs=STEP_KPA)


def test_no_answer_is_a_fault_then_an_error() -> None:
    carrier, parameters = virtual_ctrlp(PARAMETERS)
    with carrier, build_ctrlp(parameters) as driver:
        driver.exchange(Action.FOLLOW, WANTED)
        driver._dialogue._timeout_ns = 10 * NS_PER_MS
        carrier.device.actuators.silent[0] = True
        reading = driver.exchange(Action.FOLLOW, WANTED)
        assert not reading.answered.any()
        assert np.isnan(reading.measured).all()
        assert "does not answer" in reading.faults[0].text
        with pytest.raises(DeviceError, match="no watchdog"):
            exchange_often(driver)


def exchange_often(driver: CtrlPDriver) -> None:
    for _ in range(1000):
        driver.exchange(Action.FOLLOW, WANTED)


def test_a_controller_that_answers_again_is_set_up_first() -> None:
    patient = PARAMETERS.model_copy(update={"silent_s": 60.0})
    carrier, parameters = virtual_ctrlp(patient)
    device = carrier.device
    assert isinstance(device, VirtualCtrlP)
    with carrier, build_ctrlp(parameters) as driver:
        driver.exchange(Action.FOLLOW, WANTED)
        driver._dialogue._timeout_ns = 10 * NS_PER_MS
        device.actuators.silent[0] = True
        driver.exchange(Action.FOLLOW, WANTED)
        device.actuators.silent[0] = False
        while (reading := driver.exchange(Action.FOLLOW, WANTED)).applied[0] > 1.0:
            assert not reading.answered.any()
        assert device.setpoint_kpa == pytest.approx([0.0, 5.0, 0.0], abs=STEP_KPA)


def test_live_data_that_were_switched_off_are_switched_on_again(rig: Rig) -> None:
    _, device, driver = rig
    driver.exchange(Action.FOLLOW, WANTED)
    device.feed(0, b"off\n")
    answered = [driver.exchange(Action.FOLLOW, WANTED).answered for _ in range(12)]
    assert not all(a.all() for a in answered)
    assert answered[-1].all()
    assert device.modes == (1, 1, 1)


def test_unplugged_and_plugged_again() -> None:
    carrier, parameters = virtual_ctrlp(PARAMETERS)
    driver = build_ctrlp(parameters)
    driver.open()
    driver.exchange(Action.FOLLOW, WANTED)
    carrier.unplug()
    with pytest.raises(DeviceError, match="is gone"):
        driver.exchange(Action.FOLLOW, WANTED)
    driver.close()
    again, parameters = virtual_ctrlp(PARAMETERS)
    device = again.device
    assert isinstance(device, VirtualCtrlP)
    driver._line = driver._dialogue._line = SerialLine(parameters.port, 115_200)
    with again, driver:
        assert device.modes == (0, 0, 0)
        driver.exchange(Action.FOLLOW, WANTED)
        assert device.setpoint_kpa == pytest.approx(WANTED, abs=STEP_KPA)


def test_close_vents(rig: Rig) -> None:
    _, device, driver = rig
    driver.exchange(Action.FOLLOW, WANTED)
    driver.close()
    assert device.modes == (0, 0, 0)
    assert (device.actuators.told()[1] == Drive.OFF).all()
    driver.close()


def test_a_narrower_controller_is_refused_at_open() -> None:
    carrier, parameters = virtual_ctrlp(PARAMETERS)
    assert isinstance(carrier.device, VirtualCtrlP)
    carrier.device.store("maxp", 8.0)
    with carrier:
        with pytest.raises(DeviceError, match=r"left.*wider than.*55\.2 kPa"):
            build_ctrlp(parameters).open()
        wider = parameters.model_copy(update={"vent_above_kpa": 100.0})
        with build_ctrlp(wider) as driver:
            driver.exchange(Action.FOLLOW, WANTED)


def test_another_number_of_channels_is_refused() -> None:
    with PtyCarrier(VirtualCtrlP(N + 1)) as carrier:
        driver = build_ctrlp(PARAMETERS.model_copy(update={"port": carrier.path}))
        with pytest.raises(DeviceError, match="has 4 channels, 3 actuators"):
            driver.open()


def test_firmware_without_units_is_taken_for_psi_and_for_nothing_else() -> None:
    def old(data: bytes) -> bytes:
        return data.replace(b"units", b"stinu").replace(b"trajloop", b"poolja")

    carrier, parameters = virtual_ctrlp(PARAMETERS)
    assert isinstance(carrier.device, VirtualCtrlP)
    carrier.device.damage_in = old
    with carrier:
        with build_ctrlp(parameters) as driver:
            driver.exchange(Action.FOLLOW, WANTED)
            assert carrier.device.setpoint_kpa == pytest.approx(WANTED, abs=STEP_KPA)
        kpa = parameters.model_copy(update={"units": "kpa"})
        with pytest.raises(DeviceError, match="does not speak kpa"):
            build_ctrlp(kpa).open()


TOML = """
driver = "ctrlp"
port = "/dev/ttyACM0"
data_period_ms = 50
[[actuators]]
name = "left"
greatest_kpa = 60.0
"""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("data_period_ms = 50", "data_period_ms = 5", "of the line at 115200 baud"),
        ("greatest_kpa = 60.0", "greatest_kpa = 60000.0", "if you meant Pa"),
        ("greatest_kpa = 60.0", "greatest_kpa = -1.0", "must lie within"),
        ("data_period_ms", "vent_above_kpa = 9.0\ndata_period_ms", "lies below"),
    ],
)
def test_wrong_parameters_are_refused(old: str, new: str, words: str) -> None:
    assert parse_toml(TOML, CtrlPParameters, "rig.toml").units == "psi"
    with pytest.raises(ConfigError, match=words):
        parse_toml(TOML.replace(old, new), CtrlPParameters, "rig.toml")
