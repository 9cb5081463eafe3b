"""What the tick remembers of the coupling of hand and tip."""

from typing import NamedTuple

import numpy as np

from app.config.teleop import TeleopParameters
from app.messages import Source
from app.teleop.halves import MasterData, allocate_master
from app.teleop.signals import Signal, allocate_signal
from app.teleop.strategy import strategy_named
from models.environment import LocalSurface
from models.environment_table import allocate_surfaces
from models.numerics import FloatArray, IntArray

__all__ = ["CouplingData", "allocate_coupling_data"]


class CouplingData(NamedTuple):
    """Mutable state of `app.control.coupling`; L limbs."""

    strategy: IntArray  # (1,)
    wished: IntArray  # (1,) revision of the wish that has been acted on
    hand: FloatArray  # (3,) the hand's proxy, hull frame
    hand_velocity: FloatArray  # (3,)
    master: MasterData  # of the selected limb
    heard: Signal
    sent: Signal
    lead: FloatArray  # (3,) from the hand's proxy to where the robot is to be
    force: FloatArray  # (3,) that the hand is to push with
    port: FloatArray  # (L, 2) energy put in less got out at each hand's port; its least
    surfaces: LocalSurface  # every field with a first axis of L limbs
    grip: FloatArray  # (L,)
    grips_seen: FloatArray  # (4,) that each source last asked for
    blend: FloatArray  # (1,) greatest share of blended assistance, 0 = off
    blend_wished: IntArray  # (1,) revision of it that has been acted on
    blend_share: FloatArray  # (1,) in this tick
    aim_limb: IntArray  # (1,) limb that it leads
    aim: FloatArray  # (3,) where to, hull frame; NaN = nowhere
    before: FloatArray  # (3,) the target before the operator moved it
    asked: FloatArray  # (3,) velocity that the operator asked for
    blended: FloatArray  # (3,) and what was made of it


def allocate_coupling_data(limbs: int, teleop: TeleopParameters) -> CouplingData:
    """Make the state of a coupling that nobody uses yet.

    Args:
        limbs: number of limbs L.
        teleop: the strategy to begin with, and what is known of the hand's device.
    """
    return CouplingData(
        strategy=np.array([int(strategy_named(teleop.strategy))]),
        wished=np.zeros(1, dtype=np.int64),
        hand=np.zeros(3),
        hand_velocity=np.zeros(3),
        master=allocate_master(),
        heard=allocate_signal(),
        sent=allocate_signal(),
        lead=np.zeros(3),
        force=np.zeros(3),
        port=np.zeros((limbs, 2)),
        surfaces=allocate_surfaces(
            limbs, teleop.handle.damping_n_s_per_m, naive=teleop.mediated.naive
        ),
        grip=np.zeros(limbs),
        grips_seen=np.zeros(len(Source)),
        blend=np.array([teleop.blend.share]),
        blend_wished=np.zeros(1, dtype=np.int64),
        blend_share=np.zeros(1),
        aim_limb=np.array([teleop.blend.limb]),
        aim=teleop.blend.aim,
        before=np.zeros(3),
        asked=np.zeros(3),
        blended=np.zeros(3),
    )
