"""Is a setpoint young, newer than the last, and not from the future?

Order is by generation time: it is the one number that a restarted station does not
set back. Sequence numbers only tell apart two frames that were generated at the same
(quantised) time. Every limb has its own order, because a link may reorder frames and
an old setpoint must never overtake a newer one of the same limb.
"""

from enum import Enum

from app.clock import NS_PER_MS

__all__ = ["FUTURE_TOLERANCE_NS", "Freshness", "Rejection"]

FUTURE_TOLERANCE_NS = 50 * NS_PER_MS
"""A stamp may lead by its quantisation; more is a wrong clock or a forgery."""


class Rejection(Enum):
    """Why a frame was not believed; the value is for people."""

    MALFORMED = "malformed, damaged, or not for this robot"
    FUTURE = "stamped in the future"
    STALE = "older than the age limit"
    REPLAYED = "a repeat, or older than the newest of this limb"
    NOT_FINITE = "with a value that is not finite"
    REFUSED = "of an arming that is not followed"


class Freshness:
    """Remembers the newest believed setpoint of every limb; pure."""

    def __init__(self, limbs: int, age_limit_ms: float, sequence_bits: int) -> None:
        """Begin with nothing heard.

        Args:
            limbs: number of limbs.
            age_limit_ms: a setpoint older than this is stale [ms].
            sequence_bits: bits after which sequence numbers wrap.
        """
        self._age_limit_ns = round(age_limit_ms * NS_PER_MS)
        self._sequences = 1 << sequence_bits
        self._newest: list[tuple[int, int] | None] = [None] * limbs

    def judge(
        self, now_ns: int, limb: int, generated_ns: int, sequence: int
    ) -> Rejection | None:
        """Judge a setpoint; it is not remembered until `accept`.

        Args:
            now_ns: robot time [ns].
            limb: its limb.
            generated_ns: when it was made, on the robot's clock [ns].
            sequence: its number.

        Returns:
            None where it may be believed, else why not.
        """
        if generated_ns > now_ns + FUTURE_TOLERANCE_NS:
            return Rejection.FUTURE
        newest = self._newest[limb]
        if newest is not None:
            lead = (sequence - newest[1]) % self._sequences
            newer = 0 < lead < self._sequences // 2
            if generated_ns < newest[0] or (generated_ns == newest[0] and not newer):
                return Rejection.REPLAYED
        if now_ns - generated_ns > self._age_limit_ns:
            return Rejection.STALE
        return None

    def accept(self, limb: int, generated_ns: int, sequence: int) -> None:
        """Make a believed setpoint the newest of its limb."""
        self._newest[limb] = (generated_ns, sequence)
