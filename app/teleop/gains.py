"""The parameters of the strategies as the flat arrays that kernels take."""

from typing import NamedTuple

import numpy as np

from app.config.teleop import TeleopParameters
from app.teleop.held_loop import shown_share
from app.teleop.strategy import WaveLoss
from models.numerics import FloatArray, IntArray

__all__ = ["Gains", "gains_from"]


class Gains(NamedTuple):
    """What both halves of every strategy take; (1,) unless said otherwise."""

    stiffness: FloatArray
    """(3,) of the coupling between setpoint and tip, K_p [N/m]."""
    damping: FloatArray
    """(3,) of that coupling, K_d [N s/m]."""
    handle_damping: FloatArray
    """Known damping of the handle, b_m [N s/m]."""
    tip_damping: FloatArray
    """Known damping of the tip in the water, b_s [N s/m]."""
    command_speed: FloatArray
    """Greatest speed at which a setpoint is led over to a new strategy's [m/s]."""
    force_share: FloatArray
    """Position-force: share of the contact force that is shown, k_f."""
    wave_impedance: FloatArray
    """b [N s/m]."""
    wave_loss: IntArray
    """What is made of missing waves: a `WaveLoss`."""
    wave_match: FloatArray
    """Damping added at the hand against echoes [N s/m]."""
    initial_energy: FloatArray
    """Two-port: E_0 of each port [J]."""
    credit: FloatArray
    """Two-port: share of the known dissipation that is lent, c."""
    drift_rate: FloatArray
    """Two-port: k_dc [1/s]."""
    drift_speed: FloatArray
    """Two-port: greatest speed of the drift compensation [m/s]."""
    port_damping_limit: FloatArray
    """Two-port: greatest damping at the hand, alpha_max [N s/m]."""
    feed_forward: IntArray
    """Model-mediated: 1 where the model's force is sent to the robot."""
    mediated_force_limit: FloatArray
    """Model-mediated: greatest force of the slave's controller, F_max [N]."""
    force_limit: FloatArray
    """Greatest force shown to the hand, robot's scale [N]."""
    slew: FloatArray
    """Greatest change of the shown force, robot's scale [N/s]."""
    guarded: IntArray
    """1 where the guard may damp what is rendered."""
    guard_damping: FloatArray
    """Greatest damping of the guard [N s/m]."""
    guard_reserve: FloatArray
    """Most energy that the guard believes to have [J]."""
    fade: FloatArray
    """Time constant in which the old strategy's force fades [s]."""
    power_scale: FloatArray
    """Power at the device over force times velocity in the robot's scale: the force
    scale over the motion scale."""


def _one(value: float) -> FloatArray:
    return np.array([value], dtype=np.float64)


def _flag(value: int) -> IntArray:
    return np.array([value], dtype=np.int64)


def gains_from(parameters: TeleopParameters) -> Gains:
    """Lay the parameters out for kernels.

    The force limit and slew of the device are turned into the robot's scale. With
    `force.auto` the share is that of `app.teleop.held_loop.shown_share`.
    """
    waves = parameters.waves
    ports = parameters.two_port
    render = parameters.render
    textbook = 0.0 if ports.textbook else 1.0
    return Gains(
        stiffness=np.array(parameters.stiffness_n_per_m),
        damping=np.array(parameters.damping_n_s_per_m),
        handle_damping=_one(parameters.handle.damping_n_s_per_m),
        tip_damping=_one(parameters.tip.damping_n_s_per_m),
        command_speed=_one(parameters.command_speed_mm_s * 1e-3),
        force_share=_one(shown_share(parameters)),
        wave_impedance=_one(waves.impedance_n_s_per_m),
        wave_loss=_flag(WaveLoss[waves.mode.upper()]),
        wave_match=_one(waves.impedance_n_s_per_m if waves.matched else 0.0),
        initial_energy=_one(textbook * ports.initial_energy_mj * 1e-3),
        credit=_one(textbook * ports.credit),
        drift_rate=_one(textbook * ports.drift_rate_per_s),
        drift_speed=_one(ports.drift_speed_mm_s * 1e-3),
        port_damping_limit=_one(ports.damping_limit_n_s_per_m),
        feed_forward=_flag(parameters.mediated.feed_forward),
        mediated_force_limit=_one(parameters.mediated.force_limit_n),
        force_limit=_one(render.force_limit_n / render.force_scale),
        slew=_one(render.slew_n_per_s / render.force_scale),
        guarded=_flag(render.guard),
        guard_damping=_one(render.guard_damping_n_s_per_m),
        guard_reserve=_one(render.guard_reserve_mj * 1e-3),
        fade=_one(render.fade_s),
        power_scale=_one(render.force_scale / render.motion_scale),
    )
