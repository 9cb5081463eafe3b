"""What the tests of the servo drivers share: buses, and rounds until it holds."""

import random
import threading

import numpy as np

from app.drivers.base import Action
from app.drivers.servo_parameters import (
    DynamixelParameters,
    FeetechParameters,
    build_dynamixel,
    build_feetech,
    virtual_dynamixel,
    virtual_feetech,
)
from app.drivers.virtual.base import Drive, VirtualDevice
from app.errors import DeviceError

MOST_ROUNDS = 3000
PATIENT_MS = 60.0
"""A busy machine may take as long to let a virtual servo answer."""


def dynamixels(count=3, **more):
    servos = [
        {
            "id": servo,
            "model": "xm430-w350",
            "least_rad": -20.0,
            "greatest_rad": 20.0,
            "current_limit_ma": 400.0,
            "relaxed_current_ma": 30.0,
        }
        for servo in range(1, count + 1)
    ]
    line = {"port": "none", "timeout_ms": PATIENT_MS, **more}
    return DynamixelParameters(driver="dynamixel", servos=servos, **line)


def feetechs(count=3, **more):
    servos = [
        {
            "id": servo,
            "least_rad": 0.5,
            "greatest_rad": 6.0,
            "torque_limit_percent": 80.0,
        }
        for servo in range(1, count + 1)
    ]
    line = {"port": "none", "timeout_ms": PATIENT_MS, **more}
    return FeetechParameters(driver="feetech", servos=servos, **line)


def serve(parameters):
    """Return a carrier and a driver that is not open."""
    if isinstance(parameters, DynamixelParameters):
        carrier, pointed = virtual_dynamixel(parameters)
        return carrier, build_dynamixel(pointed)
    carrier, pointed = virtual_feetech(parameters)
    return carrier, build_feetech(pointed)


def rounds_until(driver, action, goals, holds):
    """Exchange, a few ms apart, until `holds(reading)`; return that reading."""
    pause = threading.Event()
    for _ in range(MOST_ROUNDS):
        reading = driver.exchange(action, np.asarray(goals, dtype=np.float64))
        if holds(reading):
            return reading
        pause.wait(0.002)
    raise AssertionError(f"never held; last: {reading}")


class Liar(VirtualDevice):
    """A bus whose answers are now and then anything."""

    def __init__(self, honest, rng):
        self.honest = honest
        self.actuators = honest.actuators
        self.rng = rng
        self.lies = False

    def feed(self, now_ns, received):
        said = bytearray(self.honest.feed(now_ns, received))
        if not said or not self.lies or self.rng.random() < 0.8:
            return bytes(said)
        kind = self.rng.randrange(4)
        if kind == 0:
            return self.rng.randbytes(self.rng.randrange(1, 60))
        if kind == 1:
            return bytes(said[: self.rng.randrange(len(said))])
        if kind == 2:
            place = self.rng.randrange(len(said))
            said[place] ^= self.rng.randrange(1, 256)
            return bytes(said)
        return bytes(said) + self.rng.randbytes(5)

    def advance(self, now_ns):
        return self.honest.advance(now_ns)


def _open_at_last(driver):
    for _ in range(50):  # a busy machine may miss a short timeout
        try:
            driver.open()
        except DeviceError:
            continue
        return
    raise AssertionError("an honest bus cannot be opened")


def _need_goals_in_range(driver, actuators):
    goal, drive = actuators.told()
    for channel, angle, how in zip(driver.channels, goal, drive, strict=True):
        inside = channel.least - 0.002 <= angle <= channel.greatest + 0.002
        assert how != Drive.DRIVEN or inside, (channel, angle)


def fuzz_servo_driver(parameters, count: int, seed: int) -> None:
    """Let a bus lie to its driver; raise where anything but DeviceError comes of it."""
    carrier, driver = serve(parameters)
    rng = random.Random(seed)
    device = Liar(carrier.device, rng)
    carrier.device = device
    goals = np.full(len(driver.channels), 2.0)
    with carrier:
        _open_at_last(driver)
        device.lies = True
        for _ in range(count):
            driver._retry_ns = [0] * len(driver.channels)  # try the silent at once
            try:
                reading = driver.exchange(Action(rng.randrange(4)), goals)
            except DeviceError:
                device.lies = False
                driver.close()
                _open_at_last(driver)
                device.lies = True
                continue
            assert np.isfinite(reading.measured[reading.answered]).all()
            _need_goals_in_range(driver, device.actuators)
            assert np.isnan(reading.measured[~reading.answered]).all()
        device.lies = False
        driver.close()
