"""Both halves in three dimensions, their parameters and their names."""

import numpy as np
import pytest
from pydantic import ValidationError

from app.config.teleop import TeleopParameters, TwoPortParameters, WaveParameters
from app.errors import ConfigError
from app.teleop.gains import gains_from
from app.teleop.halves import allocate_command, allocate_master, allocate_slave
from app.teleop.master import master_step, reset_master
from app.teleop.signals import allocate_signal
from app.teleop.slave import reset_slave, slave_step
from app.teleop.strategy import Strategy, strategy_named
from models.environment import allocate_surface

_H = 1e-3
_RAW = {"guard": False, "slew_n_per_s": 1e6, "force_limit_n": 100.0}


class _Pair:
    """Both halves with no delay, for a hand and a tip that are given."""

    def __init__(self, strategy, **parameters):
        chosen = TeleopParameters(render=_RAW, **parameters)
        self.gains = gains_from(chosen)
        self.strategy = strategy
        self.master, self.slave = allocate_master(), allocate_slave()
        self.down, self.up = allocate_signal(), allocate_signal()
        self.command, self.force = allocate_command(), np.zeros(3)
        self.surface = allocate_surface()
        self.ticks = 0

    def step(self, hand, hand_velocity, tip, tip_velocity=None, contact=None):
        still = np.zeros(3)
        self.ticks += 1
        master_step(
            int(self.strategy),
            self.gains,
            _H,
            np.array(hand, dtype=float),
            np.array(hand_velocity, dtype=float),
            self.up,
            self.surface,
            self.master,
            self.force,
            self.down,
        )
        self.down.time_ns[0] = self.ticks * 1_000_000
        slave_step(
            int(self.down.strategy[0]),
            self.gains,
            _H,
            np.array(tip, dtype=float),
            still if tip_velocity is None else np.array(tip_velocity, dtype=float),
            still if contact is None else np.array(contact, dtype=float),
            self.down,
            self.slave,
            self.command,
            self.up,
        )
        self.up.time_ns[0] = self.ticks * 1_000_000
        return self.force


def test_position_position_is_a_spring_along_every_axis():
    pair = _Pair(Strategy.POSITION_POSITION, stiffness_n_per_m=(100.0, 200.0, 300.0))
    for _ in range(3):
        pair.step([0, 0, 0], [0, 0, 0], [0, 0, 0])
    force = pair.step([0.01, 0.01, -0.01], [0.1, 0, 0], [0, 0, 0])
    assert force == pytest.approx([1.0 + 0.8, 2.0, -3.0])


def test_position_force_shows_a_share_of_the_contact():
    pair = _Pair(Strategy.POSITION_FORCE)
    for _ in range(3):
        pair.step([0, 0, 0], [0, 0, 0], [0, 0, 0])
    for _ in range(500):
        force = pair.step([0, 0, 0], [0, 0, 0], [0, 0, 0], contact=[0.4, -0.8, 0.0])
    assert force == pytest.approx([0.1, -0.2, 0.0])


@pytest.mark.parametrize(
    "strategy", [item for item in Strategy if item != Strategy.SUPERVISED]
)
def test_the_direction_of_the_motion_does_not_matter(strategy):
    turn, _ = np.linalg.qr(np.random.default_rng(2).normal(size=(3, 3)))
    straight, turned = _Pair(strategy), _Pair(strategy)
    for k in range(600):
        place = 0.02 * np.sin(0.01 * k)
        speed = 0.2 * np.cos(0.01 * k)
        tip = 0.015 * np.sin(0.01 * k - 0.3)
        axis = np.array([1.0, 0.0, 0.0])
        push = max(0.0, 100.0 * (tip - 0.005)) * axis
        one = straight.step(place * axis, speed * axis, tip * axis, contact=push)
        axis = turn @ axis
        push = turn @ push
        other = turned.step(place * axis, speed * axis, tip * axis, contact=push)
        assert other == pytest.approx(turn @ one, abs=1e-9)
        assert turned.command.position == pytest.approx(
            turn @ straight.command.position, abs=1e-9
        )


def test_a_slave_that_has_heard_nothing_stays():
    slave, command, up = allocate_slave(), allocate_command(), allocate_signal()
    tip = np.array([0.1, 0.2, -0.3])
    reset_slave(tip, slave)
    still = np.zeros(3)
    gains = gains_from(TeleopParameters())
    down = allocate_signal()
    for strategy in Strategy:
        slave_step(
            int(strategy), gains, _H, tip, still, still, down, slave, command, up
        )
        assert command.position == pytest.approx(tip)
        assert up.position == pytest.approx(tip)


def test_a_new_strategy_leads_the_setpoint_over_without_a_step():
    pair = _Pair(Strategy.WAVES)
    for k in range(400):
        pair.step([1e-4 * k, 0, 0], [0.1, 0, 0], [0, 0, 0])
    before = pair.slave.setpoint.copy()
    pair.strategy = Strategy.POSITION_POSITION
    places = [before]
    for _ in range(2500):
        pair.step([0.04, 0, 0], [0, 0, 0], [0, 0, 0])
        places.append(pair.command.position.copy())
    assert abs(places[-1][0] - 0.04) < 1e-3
    speed = np.abs(np.diff([place[0] for place in places])).max() / _H
    assert speed <= 0.05 + 1e-9


def test_old_velocity_is_not_followed_through_a_silence():
    pair = _Pair(Strategy.POSITION_POSITION)
    for _ in range(3):
        pair.step([0, 0, 0], [0.1, 0, 0], [0, 0, 0])
    assert pair.command.velocity[0] == pytest.approx(0.1)
    pair.down.fresh[0] = 0
    still = np.zeros(3)
    for _ in range(600):
        slave_step(
            0,
            pair.gains,
            _H,
            still,
            still,
            still,
            pair.down,
            pair.slave,
            pair.command,
            pair.up,
        )
    assert pair.command.velocity[0] == 0.0


def test_goals_leave_the_command_to_their_executor():
    pair = _Pair(Strategy.SUPERVISED)
    pair.step([0, 0, 0], [0, 0, 0], [0, 0, 0])
    pair.command.position[:] = (0.1, 0.2, 0.3)
    assert pair.step([1, 1, 1], [0, 0, 0], [0, 0, 0]) == pytest.approx(np.zeros(3))
    assert pair.command.position.tolist() == [0.1, 0.2, 0.3]


def test_a_reset_half_begins_without_force_or_energy():
    pair = _Pair(Strategy.POSITION_POSITION)
    for _ in range(400):
        pair.step([0.01, 0, 0], [0.1, 0, 0], [0, 0, 0])
    assert pair.master.session.energy_in[0] > 0.0
    engaged = pair.master.engagement[0]
    reset_master(pair.master)
    assert pair.master.session.energy_in[0] == 0.0
    assert not pair.master.force.any()
    pair.step([0.01, 0, 0], [0, 0, 0], [0, 0, 0])
    assert pair.master.engagement[0] == engaged + 1
    assert pair.force.tolist() == [0.0, 0.0, 0.0]


def test_matched_waves_take_the_impedance_for_their_damping():
    gains = gains_from(TeleopParameters(waves=WaveParameters(matched=True)))
    assert gains.wave_match[0] == 12.0
    pair = _Pair(Strategy.WAVES, waves=WaveParameters(matched=True))
    for _ in range(4):
        pair.step([0, 0, 0], [0, 0, 0], [0, 0, 0])
    free = pair.step([0, 0, 0], [0.1, 0, 0], [0, 0, 0])[0]
    plain = _Pair(Strategy.WAVES)
    for _ in range(4):
        plain.step([0, 0, 0], [0, 0, 0], [0, 0, 0])
    assert free - plain.step([0, 0, 0], [0.1, 0, 0], [0, 0, 0])[0] == pytest.approx(1.2)


def test_textbook_ports_are_lent_nothing():
    gains = gains_from(TeleopParameters(two_port=TwoPortParameters(textbook=True)))
    assert gains.initial_energy[0] == 0.0
    assert gains.credit[0] == 0.0
    assert gains.drift_rate[0] == 0.0


def test_energies_at_the_device_are_scaled():
    scaled = TeleopParameters(
        render={"force_scale": 0.5, "motion_scale": 2.0, "force_limit_n": 3.0}
    )
    gains = gains_from(scaled)
    assert gains.power_scale[0] == 0.25
    assert gains.force_limit[0] == 6.0


def test_parameters_say_what_is_wrong():
    with pytest.raises(ValidationError, match="holds 0: each must be 1 to 100000"):
        TeleopParameters(stiffness_n_per_m=0.0)
    with pytest.raises(ValidationError, match="unknown"):
        TeleopParameters(unknown=1)
    assert TeleopParameters(damping_n_s_per_m=3).damping_n_s_per_m == (3.0, 3.0, 3.0)


def test_strategies_have_names():
    assert strategy_named("two-port") is Strategy.TWO_PORT
    assert [item.short for item in Strategy if item.bilateral] == [
        "position-position",
        "position-force",
        "waves",
        "two-port",
    ]
    assert all(item.title for item in Strategy)
    with pytest.raises(ConfigError, match="There are: position-position"):
        strategy_named("telepathy")
