"""Bytes of the contact model: golden, there and back, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.errors import FrameError
from app.teleop.contact_codec import hear_contact, read_contacts, write_contact
from models.environment_report import (
    PLANE,
    SPHERE,
    SurfaceStatus,
    allocate_report,
)

DAY_NS = 86_400_000_000_000


def report(**values):
    made = allocate_report()
    made.number[0] = 3
    made.status[0], made.kind[0] = SurfaceStatus.MOVED, PLANE
    made.estimated_ns[0] = 1_234_567_000_000
    made.point[:], made.normal[:] = (0.1, -0.2, -0.3), (0.0, 0.6, 0.8)
    made.stiffness[0], made.damping[0], made.exponent[0] = 150.0, 2.0, 1.3
    made.confidence[0] = 1.0
    for name, value in values.items():
        getattr(made, name)[...] = value
    return made


def back(made, limb=2, later_ns=60_000_000_000):
    reference = int(made.estimated_ns[0]) + later_ns
    (told,) = read_contacts(write_contact(limb, made), reference)
    return told


def test_golden_plane():
    made = report(
        estimated_ns=0x01020304 * 1_000_000,
        normal=(0.0, 0.0, 1.0),
        stiffness=1e6,
        damping=1e5,
        exponent=1.0,
    )
    told = write_contact(2, made).hex()
    # limb 010 status 010 kind 0 confidence 11111; time; three steps; 2048 twice
    assert told == "49f0102030403e8f830f448800800ffffff000"


def test_golden_sphere():
    made = report(kind=SPHERE, radius=0.04, stiffness=0.0, damping=0.0)
    told = write_contact(7, made)
    assert len(told) == 21
    assert told[0] == 0b11101011
    assert told[-2:].hex() == "0190"
    assert back(made, 7).radius == pytest.approx(0.04)


reals = st.floats(-3.0, 3.0)
angles = st.floats(-math.pi, math.pi)


@settings(deadline=None)
@given(
    limb=st.integers(0, 7),
    status=st.sampled_from(SurfaceStatus),
    kind=st.sampled_from([PLANE, SPHERE]),
    time=st.integers(0, 400 * DAY_NS),
    later=st.integers(-500_000_000, 20 * DAY_NS),
    point=st.tuples(reals, reals, reals),
    angle=st.tuples(angles, angles),
    stiffness=st.floats(1.0, 1e6),
    damping=st.floats(1e-3, 1e5),
    exponent=st.floats(1.0, 3.0),
    share=st.floats(0.0, 1.0),
)
def test_there_and_back(
    limb,
    status,
    kind,
    time,
    later,
    point,
    angle,
    stiffness,
    damping,
    exponent,
    share,
):
    normal = (
        math.cos(angle[0]) * math.cos(angle[1]),
        math.sin(angle[0]) * math.cos(angle[1]),
        math.sin(angle[1]),
    )
    made = report(
        status=status,
        kind=kind,
        estimated_ns=time,
        point=point,
        normal=normal,
        radius=0.123,
        stiffness=stiffness,
        damping=damping,
        exponent=exponent,
        confidence=share,
    )
    told = back(made, limb, later)
    assert (told.limb, told.status, told.kind) == (limb, status, kind)
    assert 0 <= time - told.estimated_ns < 1_000_000
    assert told.point == pytest.approx(point, abs=0.501e-4)
    assert told.radius == pytest.approx(0.123 if kind == SPHERE else 0.0)
    turned = np.linalg.norm(np.cross(told.normal, normal))
    assert turned < math.radians(0.06)
    assert np.dot(told.normal, normal) > 0.0
    assert told.stiffness == pytest.approx(stiffness, rel=0.0018)
    assert told.damping == pytest.approx(damping, rel=0.0024)
    assert told.exponent == pytest.approx(exponent, abs=0.004)
    assert told.confidence == pytest.approx(share, abs=0.0162)


def test_two_limbs_follow_each_other_within_the_section():
    buffer = write_contact(0, report()) + write_contact(3, report(kind=SPHERE))
    assert len(buffer) <= 64
    assert [told.limb for told in read_contacts(buffer, 2 * DAY_NS)] == [0, 3]
    assert read_contacts(b"", 0) == []


def test_out_of_range_is_told_as_the_end():
    told = back(report(point=(9.0, -9.0, 0.0), stiffness=1e9, confidence=3.0))
    assert told.point == pytest.approx((3.2767, -3.2767, 0.0))
    assert told.stiffness == pytest.approx(1e6)
    assert told.confidence == 1.0


@settings(deadline=None)
@given(st.binary(max_size=64))
def test_any_bytes_are_read_or_refused(buffer):
    try:
        told = read_contacts(buffer, DAY_NS)
    except FrameError:
        return
    again = allocate_report()
    for item in told:
        assert hear_contact(item, again)
        assert np.isfinite(again.point).all()
        assert np.linalg.norm(again.normal) == pytest.approx(1.0)


def test_malformed_is_refused():
    good = write_contact(1, report())
    for cut in range(1, len(good)):
        with pytest.raises(FrameError, match="needs 19 bytes"):
            read_contacts(good[:cut], 0)
    with pytest.raises(FrameError, match="status 7"):
        read_contacts(bytes([good[0] | 0b00011100]) + good[1:], 0)
    with pytest.raises(FrameError, match="beyond its fields"):
        read_contacts(good[:-1] + bytes([good[-1] | 1]), 0)
    with pytest.raises(FrameError, match="told twice"):
        read_contacts(good + good, 0)


def test_what_cannot_be_told_is_refused():
    with pytest.raises(FrameError, match="No limb 8"):
        write_contact(8, report())
    with pytest.raises(FrameError, match="not finite"):
        write_contact(0, report(stiffness=math.nan))
    with pytest.raises(FrameError, match="length 0"):
        write_contact(0, report(normal=(0.0, 0.0, 0.0)))


def test_a_repetition_is_not_news():
    heard = allocate_report()
    assert hear_contact(back(report()), heard)
    assert not hear_contact(back(report()), heard)
    assert heard.number[0] == 1
    assert hear_contact(back(report(estimated_ns=5_000_000_000)), heard)
    assert heard.number[0] == 2
    assert heard.stiffness[0] == pytest.approx(150.0, rel=0.002)
