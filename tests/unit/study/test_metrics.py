"""Every family of metrics against signals whose answers are known on paper."""

import numpy as np
import pytest

from app.link.packets import Direction, Fate, PacketRecord
from app.study.metrics.completion import measure_completion
from app.study.metrics.energy import (
    injected_energy,
    net_energy,
    port_energy,
    update_energies,
)
from app.study.metrics.force import measure_force
from app.study.metrics.model_error import fit_surface, place_error
from app.study.metrics.moves import count_moves
from app.study.metrics.path import fit_path, length_ratio
from app.study.metrics.throughput import (
    effective_throughput,
    overshoot,
    reaches_of,
)
from app.study.metrics.traffic import measure_traffic
from app.study.metrics.transparency import (
    force_error,
    impedance_error,
    local_error,
    shown_impedance,
    stiffness_ratio,
)
from app.study.task_truth import Verdict
from models.curve import build_curve

TIME = np.arange(0.0, 10.0, 1e-3)
X = np.array([1.0, 0.0, 0.0])
RADIUS = 0.1


def test_a_trial_that_failed_has_no_time_and_counts_with_its_time_out() -> None:
    done = measure_completion(Verdict.SUCCESS, 1.5, 9.0, 60.0, 0.5)
    assert (done.time_s, done.seen_s, done.counted_s) == (7.5, 8.0, 7.5)
    failed = measure_completion(Verdict.DROP, 1.5, 9.0, 60.0, 0.5)
    assert (failed.success, failed.time_s, failed.seen_s) == (False, None, None)
    assert failed.counted_s == 60.0


def test_throughput_of_ends_that_scatter_by_a_known_width() -> None:
    # to and fro over 0.2 m in 1 s each; ends off by ±4 mm in turn: SD is known
    off = 4e-3
    targets = np.array([k % 2 * 0.2 * X for k in range(9)])
    hits = np.arange(9.0)
    axis = np.array([0.0] + [1.0 if k % 2 else -1.0 for k in range(1, 9)])
    signs = np.array([0.0] + [1.0 if k % 4 in {1, 2} else -1.0 for k in range(1, 9)])
    places = targets + (off * signs * axis)[:, None] * X
    at = np.clip(np.rint(TIME).astype(int), 0, 8)
    tip = places[at]
    found = effective_throughput(reaches_of(TIME, tip, targets, hits))
    assert found is not None
    width = 4.133 * off * np.sqrt(8 / 7)
    ends = signs * axis * off
    travelled = np.mean([0.2 + (ends[k] - ends[k - 1]) * axis[k] for k in range(1, 9)])
    assert found.bits_per_s == pytest.approx(np.log2(travelled / width + 1.0))
    assert found.movement_s == pytest.approx(1.0)


def test_overshoot_is_the_share_of_the_way_that_was_too_far() -> None:
    targets = np.array([0.0 * X, 0.2 * X])
    swing = 0.2 * (1.0 + 0.15 * np.exp(-((TIME - 3.0) ** 2)))
    tip = np.where(TIME < 1.0, 0.0, swing)[:, None] * X
    past = overshoot(TIME, tip, targets, np.array([0.5, 6.0]))
    assert past == pytest.approx(0.15, abs=1e-6)
    assert overshoot(TIME, tip, targets, np.array([0.5])) is None


def test_a_path_followed_late_and_beside_is_told_apart() -> None:
    # a circle followed 3 mm outside it and 0.4 s late
    def circle(share: float) -> np.ndarray:
        angle = 2.0 * np.pi * share
        return RADIUS * np.array([np.cos(angle), np.sin(angle), 0.0])

    curve = build_curve(circle)
    speed, lag = 0.05, 0.4
    angle = speed * np.maximum(0.0, TIME - lag) / RADIUS
    tip = (RADIUS + 3e-3) * np.stack(
        [np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1
    )
    fit = fit_path(curve, speed, TIME, tip, 1.0)
    assert fit.rms == pytest.approx(3e-3, rel=0.01)
    assert fit.lag_s == pytest.approx(lag, abs=0.011)
    assert fit.rms_lagged == pytest.approx(3e-3, rel=0.02)
    way = speed * (TIME[-1] - lag) * (RADIUS + 3e-3) / RADIUS
    assert length_ratio(tip, 0.5) == pytest.approx(way / 0.5, rel=1e-3)


def test_force_is_peak_typical_and_too_much() -> None:
    # a triangle up to 4 N in 2 s and down again; above 2 N for 2 s, on average by 1 N
    size = np.maximum(0.0, 4.0 - 2.0 * np.abs(TIME - 5.0))
    found = measure_force(size, 2.0, 1e-3)
    assert found.peak == pytest.approx(4.0)
    assert found.overload == pytest.approx(2.0, rel=1e-3)
    assert found.rms == pytest.approx(4.0 / np.sqrt(3.0), rel=0.02)
    assert measure_force(np.zeros(5), 2.0, 1e-3).rms is None


def test_what_is_late_is_no_error_once_it_is_aligned() -> None:
    # whole periods, from rest to rest
    true = np.where((TIME >= 1.0) & (TIME < 9.0), np.sin(2.0 * np.pi * TIME), 0.0)
    shown = 0.9 * np.roll(true, 250)
    # sine against cosine: sqrt(1 + 0.81)
    assert force_error(shown, true) == pytest.approx(np.sqrt(1.81), rel=0.03)
    assert force_error(shown, true, late=250) == pytest.approx(0.1)
    assert force_error(shown, 2.0 * true, 0.5, 250) == pytest.approx(0.1)
    assert force_error(shown, 0.0 * true) is None


def test_displayed_stiffness_is_told_in_shares_of_the_true_one() -> None:
    depth = np.full(100, 0.01)
    assert stiffness_ratio(np.full(100, 1.2), depth, 150.0) == pytest.approx(0.8)
    assert stiffness_ratio(np.full(100, 1.2), -depth, 150.0) is None
    hand = 0.02 * np.sin(TIME)
    shown = 150.0 * np.maximum(0.0, hand)
    assert local_error(shown, hand, 150.0) == pytest.approx(0.0)
    assert local_error(1.1 * shown, hand, 150.0) == pytest.approx(0.1)


def test_impedance_of_a_known_mass_and_damper() -> None:
    mass, damping = 0.3, 2.0
    frequencies = np.array([0.1, 0.5, 1.0, 2.0, 5.0])
    omega = 2.0 * np.pi * frequencies
    phases = np.arange(5.0)
    velocity = np.cos(np.outer(TIME, omega) + phases).sum(axis=1)
    slope = -(omega * np.sin(np.outer(TIME, omega) + phases)).sum(axis=1)
    force = mass * slope + damping * velocity
    true = np.abs(damping + 1j * omega * mass)
    shown = shown_impedance(force, velocity, frequencies, 1e-3)
    assert impedance_error(shown, true) < 1e-9
    assert impedance_error(10.0 * shown, true) == pytest.approx(1.0)


def test_a_spring_gives_back_what_it_took_and_a_growing_one_more() -> None:
    hand = 0.01 * np.sin(TIME * np.pi / 10.0)[:, None]  # in and out again
    middle = hand - 0.5 * np.diff(hand, axis=0, prepend=hand[:1])
    spring = port_energy(200.0 * middle, hand)
    assert spring.max() == pytest.approx(0.5 * 200.0 * 0.01**2, rel=1e-3)
    assert injected_energy(spring).injected == pytest.approx(0.0, abs=1e-9)
    # what the hand puts in and the tip gives on is not left; shown twofold, the half is
    assert np.abs(net_energy(spring, 200.0 * middle, hand)).max() < 1e-12
    half = net_energy(spring, 200.0 * middle, hand, 0.5)
    np.testing.assert_allclose(half, 0.5 * spring, atol=1e-12)
    stiff_on_the_way_out = np.where(TIME[:, None] < 5.0, 200.0, 300.0)
    port = injected_energy(port_energy(stiff_on_the_way_out * middle, hand))
    assert port.injected == pytest.approx(0.5 * 100.0 * 0.01**2, rel=0.01)
    assert port.last == pytest.approx(-port.injected)


def test_an_update_of_a_surface_changes_what_is_stored_in_it() -> None:
    stiffness = np.array([np.nan, 100.0, 200.0, 200.0, 200.0])
    wall = np.array([0.0, 0.0, 0.0, 0.0, 0.01])
    hand = np.full(5, 0.02)
    found = update_energies(stiffness, wall, hand)
    assert found == pytest.approx([0.5 * 100.0 * 4e-4, 0.5 * 200.0 * (1e-4 - 4e-4)])


def test_moves_are_counted_where_rest_parts_them() -> None:
    def bump(start: float) -> np.ndarray:
        phase = np.clip(TIME - start, 0.0, 1.0)
        return 0.05 * phase**3 * (10.0 - 15.0 * phase + 6.0 * phase**2)

    place = (bump(1.0) + bump(3.0) + bump(4.2))[:, None] * X
    found = count_moves(place, 1e-3)
    assert found.number == 3
    close = (bump(1.0) + bump(3.0) + bump(3.95))[:, None] * X
    assert count_moves(close, 1e-3).number == 2
    assert 0.25 < found.duty < 0.3
    assert found.mean_s == pytest.approx(found.duty * 10.0 / 3.0, rel=1e-3)
    assert count_moves(np.zeros((100, 3)), 1e-3).number == 0


def test_traffic_counts_what_was_offered_sent_and_delivered() -> None:
    def packet(fate: Fate, way: Direction = Direction.DOWN) -> PacketRecord:
        started = 0 if fate is Fate.SUPERSEDED else 2
        late = 2_000_000_000 if fate is Fate.DELIVERED else 0
        return PacketRecord(way, 1, 20, fate, 1, started, late, late)

    fates = [Fate.DELIVERED] * 6 + [Fate.LOST_RESIDUAL] * 2 + [Fate.SUPERSEDED] * 2
    records = [packet(fate) for fate in fates]
    records += [packet(Fate.DELIVERED, Direction.UP)]
    found = measure_traffic(records, Direction.DOWN, 2.0, suppressed=30)
    assert (found.offered_hz, found.sent_hz, found.carried_hz) == (20.0, 5.0, 4.0)
    assert (found.delivered_hz, found.lost) == (3.0, 0.25)
    assert found.reduction == pytest.approx(0.75)
    assert found.sent_bytes_per_s == 100.0
    assert found.delay_s == pytest.approx(2.0)
    assert measure_traffic(records, Direction.UP, 2.0).sent_hz == 0.5


def test_a_learned_surface_is_judged_from_the_first_contact_on() -> None:
    stiffness = np.where(TIME < 2.0, np.nan, np.where(TIME < 4.0, 80.0, 140.0))
    place = np.full_like(TIME, 0.302)
    found = fit_surface(TIME, stiffness, place, 150.0, 0.3, 1.0)
    assert found.stiffness_error == pytest.approx(10.0 / 150.0)
    assert found.place_error == pytest.approx(2e-3)
    assert found.near_s == pytest.approx(3.0, abs=2e-3)
    assert fit_surface(TIME, np.nan * TIME, place, 150.0, 0.3, 1.0).near_s is None
    assert place_error(np.ones((4, 3)), np.zeros((4, 3)))[0] == pytest.approx(3**0.5)
