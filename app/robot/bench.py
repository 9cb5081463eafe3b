"""A rig on the bench: its buses opened one by one, without limbs, bridge or link."""

import math
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np
import tomlkit
from tomlkit.exceptions import TOMLKitError

from app.clock import NS_PER_S, MonotonicClock
from app.config.loader import find_asset
from app.drivers.base import Action, Driver, Reading
from app.drivers.kinds import Carrier, build_driver, build_virtual
from app.errors import ConfigError, DeviceError
from app.robot.jog import JogEnd, JogSample, jog, stand
from app.robot.rig_file import load_rig

__all__ = ["Bench", "read", "write_calibration", "write_range"]

_READ_ROUNDS = 6
_END_S = 20.0  # for a whole range, when its ends are sought


def read(driver: Driver) -> Reading:
    """Read a bus a few times, nothing driven; slow values come in turn."""
    nothing = np.full(len(driver.channels), np.nan)
    reading = driver.exchange(Action.SAFE, nothing)
    for _ in range(_READ_ROUNDS + len(driver.channels)):
        reading = driver.exchange(Action.SAFE, nothing)
    return reading


class Bench:
    """A rig's drivers, opened; a context manager that makes all safe at its end."""

    def __init__(self, rig: str, *, virtual: bool) -> None:
        """Load a rig; nothing is opened.

        Args:
            rig: a shipped name or a path.
            virtual: serve the shipped virtual devices, and use those.

        Raises:
            ConfigError: no such rig, or its file is wrong.
        """
        self.path = find_asset("rigs", rig)
        self._rig, _ = load_rig(rig)
        self._virtual = virtual
        self.carriers: list[Carrier] = []
        self._period_s = {bus.name: 1.0 / bus.rate_hz for bus in self._rig.buses}
        self.drivers: dict[str, Driver] = {}

    def __enter__(self) -> Self:
        """Open all buses.

        Raises:
            DeviceError: one cannot be opened; those that were are closed again.
        """
        try:
            for bus in self._rig.buses:
                line = bus.line
                if self._virtual:
                    carrier, line = build_virtual(line)
                    self.carriers.append(carrier)
                driver = build_driver(line, bus.rate_hz)
                driver.open()
                self.drivers[bus.name] = driver
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Make safe and close."""
        self.close()

    def close(self) -> None:
        """Make safe and close; any further call does nothing."""
        for driver in self.drivers.values():
            driver.close()
        for carrier in self.carriers:
            carrier.close()
        self.drivers.clear()
        self.carriers.clear()

    def find(self, actuator: str) -> tuple[str, Driver, int]:
        """Find an actuator by BUS:NUMBER.

        Returns:
            Its bus's name and driver, and the index of its channel.

        Raises:
            ConfigError: there is none of that name.
        """
        bus, _, number = actuator.partition(":")
        driver = self.drivers.get(bus)
        if driver is None or not number.isdigit():
            raise ConfigError(
                f"Actuator {actuator!r}: write BUS:NUMBER with one of the buses "
                f"{', '.join(self.drivers)}, such as {next(iter(self.drivers))}:1."
            )
        if not 1 <= int(number) <= len(driver.channels):
            raise ConfigError(
                f"Actuator {actuator!r}: bus {bus} has 1 to {len(driver.channels)}."
            )
        return bus, driver, int(number) - 1

    def zero(self, driver: Driver, channel: int) -> float:
        """Where an actuator stands now [its unit].

        Raises:
            DeviceError: it does not tell.
        """
        return stand(driver, channel)

    def ends(self, driver: Driver, channel: int, load: float) -> tuple[float, float]:
        """Find both ends of an actuator by its load, a range in 20 s; then go back.

        Args:
            driver: of its bus.
            channel: index of its channel.
            load: that says it is at an end [its load unit].

        Returns:
            Least and greatest reading [its unit].

        Raises:
            DeviceError: the bus is gone, or it ended for another reason.
        """
        limits = driver.channels[channel]
        far = limits.greatest - limits.least
        start = stand(driver, channel)
        ends = []
        for way in (-1.0, 1.0):
            *_, last = self.jog(driver, channel, way * far, _END_S, load)
            if last.end not in {JogEnd.LOADED, JogEnd.THERE, JogEnd.STUCK}:
                raise DeviceError(f"{limits.name}: {last.end.value}. {last.text}")
            ends.append(last.measured)
        way_back = start - ends[1]
        seconds = max(1.0, _END_S * abs(way_back) / far)
        for _ in self.jog(driver, channel, way_back, seconds, load):
            pass
        return ends[0], ends[1]

    def jog(
        self,
        driver: Driver,
        channel: int,
        by: float,
        seconds: float,
        load: float | None,
    ) -> Iterator[JogSample]:
        """Move an actuator, a round of its bus at a time, then make the bus safe.

        Args:
            driver: of its bus.
            channel: index of its channel.
            by: how far [its unit].
            seconds: how long that takes [s].
            load: load at which it stops; None: none.

        Yields:
            A sample a round.

        Raises:
            DeviceError: the bus is gone.
        """
        name = next(key for key, value in self.drivers.items() if value is driver)
        period_s = self._period_s[name]
        step = max(abs(by), 1e-9) * period_s / seconds
        limit = math.inf if load is None else load
        clock = MonotonicClock()
        next_ns = clock.now_ns()
        try:
            for sample in jog(driver, channel, by, step, load_limit=limit):
                yield sample
                next_ns += round(period_s * NS_PER_S)
                clock.wait_until(next_ns)
        finally:
            driver.exchange(Action.SAFE, np.full(len(driver.channels), np.nan))


def write_calibration(
    path: Path, to: Path, *, bus: str, channel: int, zero: float, sign: int | None
) -> None:
    """Write a rig's file with another zero and sign of one actuator.

    Comments and order of the file are kept.

    Args:
        path: the rig's file.
        to: file to write; may be the same.
        bus: name of the actuator's bus.
        channel: index of its channel.
        zero: its reading at rest [its unit].
        sign: +1 or -1; None: leave it, as a chamber has none.

    Raises:
        ConfigError: the file cannot be read or written, or no table has the actuator.
    """
    document = _document(path)
    for table in ("winches", "chambers", "joints"):
        for part in document.get(table, []):
            if part["bus"] != bus or channel + 1 not in part["channels"]:
                continue
            place = list(part["channels"]).index(channel + 1)
            count = len(part["channels"])
            zeros = list(part.get("zero", [0.0] * count))
            signs = list(part.get("sign", [1] * count))
            zeros[place] = round(zero, 6)
            part["zero"] = zeros
            if sign is not None:
                signs[place] = sign
                part["sign"] = signs
            _write(document, to)
            return
    raise ConfigError(
        f"{path}: no table [[winches]], [[chambers]] or [[joints]] has channel "
        f"{channel + 1} of bus {bus!r}."
    )


def write_range(
    path: Path, to: Path, *, bus: str, channel: int, ends: tuple[float, float]
) -> None:
    """Write a rig's file with another range of one servo.

    Args:
        path: the rig's file.
        to: file to write; may be the same.
        bus: name of the servo's bus.
        channel: index of its channel.
        ends: least and greatest angle [rad].

    Raises:
        ConfigError: the file cannot be read or written, or the bus has no servos.
    """
    document = _document(path)
    for one in document.get("buses", []):
        if one["name"] != bus:
            continue
        if "servos" not in one:
            raise ConfigError(
                f"{path}: bus {bus!r} has no servos: the range of a valve is its "
                "pressure; write it into the file."
            )
        servo = one["servos"][channel]
        servo["least_rad"], servo["greatest_rad"] = (round(end, 4) for end in ends)
        _write(document, to)
        return
    raise ConfigError(f"{path}: there is no bus {bus!r}.")


def _document(path: Path) -> tomlkit.TOMLDocument:
    try:
        return tomlkit.parse(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, TOMLKitError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}.") from error


def _write(document: tomlkit.TOMLDocument, to: Path) -> None:
    try:
        to.write_text(tomlkit.dumps(document), encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{to}: cannot be written: {error}.") from error
