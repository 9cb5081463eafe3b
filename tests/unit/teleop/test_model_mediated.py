"""Both halves of the model-mediated strategy, tick by tick."""

import numpy as np
import pytest

from app.config.teleop import MediatedParameters, TeleopParameters
from app.teleop.gains import gains_from
from app.teleop.halves import allocate_command, allocate_master, allocate_slave
from app.teleop.model_mediated import mediated_master, mediated_slave
from app.teleop.signals import allocate_signal
from models.environment import allocate_surface

PERIOD = 1e-3
GAINS = gains_from(TeleopParameters())


class Master:
    """A master half at a wall whose inside is at x > 50 mm."""

    def __init__(self, gains=GAINS):
        self.gains = gains
        self.surface = allocate_surface()
        self.data = allocate_master()
        self.force, self.sent = np.zeros(3), allocate_signal()

    def hear(self, wall=0.05, stiffness=1000.0):
        heard = self.surface.heard
        heard.number[0] += 1
        heard.status[0] = 1
        heard.normal[:], heard.point[:] = (-1.0, 0.0, 0.0), (wall, 0.0, 0.0)
        heard.stiffness[0] = stiffness

    def at(self, x, speed=0.0):
        mediated_master(
            self.gains,
            PERIOD,
            np.array([x, 0.0, 0.0]),
            np.array([speed, 0.0, 0.0]),
            self.surface,
            self.data,
            self.force,
            self.sent,
        )
        return self.force[0]


def test_nothing_known_is_felt_as_nothing():
    master = Master()
    assert master.at(0.2, 0.1) == 0.0
    assert master.sent.position[0] == 0.2
    assert master.sent.velocity[0] == 0.1


def test_the_force_is_what_the_hand_pushes_with_and_goes_to_the_robot():
    master = Master()
    master.hear()
    master.at(0.04)
    assert master.at(0.052) == pytest.approx(2.0)
    assert master.sent.force[0] == pytest.approx(2.0)
    assert master.sent.position[0] == pytest.approx(0.052)


def test_without_feed_forward_no_force_is_told():
    parameters = TeleopParameters(mediated=MediatedParameters(feed_forward=False))
    master = Master(gains_from(parameters))
    master.hear()
    master.at(0.04)
    assert master.at(0.052) == pytest.approx(2.0)
    assert master.sent.force[0] == 0.0


def test_engaging_inside_a_known_surface_begins_with_the_force_shown():
    master = Master()
    master.hear()
    master.at(0.04)
    master.data.force[0], master.data.began[0] = 1.2, 1
    assert master.at(0.056) == pytest.approx(1.2)


def test_the_force_ends_at_what_the_device_shows():
    master = Master()
    master.hear(stiffness=1500.0)
    master.at(0.04)
    most = GAINS.force_limit[0]
    assert master.at(0.06) == pytest.approx(most)
    assert master.sent.force[0] == pytest.approx(most)
    assert master.sent.position[0] == pytest.approx(0.05 + most / 1500.0)


class Slave:
    """A slave half, with what it has heard."""

    def __init__(self):
        self.data, self.heard = allocate_slave(), allocate_signal()
        self.command, self.sent = allocate_command(), allocate_signal()

    def at(self, tip, velocity=0.0):
        mediated_slave(
            GAINS,
            PERIOD,
            np.array([tip, 0.0, 0.0]),
            np.array([velocity, 0.0, 0.0]),
            self.heard,
            self.data,
            self.command,
            self.sent,
        )
        return (
            GAINS.stiffness[0] * (self.command.position[0] - tip)
            + GAINS.damping[0] * (self.command.velocity[0] - velocity)
            + self.command.force[0]
        )


def test_the_robot_follows_the_proxy_with_the_models_force():
    slave = Slave()
    slave.heard.position[0], slave.heard.force[0] = 0.052, 2.0
    slave.heard.velocity[0] = 0.01
    assert slave.at(0.05) == pytest.approx(200.0 * 0.002 + 8.0 * 0.01 + 2.0)


def test_the_controllers_force_is_bounded():
    slave = Slave()
    slave.heard.position[0], slave.heard.force[0] = 0.5, 4.0
    assert slave.at(0.05) == pytest.approx(5.0)
    slave.heard.position[0], slave.heard.force[0] = -0.5, -4.0
    assert slave.at(0.05, 0.3) == pytest.approx(-5.0)


def test_a_silent_link_holds_place_and_force_at_rest():
    slave = Slave()
    slave.heard.velocity[0], slave.heard.force[0] = 0.1, 1.0
    slave.data.silent[0] = 501
    assert slave.at(0.0) == pytest.approx(1.0)
    assert slave.command.velocity[0] == 0.0
