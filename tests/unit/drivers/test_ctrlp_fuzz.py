"""Noise on a Ctrl-P line, both ways."""

import random

import numpy as np

from app.clock import NS_PER_MS
from app.drivers.base import Action
from app.drivers.ctrlp import build_ctrlp
from app.drivers.virtual.ctrlp import VirtualCtrlP, virtual_ctrlp
from app.errors import DeviceError
from tests.unit.drivers.test_ctrlp import PARAMETERS, WANTED, N

_BATCH = 16
"""Lines that a fuzzer gives at once, before it looks what moved."""


def fuzz_virtual_ctrlp(count: int, seed: int) -> None:
    """Feed noise and damaged commands: no exception; setpoints within minp and maxp.

    The protocol has no checksum: a damaged command may be a valid other one, and then
    moves; random bytes hold none.
    """
    draw = random.Random(seed)
    commands = [b"set;0.00;1.00;2.00;3.00\n", b"valve;-1.00\n", b"pid;0;1;2;3\n"]
    commands += [b"units;1;1\n", b"maxp\n", b"trajset;1;2;3\n", b"echo;0\n", b"load\n"]
    device, noisy = VirtualCtrlP(N), VirtualCtrlP(N)
    noisy.feed(0, b"mode;1\nset;0;1;2;3\n")
    held = noisy.setpoint_kpa
    for step in range(0, count, _BATCH):
        device.feed(step, b"".join(hurt(draw, commands) for _ in range(_BATCH)))
        device.advance(step)
        goal, _ = device.actuators.told()
        assert np.isfinite(goal).all()
        pieces = [draw.randbytes(draw.randrange(60)) for _ in range(_BATCH)]
        noisy.feed(step, b"\n".join(pieces) + b"\n")
        assert noisy.setpoint_kpa == held
        assert noisy.modes == (1, 1, 1)


def hurt(draw: random.Random, commands: list[bytes]) -> bytes:
    data = bytearray(draw.choice(commands))
    for _ in range(draw.randrange(4)):
        data[draw.randrange(len(data))] = draw.randrange(256)
    return bytes(data)


def fuzz_ctrlp_driver(count: int, seed: int) -> None:
    """Damage what the controller says for `count` rounds: faults and DeviceError."""
    draw = random.Random(seed)

    def damage(data: bytes) -> bytes:
        hurt = bytearray(data)
        if draw.random() < 0.3 and hurt:
            hurt[draw.randrange(len(hurt))] ^= 1 << draw.randrange(8)
        if draw.random() < 0.1:
            hurt += draw.randbytes(draw.randrange(100))
        return bytes(hurt)

    patient = PARAMETERS.model_copy(update={"silent_s": 60.0})
    carrier, parameters = virtual_ctrlp(patient)
    device = carrier.device
    assert isinstance(device, VirtualCtrlP)
    with carrier:
        driver = build_ctrlp(parameters)
        driver.open()
        driver._dialogue._timeout_ns = 2 * NS_PER_MS
        driver._start_ns = 20 * NS_PER_MS
        device.damage_out = damage
        for _ in range(count):
            try:
                driver.open()
                driver.exchange(Action.FOLLOW, WANTED)
            except DeviceError:
                driver.close()
            goal, _ = device.actuators.told()
            assert ((goal >= -20.1) & (goal <= 80.1)).all()
        device.damage_out = None
        driver.close()


def test_noise_towards_the_controller() -> None:
    fuzz_virtual_ctrlp(2000, seed=1)


def test_noise_in_the_answers() -> None:
    fuzz_ctrlp_driver(40, seed=2)
