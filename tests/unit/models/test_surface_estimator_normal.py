"""The normal of a contact with friction."""

import numpy as np
import pytest

from models.surface_estimator_normal import allocate_normal, follow_normal

NORMAL = np.array([0.0, 0.6, 0.8])
ACROSS = np.array([1.0, 0.0, 0.0])
NOTHING = np.zeros(3)


def slide(friction, speeds, noise=0.0, scene=NOTHING):
    data, rng = allocate_normal(), np.random.default_rng(1)
    for speed in speeds:
        slip = np.tanh(speed / 1e-3) * ACROSS
        force = 2.0 * NORMAL - 2.0 * friction * slip + noise * rng.standard_normal(3)
        follow_normal(2.0, 1e-3, speed * ACROSS, force, scene, data)
    return data, np.degrees(np.arccos(np.clip(data.normal @ NORMAL, -1.0, 1.0)))


TO_AND_FRO = 0.05 * np.sin(2.0 * np.pi * 0.5 * np.arange(7500) * 1e-3)


def test_at_rest_it_is_the_forces_direction():
    data, angle = slide(0.0, np.zeros(1000), noise=0.02)
    assert angle < 0.5
    assert data.friction[0] == 0.0


@pytest.mark.parametrize("friction", [0.0, 0.3, 0.6])
def test_sliding_to_and_fro_tells_friction_from_tilt(friction):
    data, angle = slide(friction, TO_AND_FRO, noise=0.02)
    assert angle < 2.0
    sine = np.sin(np.arctan(friction))
    assert data.friction[0] == pytest.approx(sine, abs=0.05)


def test_sliding_one_way_only_leans_by_the_friction_angle():
    data, angle = slide(0.3, np.full(3000, 0.05))
    assert angle == pytest.approx(np.degrees(np.arctan(0.3)), abs=0.5)
    assert data.friction[0] == 0.0


def test_pressing_in_with_a_tilted_start_feigns_no_friction():
    data, rng = allocate_normal(), np.random.default_rng(2)
    for tick in range(3000):
        rate = 0.05 * np.cos(2.0 * np.pi * tick * 1e-3)
        force = 2.0 * NORMAL + 0.05 * rng.standard_normal(3)
        follow_normal(2.0, 1e-3, rate * NORMAL, force, NOTHING, data)
    assert data.friction[0] == 0.0
    assert data.normal @ NORMAL > np.cos(np.radians(1.0))


def test_the_scene_wins():
    up = np.array([0.0, 0.0, 1.0])
    data, _ = slide(0.3, TO_AND_FRO, scene=up)
    assert data.normal == pytest.approx(up)
