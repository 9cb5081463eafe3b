"""Setpoint and telemetry frames, and the codec between them and bytes.

A frame is written in the `full` profile (`app.link.full`) or, where the link takes only
the smallest packets, in the `compact` one (`app.link.compact`). Its first byte is the
stream key: it names kind and limb (or segment), so that the channel, which knows no
more of a frame than that, can let a stream's newer frame replace its older one and
mode frames go first.
"""

from itertools import pairwise

from app.errors import FrameError
from app.link.compact import CompactProfile
from app.link.counters import Counters
from app.link.full import FullProfile
from app.link.packing import Quantiser
from app.link.records import SetpointFrame, TelemetryFrame
from app.link.streams import (
    COMPACT_BYTES,
    URGENT_KEY_END,
    Profile,
    profile_of,
    stream_key,
)
from app.messages import StationMode
from models.robot import RobotModel

__all__ = [
    "URGENT_KEY_END",
    "Codec",
    "Profile",
    "SetpointFrame",
    "TelemetryFrame",
    "profile_of",
    "stream_key",
]

_TENSION_MARGIN = 1.25  # measured tension may exceed what the winch can hold


class Codec:
    """Frames of one robot to bytes and back, for one side of the link.

    Both profiles are always read; `profile` says which one is written. The codec
    remembers what it needs to unwrap counters and to put segments together, so each
    side keeps one for as long as it runs. A frame decoded twice has the same sequence
    number twice.
    """

    def __init__(self, model: RobotModel, robot_id: int, mtu_bytes: int) -> None:
        """Choose the profile that fits.

        Args:
            model: the robot; both sides must have the same.
            robot_id: 0..255, so that no other robot obeys.
            mtu_bytes: largest packet of the link; at least 8.

        Raises:
            FrameError: the MTU, the robot's number or its size is out of range.
        """
        limbs = int(model.tip_speed_limit.size)
        if not 0 <= robot_id <= 255:
            raise FrameError(f"Robot number {robot_id}: must be 0..255.")
        if limbs > 8 or model.segment_length.size > 64:
            raise FrameError(
                f"Robot has {limbs} limbs, {model.segment_length.size} segments: "
                "frames take at most 8 and 64."
            )
        self.robot_id = robot_id
        self.mtu_bytes = mtu_bytes
        self.profile = Profile.FULL
        self._limbs = limbs
        self._quantiser = Quantiser(model)
        self._counters = Counters()
        tension_limit = [
            [
                _TENSION_MARGIN * float(value)
                for value in model.tendon_tension_limit[start:stop]
            ]
            for start, stop in pairwise(int(k) for k in model.limb_tendon_start)
        ]
        self._full = FullProfile(
            robot_id, self._quantiser, self._counters, tension_limit
        )
        self._compact = CompactProfile(robot_id, self._quantiser, self._counters)
        self.set_mtu(mtu_bytes)

    def set_mtu(self, mtu_bytes: int) -> None:
        """Take up another MTU, and the fullest profile that fits it.

        Raises:
            FrameError: below 8 bytes.
        """
        if mtu_bytes < COMPACT_BYTES:
            raise FrameError(
                f"MTU {mtu_bytes} bytes: frames need at least {COMPACT_BYTES}."
            )
        self.mtu_bytes = mtu_bytes
        largest = max(
            max(
                self._full.setpoint_bytes(limb),
                self._full.telemetry_bytes(limb, tension=False),
            )
            for limb in range(self._limbs)
        )
        self.profile = Profile.FULL if largest <= mtu_bytes else Profile.COMPACT

    def parts(self, limb: int) -> int:
        """Frames that it takes to tell a whole limb in the present profile."""
        return 1 if self.profile is Profile.FULL else self._compact.parts(limb)

    def frame_bytes(
        self, limb: int, *, telemetry: bool = False, tension: bool = False
    ) -> int:
        """Return the length of a limb's setpoint or telemetry frame [bytes]."""
        if self.profile is Profile.COMPACT:
            return COMPACT_BYTES
        if telemetry:
            return self._full.telemetry_bytes(limb, tension=tension)
        return self._full.setpoint_bytes(limb)

    def encode(self, frame: SetpointFrame | TelemetryFrame) -> bytes:
        """Write a frame in the present profile.

        In the compact profile each call for a limb writes its next segment in turn.
        Tensions are left out where they do not fit the MTU.

        Raises:
            FrameError: wrong robot, limb or shape, or a value that is not finite.
        """
        if frame.robot != self.robot_id:
            raise FrameError(f"Frame is for robot {frame.robot}, not {self.robot_id}.")
        if not 0 <= frame.limb < self._limbs:
            raise FrameError(f"No limb {frame.limb}: 0..{self._limbs - 1}.")
        if isinstance(frame, TelemetryFrame):
            self._check_shape(frame)
            if self.profile is Profile.COMPACT:
                return self._compact.write_telemetry(frame)
            length = self._full.telemetry_bytes(frame.limb, tension=True)
            return self._full.write_telemetry(
                frame, with_tension=length <= self.mtu_bytes
            )
        if frame.mode is StationMode.ARMED:
            self._check_shape(frame)
        self._counters.note_sent(frame.sequence, frame.epoch)
        if self.profile is Profile.COMPACT:
            return self._compact.write_setpoint(frame)
        return self._full.write_setpoint(frame)

    def _check_shape(self, frame: SetpointFrame | TelemetryFrame) -> None:
        expected = (len(self._quantiser.segments(frame.limb)), 3)
        if frame.coordinates.shape != expected:
            raise FrameError(
                f"Limb {frame.limb} has coordinates {expected}, "
                f"not {frame.coordinates.shape}."
            )

    def decode(
        self, buffer: bytes, reference_ns: int
    ) -> SetpointFrame | TelemetryFrame:
        """Read a frame of either profile.

        Args:
            buffer: one whole packet.
            reference_ns: the present time in the sender's clock [ns], to unwrap by.

        Raises:
            FrameError: wrong length, CRC, robot, limb or range; nothing is changed.
        """
        if profile_of(buffer) is Profile.COMPACT:
            return self._compact.read(buffer, reference_ns)
        return self._full.read(buffer, reference_ns)
