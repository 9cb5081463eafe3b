"""From the hand to the tip: scale, turn, clutch, indexing, and the force back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.messages import INPUT_SHAPES, InputBlock, InputMode
from app.operator.haptic.mapping import (
    AT_EDGE,
    CLUTCHED,
    MAPPED,
    allocate_mapping,
    map_force,
    map_hand,
    power_scale,
)
from app.operator.haptic.parameters import HapticParameters, mapping_model
from app.operator.haptic.signals import allocate_force, allocate_sample

TOLERANCE = 1e-12  # sums of a few doubles of the size of 1
DEADMAN, CLUTCH = 1, 2
MODEL = mapping_model(HapticParameters())
CENTRE = MODEL.centre


class Hand:
    """A hand on an Inverse3 (x right, y forward, z up) and the tip it moves."""

    def __init__(self, model=MODEL, start=(0.4, -0.1, -0.3)) -> None:
        self.model = model
        self.sample = allocate_sample()
        self.sample.present[0] = 1
        self.sample.opened[0] = 1
        self.data = allocate_mapping()
        self.input = InputBlock(
            **{name: np.zeros(shape, kind) for name, (kind, shape) in
               INPUT_SHAPES.items()}
        )  # fmt: skip
        self.target = np.array(start)
        self.limb = 0

    def at(self, offset, buttons=DEADMAN, in_charge=1) -> int:
        """Be `offset` from the middle [m]; the tip's target goes where it is told."""
        self.sample.position[:] = CENTRE + np.asarray(offset)
        self.sample.buttons[0] = buttons
        status = map_hand(
            self.model, self.sample, in_charge, self.limb, self.target, self.data,
            self.input,
        )  # fmt: skip
        if status & MAPPED and in_charge:
            self.target = self.input.target.copy()
        return status


def test_forward_is_to_the_bow_and_left_is_to_port() -> None:
    hand = Hand(start=(0.0, 0.0, 0.0))
    hand.at((0.0, 0.0, 0.0))
    assert hand.at((0.01, 0.02, 0.03)) & MAPPED
    assert hand.target == pytest.approx(2.5 * np.array([0.02, -0.01, 0.03]))
    hand.sample.velocity[:] = (0.1, 0.2, 0.3)
    hand.at((0.01, 0.02, 0.03))
    assert hand.input.velocity == pytest.approx(2.5 * np.array([0.2, -0.1, 0.3]))
    assert hand.input.mode[0] == InputMode.TARGET


def test_without_the_deadman_nothing_moves() -> None:
    hand = Hand()
    hand.at((0.0, 0.0, 0.0), buttons=0)
    status = hand.at((0.05, 0.05, 0.05), buttons=0)
    assert not status & MAPPED
    assert hand.input.deadman[0] == 0
    assert hand.input.target == pytest.approx((0.4, -0.1, -0.3))
    assert hand.input.mode[0] == InputMode.NEUTRAL
    assert not hand.input.velocity.any()


def test_indexing_goes_further_than_the_workspace() -> None:
    hand = Hand(start=(0.0, 0.0, 0.0))
    for _ in range(3):
        hand.at((0.0, -0.05, 0.0))
        hand.at((0.0, 0.05, 0.0))
        status = hand.at((0.0, 0.05, 0.0), DEADMAN | CLUTCH)
        assert status & CLUTCHED
        assert not status & MAPPED
        assert hand.input.clutch[0] == 1
        hand.at((0.0, -0.05, 0.0), DEADMAN | CLUTCH)
    assert hand.target == pytest.approx((3 * 2.5 * 0.1, 0.0, 0.0))


@pytest.mark.parametrize("what", ["limb", "opened", "charge", "gone"])
def test_what_interrupts_does_not_make_it_jump(what: str) -> None:
    hand = Hand()
    hand.at((0.0, 0.0, 0.0))
    hand.at((0.02, 0.0, 0.0))
    if what == "limb":
        hand.limb, hand.target = 1, np.array([-0.5, 0.2, 0.1])
    elif what == "opened":
        hand.sample.opened[0] = 2
    elif what == "charge":
        hand.at((0.03, 0.0, 0.0), in_charge=0)
        hand.target = np.array([-0.5, 0.2, 0.1])
        hand.at((0.04, 0.0, 0.0), in_charge=0)
    else:
        hand.sample.present[0] = 0
        hand.at((0.03, 0.0, 0.0))
        assert hand.input.present[0] == 0
        hand.sample.present[0] = 1
    before = hand.target.copy()
    hand.at((-0.04, 0.03, 0.02))
    assert hand.target == pytest.approx(before, abs=TOLERANCE)
    hand.at((-0.04, 0.04, 0.02))
    before[0] += 0.025
    assert hand.target == pytest.approx(before, abs=TOLERANCE)


@settings(deadline=None, max_examples=100)
@given(
    st.lists(
        st.tuples(
            st.tuples(*(st.floats(-0.1, 0.1) for _ in range(3))),
            st.integers(0, 3),
            st.integers(0, 1),
            st.integers(0, 1),
        ),
        min_size=2,
        max_size=40,
    )
)
def test_the_tip_never_moves_more_than_the_scaled_hand(
    turns: list[tuple[tuple[float, float, float], int, int, int]],
) -> None:
    hand = Hand()
    before = CENTRE.copy()
    for offset, buttons, in_charge, present in turns:
        hand.sample.present[0] = present
        target = hand.target.copy()
        hand.at(offset, buttons, in_charge)
        moved = 2.5 * np.linalg.norm(CENTRE + np.array(offset) - before)
        assert np.linalg.norm(hand.target - target) <= moved + TOLERANCE
        before = CENTRE + np.array(offset)


def test_the_edge_is_hinted_at() -> None:
    hand = Hand()
    assert not hand.at((0.08, 0.0, 0.0)) & AT_EDGE
    assert hand.at((0.09, 0.0, 0.0)) & AT_EDGE
    assert hand.data.edge_nearness[0] == pytest.approx(0.9)


def test_force_comes_back_turned_and_scaled() -> None:
    model = mapping_model(HapticParameters(force_scale=0.5))
    force = allocate_force()
    map_force(model, 7, 3, np.array([2.0, 4.0, -6.0]), 1, force)
    assert force.force == pytest.approx((-2.0, 1.0, -3.0))
    assert (force.time_ns[0], force.tick[0]) == (7, 3)
    map_force(model, 8, 4, np.array([2.0, 4.0, -6.0]), 0, force)
    assert not force.force.any()


def test_power_at_both_ends_differs_by_the_scales() -> None:
    model = mapping_model(HapticParameters(force_scale=0.5, scale=4.0))
    hand = Hand(model)
    hand.sample.velocity[:] = (0.1, -0.2, 0.05)
    hand.at((0.0, 0.0, 0.0))
    tip_force = np.array([2.0, 4.0, -6.0])
    force = allocate_force()
    map_force(model, 1, 1, tip_force, 1, force)
    at_hand = force.force @ hand.sample.velocity
    at_tip = tip_force @ hand.data.velocity
    assert at_hand == pytest.approx(power_scale(model) * at_tip)


def test_a_cap_gives_a_rate() -> None:
    hand = Hand(mapping_model(HapticParameters(device="spacemouse")))
    hand.sample.rate_mode[0] = 1
    hand.sample.rate[:] = (0.5, 0.25, -1.0)
    assert hand.at((0.0, 0.0, 0.0)) & MAPPED
    assert hand.input.mode[0] == InputMode.RATE
    assert hand.input.rate == pytest.approx((0.25, -0.5, -1.0))
    assert not hand.at((0.0, 0.0, 0.0), DEADMAN | CLUTCH) & MAPPED
    assert not hand.input.rate.any()
    hand.at((0.0, 0.0, 0.0), buttons=0)
    assert not hand.input.rate.any()
    assert hand.input.mode[0] == InputMode.NEUTRAL


def test_the_gripper_closes_and_opens_by_presses() -> None:
    hand = Hand()
    grip = 4
    hand.at((0.0, 0.0, 0.0), grip)
    assert hand.input.grip[0] == 0.0, "without the deadman nothing moves"
    for wanted in (1.0, 0.0, 1.0):
        for _ in range(3):
            hand.at((0.0, 0.0, 0.0), DEADMAN | grip)
            assert hand.input.grip[0] == wanted
        hand.at((0.0, 0.0, 0.0), DEADMAN)
        assert hand.input.grip[0] == wanted


def test_axes_can_be_set() -> None:
    model = mapping_model(HapticParameters(axes=("-x", "-y", "+z"), scale=1.0))
    hand = Hand(model, start=(0.0, 0.0, 0.0))
    hand.at((0.0, 0.0, 0.0))
    hand.at((0.01, 0.02, 0.03))
    assert hand.target == pytest.approx((-0.01, -0.02, 0.03))
