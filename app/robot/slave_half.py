"""The slave half of a bilateral strategy at the robot: a tip that follows the hand.

    measured pose -> tip, filtered -> slave_step (app/teleop/slave)
      -> tip's command, x_d + F / K_p for a force fed forward -> inverse kinematics

Once a millisecond for the limb under such a strategy. The posture is what the bridge
then brings into the envelope and limits in rate, as any other. Winches hold a posture,
they do not follow a force: the coupling of K_p and K_d is that of the limb on its
winches, and what `slave_step` reckons with is the operator's setting of it.

Tip and velocity are low-passed twice at 8 Hz: of the noise of a shape sensor, 1 mm at
the tip, 6 mm/s are left in the velocity, for a lag of 40 ms.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from app.link.frame import SignalTold
from app.link.signal_fields import UP_FIELDS
from app.link.signal_section import near
from app.teleop.gains import Gains
from app.teleop.goals import GREATEST_FORCE
from app.teleop.halves import SlaveCommand, SlaveData, allocate_command, allocate_slave
from app.teleop.signals import Signal, allocate_signal
from app.teleop.slave import reset_slave, slave_step
from models.bound import Bound, bind, bound
from models.inverse import InverseData, allocate_inverse_data, inverse_step
from models.numerics import FloatArray, kernel
from models.robot import RobotModel
from models.tip import point_to_base, tip_position

__all__ = ["SlaveHalf", "TipData", "follow_hand"]

_FILTER_S = 0.02


class TipData(NamedTuple):
    """State of the tip that follows; n segments of the largest limb."""

    once: FloatArray
    """(3,) tip, low-passed once [m]."""
    position: FloatArray
    """(3,) low-passed twice [m]."""
    velocity: FloatArray
    """(3,) [m/s]."""
    contact: FloatArray
    """(3,) force of the tip on what it touches [N]."""
    target: FloatArray
    """(3,) tip's command, base frame [m]."""
    aim: FloatArray
    """(3,) the same in the hull frame [m]."""
    pose: FloatArray
    """(n+1, 4, 4) along the limb."""


def _allocate_tip(model: RobotModel) -> TipData:
    count = int(np.max(np.diff(model.limb_segment_start)))
    once, position, velocity, contact, target, aim = np.zeros((6, 3))
    pose = np.zeros((count + 1, 4, 4))
    return TipData(once, position, velocity, contact, target, aim, pose)


@kernel
def follow_hand(
    model: RobotModel,
    gains: Gains,
    limb: int,
    period: float,
    measured: FloatArray,
    heard: Signal,
    tip_data: TipData,
    slave_data: SlaveData,
    inverse: InverseData,
    posture_out: FloatArray,
    command_out: SlaveCommand,
    sent_out: Signal,
) -> int:
    """Advance the slave half by one millisecond.

    Args:
        model: the robot.
        gains: of the strategy.
        limb: index of the limb.
        period: time since the last step [s].
        measured: (n, 3) pose of the limb; not finite: the tip stays [rad, rad, m].
        heard: newest of the master; its `fresh` holds for this step.
        tip_data: the tip; `contact` is the caller's to write.
        slave_data: the half.
        inverse: workspace.
        posture_out: (n, 3) of the tip's command, advanced [rad, rad, m].
        command_out: what the tip follows.
        sent_out: what is told to the master.

    Returns:
        0, or 1 where something is not finite.
    """
    count = posture_out.shape[0]
    total = 0.0
    for k in range(count):
        for j in range(3):
            total += measured[k, j]
    if abs(total) < np.inf:
        tip_position(model, limb, measured, tip_data.pose, tip_data.target)
        share = min(period / _FILTER_S, 1.0)
        for i in range(3):
            tip_data.once[i] += share * (tip_data.target[i] - tip_data.once[i])
            tip_data.velocity[i] = (
                share * (tip_data.once[i] - tip_data.position[i]) / period
            )
            tip_data.position[i] += share * (tip_data.once[i] - tip_data.position[i])
    slave_step(
        heard.strategy[0],
        gains,
        period,
        tip_data.position,
        tip_data.velocity,
        tip_data.contact,
        heard,
        slave_data,
        command_out,
        sent_out,
    )
    total = 0.0
    size = 0.0
    for i in range(3):
        total += command_out.position[i] + command_out.force[i]
        size += command_out.force[i] ** 2
    if not abs(total) < np.inf:
        return 1
    scale = min(1.0, GREATEST_FORCE / max(np.sqrt(size), 1e-12))
    for i in range(3):
        command_out.force[i] *= scale
        tip_data.aim[i] = (
            command_out.position[i] + command_out.force[i] / gains.stiffness[i]
        )
    point_to_base(model, limb, tip_data.aim, tip_data.target)
    inverse_step(
        model, limb, tip_data.target, period, posture_out, inverse, posture_out
    )
    return 0


class SlaveHalf:
    """The slave half of the one limb that follows a hand."""

    def __init__(self, model: RobotModel, gains: Gains) -> None:
        """Begin without a limb.

        Args:
            model: the robot as its file gives it.
            gains: of the strategies.
        """
        self._model = model
        self._gains = gains
        self.limb = -1
        """The limb that follows a hand; -1 = none."""
        self._heard, self._sent = allocate_signal(), allocate_signal()
        self._heard_ns = 0
        self._frozen = True
        self._slave = allocate_slave()
        self._command = allocate_command()
        self._tip = _allocate_tip(model)
        self._inverse = allocate_inverse_data(model)
        self._posture = np.zeros((0, 3))
        self._told = False
        self._bound = (
            bound(model),
            bound(gains),
            *map(Bound, (self._heard, self._tip, self._slave, self._inverse)),
            *map(Bound, (self._command, self._sent)),
        )
        self._follow: Callable[..., int] | None = None

    def release(self) -> None:
        """Follow no hand any more; setpoints drive the limb again."""
        self.limb = -1
        self._told = False

    def freeze(self) -> None:
        """Stand still; the next step begins where the limb is commanded to be."""
        self._frozen = True

    def hear(
        self, now_ns: int, generated_ns: int, told: SignalTold, applied: FloatArray
    ) -> None:
        """Take what the master tells; another limb or strategy engages the half.

        Args:
            now_ns: robot time [ns].
            generated_ns: when it was told [ns].
            told: the signal, of a bilateral strategy.
            applied: (S, 3) pose applied now [rad, rad, m].
        """
        heard = self._heard
        same = (
            told.limb == self.limb
            and heard.strategy[0] == told.strategy
            and heard.engagement[0] == told.engagement
        )
        if told.limb != self.limb:
            self._begin(told.limb, applied)
        before = heard.wave_integral if same else np.zeros(3)
        heard.wave_integral[:] = near(told.integral, before.tolist())
        heard.strategy[0], heard.engagement[0] = told.strategy, told.engagement
        heard.position[:] = told.position
        heard.velocity[:] = told.velocity
        heard.force[:] = told.force
        heard.wave[:] = told.wave
        heard.energy[0] = told.energy
        heard.time_ns[0] = generated_ns
        heard.fresh[0] = 1
        self._heard_ns = now_ns

    def _follow_hand(self, period: float, measured: FloatArray) -> int:
        """Call the kernel, which is bound when it is first needed."""
        model, gains, heard, tip, slave, inverse, command, sent = self._bound
        arguments = (
            model,
            gains,
            self.limb,
            period,
            measured,
            heard,
            tip,
            slave,
            inverse,
            self._posture,
            command,
            sent,
        )
        if self._follow is None:
            self._follow = bind(follow_hand, *arguments)
        return self._follow(*arguments)

    def _begin(self, limb: int, applied: FloatArray) -> None:
        """Begin where a limb is commanded to be."""
        self.limb = limb
        rows = self._rows(limb)
        self._posture = applied[rows].copy()
        self._settle()

    def _rows(self, limb: int) -> slice:
        start, stop = self._model.limb_segment_start[limb : limb + 2]
        return slice(int(start), int(stop))

    def _settle(self) -> None:
        tip = self._tip
        tip_position(self._model, self.limb, self._posture, tip.pose, tip.position)
        tip.once[:] = tip.position
        tip.velocity[:] = 0.0
        reset_slave(tip.position, self._slave)
        self._frozen = False

    def step(
        self,
        now_ns: int,
        period: float,
        patience_ns: int,
        applied: FloatArray,
        measured: FloatArray,
        contact: FloatArray | None,
    ) -> FloatArray | None:
        """Follow the hand.

        Args:
            now_ns: robot time [ns].
            period: time since the last step [s].
            patience_ns: without a word for so long it stands still [ns].
            applied: (S, 3) pose applied now [rad, rad, m].
            measured: (S, 3) pose [rad, rad, m].
            contact: (L, 3) force of each tip on what it touches [N]; None = unknown.

        Returns:
            (n, 3) wanted of `limb` [rad, rad, m], reused by the next step; None where
            it follows nothing.
        """
        if self.limb < 0 or period <= 0.0:
            return None
        if now_ns - self._heard_ns > patience_ns:
            self._frozen = True
            return None
        rows = self._rows(self.limb)
        if self._frozen:
            self._posture[:] = applied[rows]
            self._settle()
        felt = None if contact is None else contact[self.limb]
        known = felt is not None and math.isfinite(felt.sum())
        self._tip.contact[:] = felt if known else 0.0
        status = self._follow_hand(period, measured[rows])
        self._heard.fresh[0] = 0
        self._told = status == 0
        return self._posture if status == 0 else None

    @property
    def tells(self) -> bool:
        """Whether the station is to be told something."""
        return self.limb >= 0 and self._told

    def signal(self) -> SignalTold | None:
        """Return what the station is to be told; None where nothing is."""
        if not self.tells:
            return None
        sent = self._sent
        strategy = int(sent.strategy[0])
        x, y, z = sent.position.tolist()
        u, v, w = sent.velocity.tolist()
        fx, fy, fz = sent.force.tolist()
        wx, wy, wz = sent.wave.tolist()
        ix, iy, iz = sent.wave_integral.tolist()
        return SignalTold(
            limb=self.limb,
            strategy=strategy,
            engagement=int(sent.engagement[0]),
            fields=UP_FIELDS[strategy],
            position=(x, y, z),
            velocity=(u, v, w),
            force=(fx, fy, fz),
            wave=(wx, wy, wz),
            integral=(ix, iy, iz),
            energy=float(sent.energy[0]),
        )

    def warm_up(self, coordinates: FloatArray) -> None:
        """Compile or load the kernels, on a half that is thrown away.

        Args:
            coordinates: (S, 3) any pose [rad, rad, m].
        """
        spare = SlaveHalf(self._model, self._gains)
        told = SignalTold(0, 0, 0, UP_FIELDS[0], force=(0.1, 0.0, 0.0))
        spare.hear(1, 1, told, coordinates)
        spare.step(1, 1e-3, 1, coordinates, coordinates, None)
