"""The kernels write and read the numbers that the layout of each limb defines."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.config.robot import build_robot_model, load_robot, robot_names
from app.errors import FrameError
from app.link.layout import unpack_codes
from app.link.radix import Radix
from app.link.schema import Grade, Schema

SCHEMAS = {
    name: Schema(build_robot_model(load_robot(name)))
    for name in robot_names()
    if name in {"ursula", "rov-arm", "silver2"}
}


@cache
def radix_of(name: str, grade: Grade) -> Radix:
    return Radix(SCHEMAS[name].setpoint[grade].limbs)


def poses(schema: Schema, seed: int, width: float) -> np.ndarray:
    """(S, 3) within and, where `width` is above 1, beyond the limits."""
    random = np.random.default_rng(seed)
    layouts = schema.setpoint[Grade.FINE].limbs
    axes = np.array(
        [[axis.low, axis.levels * axis.step] for part in layouts for axis in part.axes]
    )
    share = 0.5 + width * (random.random(len(axes)) - 0.5)
    return (axes[:, 0] + share * axes[:, 1]).reshape(-1, 3)


@settings(deadline=None, max_examples=50)  # the first example compiles
@given(
    st.sampled_from(sorted(SCHEMAS)),
    st.sampled_from(list(Grade)),
    st.integers(0, 10_000),
    st.sampled_from([0.5, 1.0, 3.0]),
)
def test_numbers_are_those_of_the_layouts(
    name: str, grade: Grade, seed: int, width: float
) -> None:
    schema = SCHEMAS[name]
    layouts = schema.setpoint[grade].limbs
    radix = radix_of(name, grade)
    pose = poses(schema, seed, width)
    told, number = radix.write(0, schema.limbs, pose)
    parts = [
        layout.codes(pose[schema.rows(limb)]) for limb, layout in enumerate(layouts)
    ]
    wanted = 0
    for layout, codes in zip(layouts, parts, strict=True):
        wanted = layout.pack(codes, wanted)
    assert told == (1 << schema.limbs) - 1
    assert number == wanted
    assert radix.codes().tolist() == [code for part in parts for code in part]
    assert unpack_codes(layouts, number) == parts
    rows = radix.read(told, number, 0, schema.limbs)
    for limb, (layout, codes) in enumerate(zip(layouts, parts, strict=True)):
        np.testing.assert_allclose(
            rows[schema.rows(limb)], layout.rows(codes), rtol=1e-15, atol=1e-18
        )


def test_limbs_that_are_left_out_take_no_room() -> None:
    schema = SCHEMAS["ursula"]
    layouts = schema.setpoint[Grade.STANDARD].limbs
    radix, pose = Radix(layouts), poses(schema, 1, 0.5)
    pose[schema.rows(1)] = np.nan
    told, number = radix.write(0, 4, pose)
    assert told == 0b1101
    assert number < layouts[0].span * layouts[2].span * layouts[3].span
    rows = radix.read(told, number, 0, 4)
    assert np.isnan(rows[schema.rows(1)]).all()
    alone, short = radix.write(1, 2, poses(schema, 2, 0.5)[schema.rows(1)])
    assert alone == 0b10
    assert short < layouts[1].span


@pytest.mark.parametrize("wild", [np.nan, np.inf])
def test_what_is_not_finite_is_no_number(wild: float) -> None:
    schema = SCHEMAS["ursula"]
    radix, pose = Radix(schema.setpoint[Grade.FINE].limbs), poses(schema, 1, 0.5)
    pose[2, 1] = wild
    assert radix.write(0, 4, pose)[0] == -1


def test_a_number_that_is_too_great_is_none() -> None:
    schema = SCHEMAS["ursula"]
    layouts = schema.setpoint[Grade.FINE].limbs
    radix = Radix(layouts)
    span = 1
    for layout in layouts:
        span *= layout.span
    # the last number is of the corners of squares, outside of what a segment can bend
    with pytest.raises(FrameError, match="bend"):
        radix.read(15, span - 1, 0, 4)
    with pytest.raises(FrameError, match="range"):
        radix.read(15, span, 0, 4)
