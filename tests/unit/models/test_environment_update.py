"""The rules by which a rendered surface follows the reports, and their energy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.environment import (
    allocate_surface,
    steepest_slope,
    surface_distance,
    surface_force,
)
from models.environment_law import elastic_energy
from models.environment_report import PLANE, SPHERE, SurfaceStatus
from models.environment_update import engage_surface, update_surface

STILL = np.zeros(3)
EXACT = 1e-12  # [J], [m], [N]: rounding only


def report(made, wall=0.05, stiffness=1000.0, **more):
    """Tell of a wall whose inside is at x > wall."""
    heard = made.heard
    heard.number[0] += 1
    heard.status[0] = more.get("status", SurfaceStatus.AS_KNOWN)
    heard.kind[0] = more.get("kind", PLANE)
    heard.normal[:] = more.get("normal", (-1.0, 0.0, 0.0))
    heard.point[:] = more.get("point", (wall, 0.0, 0.0))
    heard.radius[0] = more.get("radius", 0.0)
    heard.stiffness[0], heard.damping[0] = stiffness, more.get("damping", 0.0)
    heard.exponent[0] = more.get("exponent", 1.0)


def at(made, x):
    """Update with the hand there; return penetration and force into the wall."""
    hand, out = np.array([x, 0.0, 0.0]), np.zeros(3)
    depth = update_surface(hand, made)
    assert surface_force(made, hand, STILL, out) == pytest.approx(depth, abs=EXACT)
    return depth, -out[0]


def pressed(x=0.052, **more):
    """Make a surface at 50 mm that the hand came to from outside."""
    made = allocate_surface()
    report(made, **more)
    at(made, 0.0)
    at(made, x)
    return made


def energy(made, hand):
    normal = np.zeros(3)
    depth = max(0.0, -surface_distance(made, hand, normal))
    law = made.stiffness[0], made.exponent[0], steepest_slope(made)
    return elastic_energy(*law, depth) if made.known[0] else 0.0


def test_nothing_heard_renders_nothing():
    made = allocate_surface()
    assert at(made, 1.0) == (0.0, 0.0)
    assert made.known[0] == 0


def test_1_the_first_surface_appears_at_the_hand():
    made = allocate_surface()
    report(made)
    assert at(made, 0.057) == (0.0, 0.0)
    assert made.point[0] == pytest.approx(0.057)
    # it follows the hand back, and ends where the robot found it
    assert at(made, 0.053)[1] == 0.0
    assert made.point[0] == pytest.approx(0.053)
    at(made, 0.04)
    assert made.point[0] == pytest.approx(0.05)


def test_2_free_adopts_at_once():
    made = pressed(x=0.04)
    report(made, stiffness=300.0, damping=0.7, exponent=1.4)
    at(made, 0.04)
    assert (made.stiffness[0], made.damping[0], made.exponent[0]) == (300.0, 0.7, 1.4)


def test_3_stiffer_keeps_the_force():
    made = pressed()
    report(made, stiffness=1500.0)
    before = energy(made, np.array([0.052, 0.0, 0.0]))
    for _ in range(249):
        depth, force = at(made, 0.052)
        assert force == pytest.approx(2.0, abs=1e-9)
        now = energy(made, np.array([0.052, 0.0, 0.0]))
        assert now <= before + EXACT
        before = now
    assert made.stiffness[0] == pytest.approx(1498.0)  # 2000 N/m in a second
    at(made, 0.052)
    assert depth == pytest.approx(2.0 / 1498.0)


def test_4_softer_keeps_the_penetration():
    made = pressed()
    report(made, stiffness=400.0)
    for _ in range(300):
        depth, force = at(made, 0.052)
        assert depth == pytest.approx(0.002)
    assert force == pytest.approx(0.8)


def test_5_the_surface_retreats_slowly_and_does_not_advance():
    made = pressed()
    report(made, wall=0.051)
    depths = [at(made, 0.052)[0] for _ in range(21)]
    assert depths[0] == pytest.approx(0.00195)
    assert depths[-1] == pytest.approx(0.001)
    report(made, wall=0.04)
    assert at(made, 0.052)[0] == pytest.approx(0.001)
    assert at(made, 0.0505)[1] == 0.0
    assert made.point[0] == pytest.approx(0.0505)  # free again: follows


def test_6_the_normal_turns_about_the_hand():
    made = pressed()
    tilted = np.array([-np.cos(0.3), np.sin(0.3), 0.0])
    report(made, normal=tilted)
    hand, out = np.array([0.052, 0.0, 0.0]), np.zeros(3)
    for _ in range(100):
        update_surface(hand, made)
        surface_force(made, hand, STILL, out)
    # as deep as in the tilted plane, to which it retreats
    assert energy(made, hand) == pytest.approx(0.002 * np.cos(0.3) ** 2)
    angle = np.arccos(-out[0] / np.linalg.norm(out))
    assert angle == pytest.approx(0.1)  # 1 rad/s
    for _ in range(250):
        update_surface(hand, made)
    assert made.normal == pytest.approx(tilted)


def test_7_a_surface_that_is_gone_gives_way_and_is_forgotten():
    made = pressed()
    report(made, status=SurfaceStatus.GONE)
    forces = [at(made, 0.052)[1] for _ in range(60)]
    assert np.all(np.diff(forces) <= EXACT)
    assert min(np.diff(forces)) > -0.051
    assert made.known[0] == 0
    assert at(made, 0.2) == (0.0, 0.0)


def test_8_in_contact_an_exponent_waits_and_the_force_goes_to_the_new_laws():
    made = pressed()
    report(made, stiffness=5000.0, exponent=1.3)
    for _ in range(300):
        force = at(made, 0.052)[1]
    assert made.exponent[0] == 1.0
    assert made.stiffness[0] == pytest.approx(5000.0 * 0.002**0.3)
    assert force == pytest.approx(5000.0 * 0.002**1.3)
    at(made, 0.049)
    assert made.exponent[0] == 1.3


def test_naive_jumps():
    made = allocate_surface(naive=True)
    report(made)
    assert at(made, 0.057)[1] == pytest.approx(7.0)


def test_a_report_without_a_stiffness_is_not_rendered():
    made = pressed(x=0.04)
    report(made, stiffness=0.0)
    at(made, 0.04)
    assert at(made, 0.07) == (0.0, 0.0)


def test_a_sphere_in_contact_keeps_its_penetration():
    made = allocate_surface()
    sphere = {"kind": SPHERE, "point": (0.09, 0.0, 0.0), "radius": 0.04}
    report(made, **sphere)
    at(made, 0.0)
    hand = np.array([0.052, 0.01, 0.0])
    before = update_surface(hand, made)
    report(made, **{**sphere, "point": (0.09, 0.02, 0.0)})
    for _ in range(100):
        depth = update_surface(hand, made)
        assert depth <= before + EXACT
        before = depth


def test_engaging_begins_with_the_force_that_is_shown():
    made = pressed(x=0.04)
    hand, out = np.array([0.056, 0.0, 0.0]), np.zeros(3)
    engage_surface(hand, np.array([1.5, 0.0, 0.0]), made)
    update_surface(hand, made)
    surface_force(made, hand, STILL, out)
    assert out == pytest.approx([-1.5, 0.0, 0.0])
    engage_surface(hand, np.array([-1.0, 0.0, 0.0]), made)
    assert energy(made, hand) == 0.0


reports = st.tuples(
    st.floats(0.03, 0.07),
    st.floats(20.0, 6000.0),
    st.sampled_from([1.0, 1.3, 2.0]),
    st.floats(-0.5, 0.5),
    st.sampled_from([PLANE, SPHERE]),
    st.sampled_from([SurfaceStatus.AS_KNOWN] * 4 + [SurfaceStatus.GONE]),
)


@settings(deadline=None, max_examples=60)
@given(told=st.lists(reports, min_size=1, max_size=6), shake=st.floats(0.0, 0.004))
def test_no_update_ever_stores_energy(told, shake):
    made = allocate_surface()
    for number, (wall, stiffness, exponent, tilt, kind, status) in enumerate(told):
        normal = np.array([-np.cos(tilt), np.sin(tilt), 0.0])
        point = np.array([wall, 0.0, 0.0])
        if kind == SPHERE:
            point -= 0.04 * normal
        report(
            made,
            stiffness=stiffness,
            exponent=exponent,
            normal=normal,
            point=point,
            kind=kind,
            radius=0.04,
            status=status,
        )
        for tick in range(40):
            x = 0.052 + shake * np.sin(0.7 * tick + number)
            hand = np.array([x, 0.3 * shake * np.cos(tick), 0.0])
            before = energy(made, hand)
            update_surface(hand, made)
            assert energy(made, hand) <= before + EXACT
