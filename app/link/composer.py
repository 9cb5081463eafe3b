"""Which limbs the next setpoint frame tells; pure.

The pacer says when and which limb leads; limbs within the deadband wait. Where the link
is fast, or a delta can be written, the whole robot goes in one frame; else the leading
limb with those that have moved too. A limb that the robot is known to have in full only
goes where no other one has anything to tell.
"""

from collections import OrderedDict

import numpy as np

from app.clock import NS_PER_MS, NS_PER_S
from app.link.deadband import KEEP_ALIVE_NS, Deadband
from app.link.frame import Codec, Profile
from app.link.limb_steps import LimbSteps
from app.link.pacing import Pacer
from app.link.sections import PLAN_BYTES
from models.numerics import FloatArray

__all__ = ["Composer"]

_WHOLE_HZ = 5.0  # a full frame of the whole robot may go where so many fit a second
_WHOLE_EVERY_NS = 20 * NS_PER_S  # else one goes so often, for deltas to start from
_SKIP_NS = 20 * NS_PER_MS
_FRAMES_KEPT = 1024


class Composer:
    """Remembers what was sent of each limb and what the robot has of it."""

    def __init__(self, codec: Codec, pacer: Pacer, deadband: Deadband) -> None:
        """Begin with nothing sent."""
        self._codec = codec
        self._pacer = pacer
        self._deadband = deadband
        self._steps = LimbSteps(codec.schema)
        schema = codec.schema
        self._rows = [schema.rows(limb) for limb in schema.all_limbs]
        self._sent = np.zeros((schema.segment_start[-1], 3))
        self._whole_ns: int | None = None
        self._frame_ns: int | None = None
        self._skipped_ns = 0
        self._since = [0] * schema.limbs  # first frame that told the limb as it is
        self._turn = [0] * schema.limbs
        self._has: list[set[int]] = [set() for _ in schema.all_limbs]
        self._frames: OrderedDict[int, tuple[tuple[int, ...], int]] = OrderedDict()

    def reset(self) -> None:
        """The robot began anew and has nothing."""
        self._frames.clear()
        self._whole_ns = None
        for parts in self._has:
            parts.clear()

    def choose(
        self, now_ns: int, sequence: int, commanded: FloatArray, *, told: bool = False
    ) -> tuple[int, ...]:
        """Return the limbs of the frame that goes now; none where none goes.

        Args:
            now_ns: present time [ns].
            sequence: number that the frame would have.
            commanded: (S, 3) setpoints of the robot [rad, rad, m].
            told: something else must be told with a limb: the deadband does not bind.
        """
        if not (self._pacer.ready(now_ns) and self._pacer.due(now_ns)):
            return ()
        limbs = self._codec.schema.all_limbs
        compact = self._codec.profile is Profile.COMPACT
        self._pacer.streams = len(limbs) if compact else 1
        motion, change = self._steps.measure(commanded, self._sent)
        moved = self._moved(motion)
        settled = [self._is_told(limb) and not moved[limb] for limb in limbs]
        lead = self._pacer.choose(now_ns, change, settled)
        if lead < 0 or not (told or self._lively(now_ns, lead, commanded)):
            return ()
        if compact:
            return (lead,)
        return self._together(now_ns, sequence, lead, moved)

    def rows(self, limbs: tuple[int, ...], commanded: FloatArray) -> FloatArray:
        """Return the rows of a frame that tells these limbs, NaN for those left out.

        Args:
            limbs: indices; none for a frame without coordinates.
            commanded: (S, 3) setpoints of the robot [rad, rad, m].
        """
        schema = self._codec.schema
        if len(limbs) == 1:
            return commanded[self._rows[limbs[0]]]
        if len(limbs) in {0, schema.limbs}:
            return commanded if limbs else commanded[:0]
        rows = np.full_like(commanded, np.nan)
        for limb in limbs:
            rows[self._rows[limb]] = commanded[self._rows[limb]]
        return rows

    def sent(
        self, now_ns: int, sequence: int, limbs: tuple[int, ...], commanded: FloatArray
    ) -> None:
        """Report a frame that went."""
        self._frame_ns = now_ns
        if len(limbs) == self._codec.schema.limbs:
            self._whole_ns = now_ns
        turn = 0
        motion, _ = self._steps.measure(commanded, self._sent)
        moved = self._moved(motion)
        for limb in limbs:
            if moved[limb] or not self._since[limb]:
                self._since[limb] = sequence
                self._has[limb].clear()
            turn = self._turn[limb] % self._codec.parts(limb)
            self._turn[limb] = turn + 1
            rows = self._rows[limb]
            self._sent[rows] = commanded[rows]
        self._frames[sequence] = (limbs, turn)
        if len(self._frames) > _FRAMES_KEPT:
            self._frames.popitem(last=False)

    def acknowledge(self, sequence: int) -> None:
        """The robot is known to have accepted this frame."""
        limbs, turn = self._frames.pop(sequence, ((), 0))
        for limb in limbs:
            if sequence >= self._since[limb]:
                self._has[limb].add(turn)

    def _resolutions(self) -> list[float]:
        """Quantisation error of each limb's tip as it would be sent [m]."""
        schema = self._codec.schema
        if self._codec.profile is Profile.COMPACT:
            return [parts[0].layout.error for parts in schema.compact_setpoint]
        return [limb.error for limb in schema.setpoint[self._codec.grade].limbs]

    def _moved(self, motion: list[float]) -> list[bool]:
        """Tell for each limb whether its tip moves by more than rounding would."""
        return [
            moved > 0.5 * error
            for moved, error in zip(motion, self._resolutions(), strict=True)
        ]

    def _is_told(self, limb: int) -> bool:
        """The robot is known to have all parts of a limb as it was last sent."""
        return len(self._has[limb]) >= self._codec.parts(limb)

    def _lively(self, now_ns: int, lead: int, commanded: FloatArray) -> bool:
        """Tell whether a limb is out of its deadband, or the watchdog must be fed."""
        if self._frame_ns is None or now_ns - self._frame_ns >= KEEP_ALIVE_NS:
            return True
        floor = self._resolutions()[lead]
        if any(
            self._deadband.exceeded(limb, commanded, self._sent, floor)
            for limb in self._codec.schema.all_limbs
        ):
            return True
        if now_ns - max(self._skipped_ns, self._frame_ns) >= _SKIP_NS:
            self._skipped_ns = now_ns
            self._deadband.suppressed += 1
        return False

    def _together(
        self, now_ns: int, sequence: int, lead: int, moved: list[bool]
    ) -> tuple[int, ...]:
        """Limbs that go in one packed frame."""
        codec, budget = self._codec, self._pacer.budget
        size = codec.frame_bytes() + PLAN_BYTES
        if size > codec.mtu_bytes:
            return (lead,)
        rate = budget.bytes_per_s()
        fast = rate is None or rate >= _WHOLE_HZ * (size + budget.overhead_bytes)
        due = self._whole_ns is None or now_ns - self._whole_ns >= _WHOLE_EVERY_NS
        if fast or due or codec.has_base(sequence):
            return codec.schema.all_limbs
        return tuple(
            limb for limb in codec.schema.all_limbs if limb == lead or moved[limb]
        )
