"""The state of the two halves of a strategy, and the setpoint of the slave half.

The parts that one strategy alone needs stand in Data of their own. The sums of the
ports are there for every strategy and are drawn as the limb's energy meter.
"""

from typing import NamedTuple

import numpy as np

from app.teleop.passivity import PortData, allocate_port
from models.numerics import FloatArray, IntArray

__all__ = [
    "MasterData",
    "SlaveCommand",
    "SlaveData",
    "WaveData",
    "allocate_command",
    "allocate_master",
    "allocate_slave",
]


class WaveData(NamedTuple):
    """One end of the pair of waves."""

    sent: FloatArray
    """(3,) integral of the wave that was sent [sqrt(W) s]."""
    heard: FloatArray
    """(3,) integral of the other's, as last heard [sqrt(W) s]."""
    heard_ns: IntArray
    """(1,) when that was told; 0 = not yet [ns]."""
    passed: FloatArray
    """(3,) wave that was passed on in this tick [sqrt(W)]."""
    pending: FloatArray
    """(3,) heard but not yet passed on [sqrt(W) s]."""
    reserve: FloatArray
    """(1,) energy heard and not yet passed on [J]."""
    spread: FloatArray
    """(1,) longest recent time between two that came [ticks]."""
    gap: IntArray
    """(1,) ticks since one came."""


class MasterData(NamedTuple):
    """The half at the station; (1,) unless said otherwise."""

    strategy: IntArray
    """`Strategy` that is engaged; -1 = none yet."""
    engagement: IntArray
    """How many have been engaged."""
    began: IntArray
    """1 in the first tick of an engagement, then 0."""
    waiting: IntArray
    """1 while the slave does not follow yet, or is silent; 2 in the tick after."""
    silent: IntArray
    """Ticks since the slave was heard."""
    share: FloatArray
    """Of the strategy's own force in what is shown, 0 to 1; the rest is `leaning`."""
    leaning: FloatArray
    """(3,) force of the spring that the hand leans on now [N]."""
    leaning_first: FloatArray
    """(3,) when it was set [N]."""
    leaning_at: FloatArray
    """(3,) where the hand was then [m]."""
    force: FloatArray
    """(3,) force that was rendered last [N]."""
    port: PortData
    """The hand's port since the engagement, of the rendered force, without what the
    guard burns: that is not the robot's to spend."""
    session: PortData
    """The hand's port, at the device, since `reset_master`."""
    credit: FloatArray
    """Known dissipation of the handle, lent to its port [J]."""
    reserve: FloatArray
    """What the guard believes to have of the hand's energy [J]."""
    guard: FloatArray
    """Damping that the guard adds now [N s/m]."""
    wave: WaveData
    """Of wave variables."""


class SlaveCommand(NamedTuple):
    """What a tip's controller follows: K_p, K_d on position and velocity, and force."""

    position: FloatArray
    """(3,) setpoint [m]."""
    velocity: FloatArray
    """(3,) [m/s]."""
    force: FloatArray
    """(3,) fed forward [N]."""


class SlaveData(NamedTuple):
    """The half at the robot; (1,) unless said otherwise."""

    strategy: IntArray
    """`Strategy` that is engaged; -1 = none yet."""
    engagement: IntArray
    """The station's count that it was engaged under."""
    began: IntArray
    """1 in the first tick of an engagement, then 0."""
    silent: IntArray
    """Ticks since the master was heard."""
    setpoint: FloatArray
    """(3,) position that was commanded last [m]."""
    fading: FloatArray
    """(3,) what is left of the way from the old strategy's setpoint [m]."""
    force: FloatArray
    """(3,) of the tip's controller, F_s [N]."""
    port: PortData
    """The robot's port since the engagement: in where the tip drives the setpoint."""
    credit: FloatArray
    """Known dissipation of the tip in the water, lent to its port [J]."""
    wave: WaveData
    """Of wave variables."""


def _allocate_wave() -> WaveData:
    return WaveData(
        sent=np.zeros(3),
        heard=np.zeros(3),
        heard_ns=np.zeros(1, dtype=np.int64),
        passed=np.zeros(3),
        pending=np.zeros(3),
        reserve=np.zeros(1),
        spread=np.ones(1),
        gap=np.zeros(1, dtype=np.int64),
    )


def allocate_master() -> MasterData:
    """Make a master half that has engaged nothing."""
    return MasterData(
        strategy=np.full(1, -1, dtype=np.int64),
        engagement=np.zeros(1, dtype=np.int64),
        began=np.zeros(1, dtype=np.int64),
        waiting=np.zeros(1, dtype=np.int64),
        silent=np.zeros(1, dtype=np.int64),
        share=np.ones(1),
        leaning=np.zeros(3),
        leaning_first=np.zeros(3),
        leaning_at=np.zeros(3),
        force=np.zeros(3),
        port=allocate_port(),
        session=allocate_port(),
        credit=np.zeros(1),
        reserve=np.zeros(1),
        guard=np.zeros(1),
        wave=_allocate_wave(),
    )


def allocate_slave() -> SlaveData:
    """Make a slave half that has engaged nothing."""
    return SlaveData(
        strategy=np.full(1, -1, dtype=np.int64),
        engagement=np.zeros(1, dtype=np.int64),
        began=np.zeros(1, dtype=np.int64),
        silent=np.zeros(1, dtype=np.int64),
        setpoint=np.zeros(3),
        fading=np.zeros(3),
        force=np.zeros(3),
        port=allocate_port(),
        credit=np.zeros(1),
        wave=_allocate_wave(),
    )


def allocate_command() -> SlaveCommand:
    """Make a command of rest at the origin."""
    return SlaveCommand(np.zeros(3), np.zeros(3), np.zeros(3))
