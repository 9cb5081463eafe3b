"""The band of a strategy's signals: sphere, floor, keep-alive, prediction."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.link.signal_deadband import (
    FORCE_DEADBAND,
    SignalDeadband,
    allocate_stream,
    must_send,
    note_sample,
    predict,
)
from app.link.signal_section import SignalField, SignalTold

SECOND = 1_000_000_000
LINEAR = FORCE_DEADBAND._replace(linear=1)


def at(ns):
    return np.array([ns])


def stream(*samples):
    made = allocate_stream()
    for when, value in samples:
        note_sample(at(when), np.array(value), made)
    return made


def test_the_band_is_a_sphere_around_what_is_believed():
    sent = stream((0, (2.0, 0.0, 0.0)))
    for direction in np.eye(3):
        inside = np.array([2.0, 0.0, 0.0]) + 0.199 * direction
        outside = np.array([2.0, 0.0, 0.0]) + 0.201 * direction
        assert not must_send(FORCE_DEADBAND, at(1), inside, sent)
        assert must_send(FORCE_DEADBAND, at(1), outside, sent)


def test_near_zero_the_floor_holds():
    sent = stream((0, (0.0, 0.0, 0.0)))
    assert not must_send(FORCE_DEADBAND, at(1), np.array([0.0, 0.019, 0.0]), sent)
    assert must_send(FORCE_DEADBAND, at(1), np.array([0.0, 0.021, 0.0]), sent)


def test_nothing_sent_and_keep_alive_send():
    value = np.array([1.0, 0.0, 0.0])
    assert must_send(FORCE_DEADBAND, at(0), value, allocate_stream())
    sent = stream((0, value))
    assert not must_send(FORCE_DEADBAND, at(SECOND // 2 - 1), value, sent)
    assert must_send(FORCE_DEADBAND, at(SECOND // 2), value, sent)


def test_a_line_needs_no_sending_while_it_goes_on():
    sent = stream((0, (1.0, 0.0, 0.0)), (SECOND // 10, (1.2, 0.0, 0.0)))
    later, out = at(SECOND // 4), np.zeros(3)
    assert not must_send(LINEAR, later, np.array([1.5, 0.0, 0.0]), sent)
    assert must_send(LINEAR, later, np.array([1.2, 0.0, 0.0]), sent)
    predict(LINEAR, later, sent, out)
    assert out[0] == pytest.approx(1.5)
    predict(FORCE_DEADBAND, later, sent, out)
    assert out[0] == 1.2
    predict(LINEAR, at(90 * SECOND), sent, out)
    assert out[0] == pytest.approx(2.2)  # the line ends after half a second


def test_an_older_sample_is_dropped():
    made = stream((50, (1.0, 0.0, 0.0)), (40, (9.0, 0.0, 0.0)))
    assert made.value[0] == 1.0


@settings(deadline=None)
@given(
    values=st.lists(st.floats(-5.0, 5.0), min_size=5, max_size=60),
    linear=st.booleans(),
)
def test_both_sides_believe_the_same_within_the_band(values, linear):
    model = LINEAR if linear else FORCE_DEADBAND
    sender, hearer, out = allocate_stream(), allocate_stream(), np.zeros(3)
    for tick, value in enumerate(values):
        now, sample = at(tick * 1_000_000), np.array([value, -value, 0.0])
        if must_send(model, now, sample, sender):
            note_sample(now, sample, sender)
            note_sample(now, sample, hearer)
        predict(model, now, hearer, out)
        band = max(model.share * np.linalg.norm(out), model.floor)
        assert np.linalg.norm(sample - out) <= band + 1e-12


def signal(force=1.0, limb=0, engagement=1, fields=None):
    return SignalTold(
        limb,
        4,
        engagement,
        fields or SignalField.POSITION | SignalField.FORCE,
        position=(0.1, 0.0, 0.0),
        force=(force, 0.0, 0.0),
    )


def test_a_signal_goes_when_one_of_its_fields_must():
    gate = SignalDeadband()
    assert gate.exceeded(signal(), 0)
    gate.sent(signal(), 0)
    assert not gate.exceeded(signal(1.09), 1)
    assert gate.exceeded(signal(1.11), 1)
    assert gate.suppressed == 1
    assert gate.exceeded(signal(limb=1), 1)


def test_a_new_engagement_and_what_has_no_band_always_go():
    gate = SignalDeadband()
    gate.sent(signal(), 0)
    assert gate.exceeded(signal(engagement=2), 1)
    energy = signal(fields=SignalField.ENERGY)
    gate.sent(energy, 2)
    assert gate.exceeded(energy, 3)


def test_share_0_lets_everything_through():
    gate = SignalDeadband(0.0)
    gate.sent(signal(), 0)
    assert gate.exceeded(signal(), 1)
