"""Telemetry: what the robot tells, when, and of which limb.

A change of the robot's own state goes at once, without waiting for its turn; else the
pacer decides, serving the limb that has moved most since it was last told. The robot
answers in the profile it was last addressed in, and within the rate that the station
allows it, so that it follows a link whose settings change without being told of them.
"""

from dataclasses import replace

import numpy as np

from app.clock import NS_PER_MS
from app.link.frame import Codec, Profile, TelemetryFrame
from app.link.pacing import PaceBudget, Pacer
from app.messages import RobotState
from app.robot.envelope import motion_since
from models.numerics import FloatArray
from models.robot import RobotModel

__all__ = ["Reporter"]

_WIDE_MTU_BYTES = 64
"""Of a link that began too narrow for full frames and now carries them."""


class Reporter:
    """Composes and paces telemetry frames; pure."""

    def __init__(self, model: RobotModel, codec: Codec, budget: PaceBudget) -> None:
        """Begin with nothing told.

        Args:
            model: the robot as its file gives it.
            codec: the bridge's own.
            budget: what this side may send where the station names no rate.
        """
        limbs = model.tip_speed_limit.size
        self._model = model
        self._codec = codec
        narrow = codec.profile is Profile.COMPACT
        self._full_mtu_bytes = _WIDE_MTU_BYTES if narrow else codec.mtu_bytes
        self._budget = budget
        self._uplink_bps = 0.0
        self._pacer = Pacer(limbs, budget)
        self._told = np.zeros_like(model.rest_coordinates)
        self._change = np.zeros(limbs)
        self._last_finite = np.zeros_like(model.rest_coordinates)
        self._told_state: RobotState | None = None
        self._next_limb = 0
        self._sequence = 0

    def follow(self, profile: Profile, uplink_bps: float) -> None:
        """Take up the profile and rate of the newest frame from the station.

        Args:
            profile: in which the robot was addressed.
            uplink_bps: rate allowed for telemetry [bit/s]; 0 = the station cannot say.
        """
        if profile is Profile.FULL and self._codec.profile is not profile:
            self._codec.set_mtu(self._full_mtu_bytes)
        self._codec.profile = profile
        if uplink_bps != self._uplink_bps:
            self._uplink_bps = uplink_bps
            told = replace(self._budget, bandwidth_bps=uplink_bps, share=1.0)
            self._pacer.configure(told if uplink_bps > 0.0 else self._budget)

    def report(
        self,
        now_ns: int,
        state: RobotState,
        epoch: int,
        heard: tuple[int, int] | None,
        received: int,
        measured: FloatArray,
        tension: FloatArray,
    ) -> list[bytes]:
        """Return the frames that go now.

        Args:
            now_ns: robot time [ns].
            state: what the robot does.
            epoch: arming followed, or that ended last where none is.
            heard: sequence of the newest setpoint frame and when it came [ns].
            received: count of setpoint frames received.
            measured: (S, 3) [rad, rad, m]; rows that are not finite are told as when
                a frame last was due and they were.
            tension: (T,) [N].

        Returns:
            None or one frame of at most the link's MTU.
        """
        changed = state != self._told_state
        if not changed and not self._pacer.ready(now_ns):
            return []
        finite = np.isfinite(measured).all(axis=1, keepdims=True)
        np.copyto(self._last_finite, measured, where=finite)
        if changed:
            limb = self._next_limb
        else:
            motion_since(self._model, self._last_finite, self._told, self._change)
            limb = self._pacer.choose(now_ns, self._change.tolist())
        if limb < 0:
            return []
        packet = self._codec.encode(
            self._frame(now_ns, limb, state, epoch, heard, received, tension)
        )
        self._pacer.sent(now_ns, limb, len(packet))
        start, stop = self._model.limb_segment_start[limb : limb + 2]
        self._told[start:stop] = self._last_finite[start:stop]
        self._told_state = state
        self._next_limb = (limb + 1) % self._change.size
        return [packet]

    def _frame(
        self,
        now_ns: int,
        limb: int,
        state: RobotState,
        epoch: int,
        heard: tuple[int, int] | None,
        received: int,
        tension: FloatArray,
    ) -> TelemetryFrame:
        self._sequence += 1
        start, stop = self._model.limb_segment_start[limb : limb + 2]
        first, last = self._model.limb_tendon_start[limb : limb + 2]
        told = tension[first:last]
        return TelemetryFrame(
            sequence=self._sequence,
            generated_ns=now_ns,
            robot=self._codec.robot_id,
            limb=limb,
            epoch=epoch,
            state=state,
            coordinates=self._last_finite[start:stop],
            tension=told if bool(np.isfinite(told).all()) else None,
            echo_sequence=-1 if heard is None else heard[0],
            echo_hold_ms=float("nan")
            if heard is None
            else (now_ns - heard[1]) / NS_PER_MS,
            received=received,
        )
