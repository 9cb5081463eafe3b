"""Codes told from those of an earlier frame, against the fields taken one by one."""

import numpy as np
import pytest

from app.config.robot import build_robot_model, load_robot
from app.errors import FrameError
from app.link.delta_codes import DeltaCodes
from app.link.packing import BitWriter
from app.link.radix import Radix
from app.link.schema import Grade, Schema

SCHEMA = Schema(build_robot_model(load_robot("ursula")))
LAYOUTS = SCHEMA.setpoint[Grade.FINE].limbs
LIMBS = SCHEMA.limbs
HEAD, HEAD_BITS = 0b101, 3


@pytest.fixture(name="radix", scope="module")
def make_radix() -> Radix:
    return Radix(LAYOUTS)


@pytest.fixture(name="deltas", scope="module")
def make_deltas(radix: Radix) -> DeltaCodes:
    return DeltaCodes(radix)


def pose(seed: int, width: float) -> np.ndarray:
    axes = [axis for layout in LAYOUTS for axis in layout.axes]
    share = 0.5 + width * (np.random.default_rng(seed).random(len(axes)) - 0.5)
    spans = [axis.levels * axis.step for axis in axes]
    return (np.array([axis.low for axis in axes]) + share * spans).reshape(-1, 3)


def plain(codes: np.ndarray, base: np.ndarray) -> bytes:
    """The fields as `app.link.packed` has them in its table."""
    writer = BitWriter()
    writer.put(HEAD, HEAD_BITS)
    for limb in range(LIMBS):
        own = slice(3 * SCHEMA.segment_start[limb], 3 * SCHEMA.segment_start[limb + 1])
        steps = (codes - base)[own].tolist()
        width = (2 * max(map(abs, steps))).bit_length()
        writer.put(width, 4)
        for step in steps if width else []:
            writer.put(step + (1 << (width - 1)), width)
    return writer.to_bytes()


@pytest.mark.parametrize("step", [0.0, 1e-3, 0.02])
def test_what_is_written_is_read(radix: Radix, deltas: DeltaCodes, step: float) -> None:
    radix.write(0, LIMBS, pose(1, 0.5))
    base = radix.codes()
    told, number = radix.write(0, LIMBS, pose(1, 0.5) + step * pose(2, 0.5))
    codes = radix.codes()
    delta = deltas.write(HEAD, HEAD_BITS, base)
    assert delta == plain(codes, base)
    frame = b"\x55" + delta + b"behind"
    radix.write(0, LIMBS, pose(3, 0.5))
    after, rows = deltas.read(frame, 8 + HEAD_BITS, 8 * len(frame), base)
    assert frame[after:] == b"behind"
    assert radix.number() == number
    np.testing.assert_array_equal(radix.codes(), codes)
    np.testing.assert_array_equal(rows, radix.read(told, number, 0, LIMBS))


def test_a_code_too_far_away_is_not_told(radix: Radix, deltas: DeltaCodes) -> None:
    radix.write(0, LIMBS, pose(1, 0.5))
    base = radix.codes()
    base[4] += 1 << 14
    assert deltas.write(HEAD, HEAD_BITS, base) is None
    base[4] -= 1
    assert deltas.write(HEAD, HEAD_BITS, base) is not None


def test_what_no_one_writes_is_refused(radix: Radix, deltas: DeltaCodes) -> None:
    radix.write(0, LIMBS, pose(1, 0.5))
    base = radix.codes()
    radix.write(0, LIMBS, pose(1, 0.5) + 0.02 * pose(2, 0.5))
    delta = deltas.write(HEAD, HEAD_BITS, base)
    assert delta is not None
    end = 8 * len(delta)
    with pytest.raises(FrameError, match="cut"):
        deltas.read(delta, HEAD_BITS, end - 8, base)
    with pytest.raises(FrameError, match="cut"):
        deltas.read(delta, HEAD_BITS, HEAD_BITS + 3, base)
    still = bytes(LIMBS)  # widths of 0, after three bits, leave some of the last byte
    with pytest.raises(FrameError, match="set bits"):
        deltas.read(still[: (3 + 4 * LIMBS) // 8] + b"\x01", 3, 8 * LIMBS, base)
    with pytest.raises(FrameError, match="out of the range"):
        deltas.read(delta, HEAD_BITS, end, base + 100_000)
    corner = np.array([axis.levels - 1 for layout in LAYOUTS for axis in layout.axes])
    with pytest.raises(FrameError, match="bend"):
        deltas.read(still, 0, 8 * LIMBS, corner)
