"""The MAVLink driver against the mock vehicle: sticks, arming, faults, recovery."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import pytest

from app.drivers.base import Action, Reading
from app.drivers.mavlink import MavlinkDriver
from app.drivers.mavlink_messages import (
    Command,
    Heartbeat,
    ManualControl,
)
from app.drivers.mavlink_parameters import MavlinkParameters, build_mavlink
from app.drivers.mavlink_vehicle import MODES
from app.drivers.mavlink_wire import (
    MavlinkCodec,
)
from app.drivers.virtual.base import VirtualActuators, VirtualDevice
from app.drivers.virtual.carrier import UdpCarrier
from app.drivers.virtual.mavlink import VirtualSub, virtual_mavlink
from app.errors import DeviceError

_AHEAD = np.array([0.5, -0.25, 0.0, 0.1])


class _Recorder(VirtualDevice):
    """A vehicle whose orders are noted."""

    def __init__(self, sub: VirtualSub) -> None:
        self.sub = sub
        self.actuators = sub.actuators
        self.heard: list[object] = []
        self._codec = MavlinkCodec(0, 0)

    def feed(self, now_ns: int, received: bytes) -> bytes:
        self.heard += [found.message for found in self._codec.decode(received)]
        return self.sub.feed(now_ns, received)

    def advance(self, now_ns: int) -> bytes:
        return self.sub.advance(now_ns)

    def sticks(self) -> list[ManualControl]:
        return [m for m in self.heard if isinstance(m, ManualControl)]


@contextmanager
def _vehicle(**settings: object) -> Iterator[tuple[_Recorder, MavlinkDriver]]:
    """Serve a mock and open a driver to it."""
    prepare = settings.pop("prepare", None)
    parameters = MavlinkParameters.model_validate({"host": "-"} | settings)
    recorder = _Recorder(VirtualSub(len(parameters.greatest_stick)))
    if callable(prepare):
        prepare(recorder.sub)
    with UdpCarrier(recorder) as served:
        at = {"host": served.host, "udp_port": served.port}
        with build_mavlink(parameters.model_copy(update=at)) as driver:
            yield recorder, driver


def _until(
    driver: MavlinkDriver,
    action: Action,
    setpoint: np.ndarray,
    done: Callable[[Reading], bool],
) -> Reading:
    """Exchange until done; the test's own time limit is the guard.

    A little slower than the mock reads, since UDP loses what is not read.
    """
    pause = threading.Event()
    while True:
        reading = driver.exchange(action, setpoint)
        if done(reading):
            return reading
        pause.wait(0.002)


def _drive(driver: MavlinkDriver, setpoint: np.ndarray = _AHEAD) -> Reading:
    return _until(driver, Action.FOLLOW, setpoint, lambda r: bool(r.applied.any()))


def test_it_sets_the_mode_arms_and_only_then_moves_the_sticks() -> None:
    with _vehicle() as (recorder, driver):
        assert driver.watchdog_s == 3.0
        assert driver.identify()[0].firmware == "4.5.1"
        first = driver.exchange(Action.FOLLOW, _AHEAD)
        assert not first.applied.any()
        assert not first.answered.any() or first.faults
        reading = _drive(driver)
        assert reading.applied.tolist() == _AHEAD.tolist()
        assert reading.answered.all()
        assert recorder.sub.armed
        assert recorder.sub.mode == MODES["alt_hold"]
        _until(
            driver, Action.FOLLOW, _AHEAD, lambda _: recorder.sub.actuators.goal[0] > 0
        )
        moved = next(i for i, m in enumerate(recorder.sticks()) if m.x)
        assert recorder.sticks()[moved] == ManualControl(
            1, 500, -250, 500, 100, 0, 0, 0
        )
        neutral = ManualControl(1, 0, 0, 500, 0, 0, 0, 0)
        assert set(recorder.sticks()[:moved]) == {neutral}
        commands = [m for m in recorder.heard if isinstance(m, Command)]
        assert [(m.command, m.first) for m in commands[-2:]] == [(176, 1.0), (400, 1.0)]
    assert not recorder.sub.armed, "closed: disarmed"


@pytest.mark.parametrize(
    ("heave", "z"), [(1.0, 1000), (-1.0, 0), (0.0, 500), (0.5, 750), (np.nan, 500)]
)
def test_heave_is_up_and_never_0_by_mistake(heave: float, z: int) -> None:
    with _vehicle() as (recorder, driver):
        wanted = np.array([0.25, 0.0, heave, 0.0])
        reading = _drive(driver, wanted)
        assert reading.applied[2] == (0.0 if np.isnan(heave) else heave)
        _until(driver, Action.FOLLOW, wanted, lambda _: recorder.sticks()[-1].x == 250)
        assert recorder.sticks()[-1].z == z


def test_sticks_are_limited_and_six_axes_are_sent() -> None:
    with _vehicle(greatest_stick=[0.5, 1, 1, 1, 0.3, 1]) as (recorder, driver):
        wanted = np.array([9.0, 0.0, 0.0, 0.0, -1.0, 0.25])
        reading = _drive(driver, wanted)
        assert reading.applied.tolist() == [0.5, 0.0, 0.0, 0.0, -0.3, 0.25]
        _until(driver, Action.FOLLOW, wanted, lambda _: recorder.sticks()[-1].x == 500)
        assert recorder.sticks()[-1] == ManualControl(1, 500, 0, 500, 0, -300, 250, 0)


@pytest.mark.parametrize("action", [Action.HOLD, Action.RELAX])
def test_hold_and_relax_are_neutral_and_stay_armed(action: Action) -> None:
    with _vehicle() as (recorder, driver):
        _drive(driver)
        reading = _until(
            driver, action, _AHEAD, lambda _: not recorder.sub.actuators.goal.any()
        )
        assert not reading.applied.any()
        assert recorder.sub.armed
        assert _drive(driver).applied[0] == 0.5, "and it drives on"


def test_nothing_but_follow_arms() -> None:
    with _vehicle() as (recorder, driver):
        for action in (Action.HOLD, Action.RELAX, Action.SAFE):
            for _ in range(5):
                driver.exchange(action, _AHEAD)
        assert not recorder.sub.armed
        assert not any(
            isinstance(m, Command) and m.command == 400 for m in recorder.heard
        )


def test_every_round_sends_sticks_and_heartbeats_go_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.drivers.mavlink._HEARTBEAT_NS", 0)
    with _vehicle() as (recorder, driver):
        before = len(recorder.heard)
        for action in Action:
            driver.exchange(action, _AHEAD)
        _until(
            driver, Action.SAFE, _AHEAD, lambda _: len(recorder.heard) >= before + 12
        )
        kinds = [type(m) for m in recorder.heard[before:]]
        assert abs(kinds.count(ManualControl) - kinds.count(Heartbeat)) <= 1


def test_safe_disarms_within_its_round() -> None:
    with _vehicle() as (recorder, driver):
        _drive(driver)
        driver.exchange(Action.SAFE, _AHEAD)
        assert not recorder.sub.armed
        assert not driver.vehicle.armed


def test_safe_is_left_by_following_again() -> None:
    with _vehicle() as (recorder, driver):
        for _ in range(2):
            assert _drive(driver).applied[0] == 0.5
            reading = driver.exchange(Action.SAFE, _AHEAD)
            assert not reading.applied.any()
            assert not recorder.sub.armed


def test_a_vehicle_that_disarms_by_itself_is_not_armed_again() -> None:
    with _vehicle() as (recorder, driver):
        _drive(driver)
        recorder.sub.disarm()
        reading = _until(
            driver, Action.FOLLOW, _AHEAD, lambda r: any(f.latched for f in r.faults)
        )
        assert not reading.applied.any()
        for action in (Action.RELAX, Action.FOLLOW, Action.FOLLOW, Action.SAFE):
            driver.exchange(action, _AHEAD)
        for _ in range(10):
            reading = driver.exchange(Action.FOLLOW, _AHEAD)
        assert "disarmed by itself" in reading.faults[-1].text
        assert not recorder.sub.armed
        driver.clear_faults()
        assert not _until(
            driver, Action.RELAX, _AHEAD, lambda r: not r.faults
        ).applied.any()
        assert _drive(driver).applied[0] == 0.5


def test_a_mode_that_somebody_else_sets_is_left_alone() -> None:
    with _vehicle() as (recorder, driver):
        _drive(driver)
        recorder.sub.mode = MODES["surface"]
        reading = _until(
            driver, Action.FOLLOW, _AHEAD, lambda r: any(f.latched for f in r.faults)
        )
        assert "went to surface by itself" in reading.faults[-1].text
        for _ in range(10):
            driver.exchange(Action.FOLLOW, _AHEAD)
        assert recorder.sub.mode == MODES["surface"]
        assert recorder.sub.armed


def test_refused_arming_is_told_with_its_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("app.drivers.mavlink._ASK_AGAIN_NS", 20_000_000)

    def refuse(sub: VirtualSub) -> None:
        sub.refuse_arming = "Depth sensor not healthy"

    texts: list[str] = []

    def latched(reading: Reading) -> bool:
        texts.extend(fault.text for fault in reading.faults)
        return any(fault.latched for fault in reading.faults)

    with _vehicle(prepare=refuse) as (recorder, driver):
        _until(driver, Action.FOLLOW, _AHEAD, latched)

        def asked() -> int:
            orders = [m.command for m in recorder.heard if isinstance(m, Command)]
            return orders.count(400) + orders.count(176)

        _until(driver, Action.FOLLOW, _AHEAD, lambda _: asked() >= 6)
        last = len(recorder.sticks())
        _until(
            driver, Action.FOLLOW, _AHEAD, lambda _: len(recorder.sticks()) > last + 9
        )
        assert asked() == 6, "and then no more"
    assert "The vehicle says (critical): PreArm: Depth sensor not healthy" in texts
    assert any("not armed yet; it answered: failed" in text for text in texts)


def test_a_silent_vehicle_is_told_and_driven_again_after_a_neutral_round() -> None:
    with _vehicle(quiet_s=0.3) as (recorder, driver):
        _drive(driver)
        recorder.sub.silent = True
        silent = _until(driver, Action.FOLLOW, _AHEAD, lambda r: not r.answered.any())
        assert not silent.applied.any()
        assert "silent" in silent.faults[-1].text
        recorder.sub.silent = False
        back = _until(driver, Action.FOLLOW, _AHEAD, lambda r: bool(r.answered.all()))
        assert not back.applied.any()
        assert driver.exchange(Action.FOLLOW, _AHEAD).applied[0] == 0.5


def test_a_vehicle_that_started_anew_is_noticed() -> None:
    with _vehicle() as (recorder, driver):
        _drive(driver)
        recorder.sub.restart()
        reading = _until(
            driver, Action.FOLLOW, _AHEAD, lambda r: any(f.latched for f in r.faults)
        )
        assert not reading.applied.any()
        assert not recorder.sub.armed


def test_failsafes_are_looked_at_and_set_only_when_asked() -> None:
    def careless(sub: VirtualSub) -> None:
        sub.parameters |= {"FS_PILOT_INPUT": 0.0, "FS_GCS_ENABLE": 1.0}

    with _vehicle(prepare=careless) as (recorder, driver):
        assert np.isnan(driver.watchdog_s)
        texts = [fault.text for fault in driver.exchange(Action.SAFE, _AHEAD).faults]
        assert any(text.startswith("FS_PILOT_INPUT is 0") for text in texts)
        assert any(text.startswith("FS_GCS_ENABLE is 1") for text in texts)
        assert recorder.sub.parameters["FS_PILOT_INPUT"] == 0.0
    with _vehicle(prepare=careless, set_failsafes=True) as (recorder, driver):
        assert driver.watchdog_s == 3.0
        assert not driver.exchange(Action.SAFE, _AHEAD).faults
        assert recorder.sub.parameters["FS_GCS_ENABLE"] == 2.0


def test_a_vehicle_that_obeys_another_station_is_told() -> None:
    def foreign(sub: VirtualSub) -> None:
        sub.parameters["SYSID_MYGCS"] = 254.0

    with _vehicle(prepare=foreign) as (_, driver):
        faults = driver.exchange(Action.SAFE, _AHEAD).faults
        assert "obeys ground station 254 only" in faults[0].text


def test_a_missing_vehicle_is_an_error_that_says_what_to_do() -> None:
    driver = build_mavlink(MavlinkParameters(host="127.0.0.1", udp_port=9, find_s=0.1))
    with pytest.raises(DeviceError, match="no heartbeat of vehicle 1"):
        driver.open()
    assert not driver.is_open


def test_another_vehicle_is_not_ours() -> None:
    with UdpCarrier(VirtualSub(system=7)) as served:
        driver = build_mavlink(
            MavlinkParameters(host=served.host, udp_port=served.port, find_s=0.3)
        )
        with pytest.raises(DeviceError, match="no heartbeat"):
            driver.open()


def test_unplugged_and_plugged_again() -> None:
    line, parameters = virtual_mavlink(MavlinkParameters(serial="-"))
    driver = build_mavlink(parameters)
    driver.open()
    _drive(driver)
    line.close()
    with pytest.raises(DeviceError, match="gone"):
        driver.exchange(Action.FOLLOW, _AHEAD)
    driver.close()
    with pytest.raises(DeviceError):
        driver.open()
    line, parameters = virtual_mavlink(MavlinkParameters(serial="-"))
    with line, build_mavlink(parameters) as driver:
        driver.exchange(Action.HOLD, _AHEAD)
        assert not driver.vehicle.armed


def test_signed_both_ways() -> None:
    served, parameters = virtual_mavlink(MavlinkParameters(host="-", signing_key="k"))
    with served, build_mavlink(parameters) as driver:
        assert _drive(driver).applied[0] == 0.5
    served, parameters = virtual_mavlink(MavlinkParameters(host="-", signing_key="k"))
    with served:
        other = {"signing_key": "another", "find_s": 0.2}
        driver = build_mavlink(parameters.model_copy(update=other))
        with pytest.raises(DeviceError, match="no heartbeat"):
            driver.open()


class _Noise(VirtualDevice):
    """Answers like a vehicle now and then, with noise and spoilt frames between."""

    def __init__(self, seed: int) -> None:
        self.actuators = VirtualActuators(np.zeros(4))
        self._draw = np.random.default_rng(seed)
        self._sub = VirtualSub(4)

    def feed(self, now_ns: int, received: bytes) -> bytes:
        said = bytearray(self._sub.feed(now_ns, received) + self._sub.advance(now_ns))
        kind = int(self._draw.integers(3))
        if kind == 0 and said:
            said[int(self._draw.integers(len(said)))] ^= 0x10
        if kind == 1:
            said = bytearray(self._draw.bytes(20)) + said
        return bytes(said)


def fuzz_mavlink_driver(count: int, seed: int) -> None:
    """Answer the driver with noise and spoilt frames; only Fault or DeviceError."""
    with UdpCarrier(_Noise(seed)) as served:
        driver = build_mavlink(
            MavlinkParameters(
                host=served.host, udp_port=served.port, find_s=0.5, timeout_s=0.01
            )
        )
        actions = list(Action)
        for i in range(count):
            try:
                if not driver.is_open:
                    driver.open()
                driver.exchange(actions[i % 4], np.full(4, 0.5))
                driver.identify()
            except DeviceError:
                driver.close()
        driver.close()


def test_noise_does_no_harm() -> None:
    fuzz_mavlink_driver(60, 4)
