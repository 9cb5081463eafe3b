"""The schema: what a robot's limits give, and how far quantisation moves a tip.

The bound is checked against forward kinematics that the schema does not use; tolerance
1e-9 m for the rounding of sums.
"""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.config.robot import build_robot_model, load_robot
from app.errors import FrameError
from app.link.layout import SegmentRange, limb_layout, unpack_codes
from app.link.schema import Grade, Schema
from models.arc import arc_pose

ROBOTS = {
    name: build_robot_model(load_robot(name))
    for name in ("ursula", "rov-arm", "silver2")
}


def tip(model, limb, rows):
    """Pose of a limb's tip in its base frame."""
    pose, step = np.eye(4), np.empty((4, 4))
    start = model.limb_segment_start[limb]
    for index, (x, y, extension) in enumerate(rows):
        arc_pose(x, y, model.segment_length[start + index] + extension, step)
        pose = pose @ step
    return pose


def poses(model, limb, count, seed):
    """Random poses of a limb, the corners of its range, and straight."""
    draw = np.random.default_rng(seed)
    start, stop = model.limb_segment_start[limb : limb + 2]
    bend, extension = model.bend_limit[start:stop], model.extension_range[start:stop]
    for k in range(count):
        corner = k % 3 == 0
        size = np.ones(stop - start) if corner else np.sqrt(draw.random(stop - start))
        angle = draw.random(stop - start) * 2.0 * math.pi
        part = draw.random(stop - start)
        part = np.round(part) if corner else part
        rows = np.empty((stop - start, 3))
        rows[:, 0] = bend * size * np.cos(angle)
        rows[:, 1] = bend * size * np.sin(angle)
        rows[:, 2] = extension[:, 0] + part * (extension[:, 1] - extension[:, 0])
        if k % 7 == 0:
            rows[:, :2] *= 1e-3
        yield rows


def greatest_errors(model, limb, layout, count=300):
    """Greatest error of position [m] and of rotation [rad] at the tip."""
    most, turned = 0.0, 0.0
    for rows in poses(model, limb, count, 1):
        codes = layout.codes(rows)
        ((again),) = unpack_codes([layout], layout.pack(codes))
        there, told = tip(model, limb, rows), tip(model, limb, layout.rows(again))
        most = max(most, float(np.linalg.norm(there[:3, 3] - told[:3, 3])))
        cosine = (np.trace(there[:3, :3].T @ told[:3, :3]) - 1.0) / 2.0
        turned = max(turned, math.acos(min(1.0, max(-1.0, cosine))))
    return most, turned


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("grade", Grade)
def test_quantisation_moves_no_tip_past_the_bound(name, grade, record_property):
    model = ROBOTS[name]
    schema = Schema(model)
    for limb, layout in enumerate(schema.setpoint[grade].limbs):
        most, turned = greatest_errors(model, limb, layout)
        record_property(f"{name} {limb}", f"{most * 1e3:.3f} mm {turned:.4f} rad")
        assert most <= layout.error + 1e-9 <= grade.error + 2e-9
        assert turned <= layout.angle + 1e-7
        assert layout.angle <= math.radians(1.0) * grade.error / 1e-3
        assert most > 0.3 * layout.error, "the bound is not idle"


def test_ursula_within_1_mm_and_1_degree_in_160_bits():
    schema = Schema(ROBOTS["ursula"])
    layout = schema.setpoint[Grade.STANDARD]
    assert schema.segment_start[-1] * 3 == 18
    assert layout.bits(schema.all_limbs) <= 160 - 3
    assert layout.error <= 1e-3
    assert layout.angle <= math.radians(1.0)


def test_a_whole_active_limb_fits_a_compact_frame():
    model = ROBOTS["ursula"]
    schema = Schema(model)
    for limb in schema.all_limbs:
        (part,) = schema.compact_setpoint[limb]
        assert part.layout.span <= 1 << 39
        most, _ = greatest_errors(model, limb, part.layout)
        assert most <= part.layout.error <= 5.5e-3


@pytest.mark.parametrize("name", ROBOTS)
def test_compact_parts_cover_every_segment_once(name):
    schema = Schema(ROBOTS[name])
    for limb in schema.all_limbs:
        for parts in (schema.compact_setpoint[limb], schema.compact_telemetry[limb]):
            told = [
                segment
                for part in parts
                for segment in range(part.first, part.first + len(part.layout.bends))
            ]
            assert told == list(range(schema.segments(limb)))
            assert max(part.layout.error for part in parts) <= 8e-3


def test_both_sides_come_to_the_same_and_any_limit_counts():
    model = ROBOTS["ursula"]
    digest = Schema(model).digest
    assert Schema(build_robot_model(load_robot("ursula"))).digest == digest
    for field in (
        "bend_limit",
        "segment_length",
        "extension_range",
        "tendon_tension_limit",
    ):
        other = model._replace(**{field: getattr(model, field) * 1.001})
        assert Schema(other).digest != digest, field


def test_a_robot_of_too_many_limbs_is_refused():
    many = ROBOTS["ursula"]._replace(limb_segment_start=np.arange(10))
    with pytest.raises(FrameError, match="9 limbs"):
        Schema(many)


@given(st.integers(0, 2**80))
@settings(deadline=None)
def test_any_number_is_read_or_refused(value):
    layout = Schema(ROBOTS["ursula"]).setpoint[Grade.STANDARD].limbs[0]
    if value >= layout.span:
        with pytest.raises(FrameError):
            unpack_codes([layout], value)
    else:
        (codes,) = unpack_codes([layout], value)
        assert layout.pack(codes) == value


def test_straight_is_told_exactly_and_a_fixed_length_takes_no_bits():
    layout = limb_layout([SegmentRange(0.3, 1.0, 0.0, 0.0)], 1e-3, 0.1, 0.0)
    assert layout.axes[2].levels == 1
    rows = layout.rows(layout.codes(np.zeros((1, 3))))
    assert np.abs(rows).max() < 1e-15


def test_a_bend_outside_the_disc_is_refused():
    layout = Schema(ROBOTS["ursula"]).setpoint[Grade.STANDARD].limbs[0]
    codes = [axis.levels - 1 for axis in layout.axes]
    with pytest.raises(FrameError, match="Bend"):
        layout.rows(codes)
