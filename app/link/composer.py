"""Which limbs the next setpoint frame tells; pure.

The pacer says when and which limb leads; limbs within the deadband wait. Where the link
is fast, or a delta can be written, the whole robot goes in one frame; else the leading
limb with those that have moved too. A limb that the robot is known to have in full only
goes where no other one has anything to tell.
"""

import numpy as np

from app.clock import NS_PER_MS, NS_PER_S
from app.link.deadband import KEEP_ALIVE_NS, Deadband
from app.link.frame import Codec, Profile
from app.link.limb_steps import LimbSteps
from app.link.pacing import Pacer
from app.link.sections import PLAN_BYTES
from app.link.sent_limbs import SentLimbs
from models.numerics import FloatArray

__all__ = ["Composer"]

_WHOLE_HZ = 5.0  # a full frame of the whole robot may go where so many fit a second
_WHOLE_EVERY_NS = 20 * NS_PER_S  # else one goes so often, for deltas to start from
_SKIP_NS = 20 * NS_PER_MS


class Composer:
    """Remembers what was sent of each limb and what the robot has of it."""

    def __init__(self, codec: Codec, pacer: Pacer, deadband: Deadband) -> None:
        """Begin with nothing sent."""
        self._codec = codec
        self._pacer = pacer
        self._deadband = deadband
        self._steps = LimbSteps(codec.schema)
        self._told = SentLimbs(codec.schema)
        self._rows = [codec.schema.rows(limb) for limb in codec.schema.all_limbs]
        self._whole_ns: int | None = None
        self._frame_ns: int | None = None
        self._skipped_ns = 0
        self._known: tuple[object, ...] | None = None  # what follows is of
        self._errors: list[float] = []  # at each tip, as it would be sent [m]
        self._fits = False  # the whole robot in one frame
        self._fast = False  # and so often that it always goes so

    def reset(self) -> None:
        """The robot began anew and has nothing."""
        self._told.reset()
        self._whole_ns = None

    def choose(
        self, now_ns: int, sequence: int, commanded: FloatArray, *, told: bool = False
    ) -> tuple[int, ...]:
        """Return the limbs of a frame that may go now; none where none goes.

        Args:
            now_ns: present time [ns].
            sequence: number that the frame would have.
            commanded: (S, 3) setpoints of the robot [rad, rad, m].
            told: something else must be told with a limb: the deadband does not bind.
        """
        if not self._pacer.due(now_ns):
            return ()
        codec, told_limbs = self._codec, self._told
        limbs = codec.schema.all_limbs
        compact = codec.profile is Profile.COMPACT
        self._pacer.streams = len(limbs) if compact else 1
        self._look()
        if self._fast and self._deadband.share <= 0.0:
            return limbs  # whichever leads, and moved or not
        motion, change = self._steps.measure(commanded, told_limbs.coordinates)
        moved = told_limbs.moved(motion)
        settled = [
            not moved[limb] and told_limbs.has(limb, codec.parts(limb))
            for limb in limbs
        ]
        lead = self._pacer.choose(now_ns, change, settled)
        if lead < 0 or not (told or self._lively(now_ns, lead, commanded)):
            return ()
        if compact or not self._fits:
            return (lead,)
        due = self._whole_ns is None or now_ns - self._whole_ns >= _WHOLE_EVERY_NS
        if self._fast or due or codec.has_base(sequence):
            return limbs
        return tuple(limb for limb in limbs if limb == lead or moved[limb])

    def rows(self, limbs: tuple[int, ...], commanded: FloatArray) -> FloatArray:
        """Return the rows of a frame that tells these limbs, NaN for those left out.

        Args:
            limbs: indices; none for a frame without coordinates.
            commanded: (S, 3) setpoints of the robot [rad, rad, m].
        """
        schema = self._codec.schema
        if len(limbs) == schema.limbs:
            return commanded
        if not limbs:
            return commanded[:0]
        if len(limbs) == 1:
            return commanded[self._rows[limbs[0]]]
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
        self._told.sent(sequence, limbs, commanded, self._codec.parts(limbs[0]))

    def acknowledge(self, sequence: int) -> None:
        """The robot is known to have accepted this frame."""
        self._told.accepted(sequence)

    def _look(self) -> None:
        """See what the present link and resolution bring with them."""
        codec, budget = self._codec, self._pacer.budget
        known = codec.profile, codec.grade, codec.mtu_bytes, budget
        if known == self._known:
            return
        self._known = known
        schema = codec.schema
        if codec.profile is Profile.COMPACT:
            layouts = [parts[0].layout for parts in schema.compact_setpoint]
        else:
            layouts = list(schema.setpoint[codec.grade].limbs)
        self._errors = [layout.error for layout in layouts]
        self._told.round_to(self._errors)
        size = codec.frame_bytes() + PLAN_BYTES
        self._fits = size <= codec.mtu_bytes
        rate = budget.bytes_per_s()
        enough = rate is None or rate >= _WHOLE_HZ * (size + budget.overhead_bytes)
        packed = codec.profile is Profile.PACKED
        self._fast = packed and self._fits and enough

    def _lively(self, now_ns: int, lead: int, commanded: FloatArray) -> bool:
        """Tell whether a limb is out of its deadband, or the watchdog must be fed."""
        if self._frame_ns is None or now_ns - self._frame_ns >= KEEP_ALIVE_NS:
            return True
        floor = self._errors[lead]
        if any(
            self._deadband.exceeded(limb, commanded, self._told.coordinates, floor)
            for limb in self._codec.schema.all_limbs
        ):
            return True
        if now_ns - max(self._skipped_ns, self._frame_ns) >= _SKIP_NS:
            self._skipped_ns = now_ns
            self._deadband.suppressed += 1
        return False
