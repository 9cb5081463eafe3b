"""Setpoint and telemetry frames, and the codec between them and bytes.

A frame is written in the packed profile (`app.link.packed` for setpoints,
`app.link.packed_telemetry`) or, where the link takes only the smallest packets, in the
compact one (`app.link.compact`). Its first byte is the stream key: it names kind and
limb, so that the channel, which knows no more of a frame than that, can let a stream's
newer frame replace its older one and urgent frames go first.
"""

from app.errors import FrameError
from app.link.compact import CompactProfile
from app.link.compact_beside import CompactBeside
from app.link.counters import Counters
from app.link.hello import HELLO_BYTES, Hello
from app.link.packed import PackedSetpoints
from app.link.packed_telemetry import PackedTelemetry
from app.link.records import (
    WHOLE_ROBOT,
    Beside,
    GripTold,
    HelloFrame,
    SetpointFrame,
    TelemetryFrame,
)
from app.link.schema import Grade, Schema
from app.link.seal import Seal
from app.link.sections import PLAN_BYTES
from app.link.senders import Senders
from app.link.signal_section import SignalField, SignalTold
from app.link.streams import (
    COMPACT_BYTES,
    COMPACT_GOAL_KEY,
    URGENT_KEY_END,
    Kind,
    Profile,
    lane,
    profile_of,
    stream_key,
)
from app.link.terms import Terms
from app.messages import StationMode
from models.robot import RobotModel

__all__ = [
    "URGENT_KEY_END",
    "WHOLE_ROBOT",
    "Beside",
    "Codec",
    "Grade",
    "GripTold",
    "HelloFrame",
    "Profile",
    "SetpointFrame",
    "SignalField",
    "SignalTold",
    "TelemetryFrame",
    "lane",
    "profile_of",
    "stream_key",
]

_LEAST_BYTES, _MOST_BYTES = 8, 512
_SESSION_END = 1 << 32
_HELLO_KEYS = (Kind.HELLO.value, Kind.COMPACT_HELLO.value)
_SETPOINT_KEYS = frozenset(
    {Kind.MODE.value, *range(Kind.ACTIVE_LIMB.value, Kind.GOAL.value + 1)}
)
_TELEMETRY_KEYS = range(Kind.TELEMETRY_SOME.value, Kind.TELEMETRY_LIMB.value + 8)

Frame = SetpointFrame | TelemetryFrame | HelloFrame


class Codec:
    """Frames of one robot to bytes and back, for one side of the link.

    Both profiles are always read; `profile` says which one is written, `grade` with
    which resolution. The codec remembers what it needs to unwrap counters and for
    delta frames, so each side keeps one for as long as it runs. A frame decoded twice
    has the same sequence number twice.
    """

    def __init__(
        self, model: RobotModel, robot_id: int, mtu_bytes: int, session: int = 0
    ) -> None:
        """Choose the profile that fits.

        Args:
            model: the robot; both sides must have the same.
            robot_id: 0..255, so that no other robot obeys.
            mtu_bytes: largest packet of the link; at least 8.
            session: the robot's, 0 where it is not known or there is none.

        Raises:
            FrameError: the MTU, the robot's number or its size is out of range.
        """
        if not 0 <= robot_id <= 255:
            raise FrameError(f"Robot number {robot_id}: must be 0..255.")
        self.robot_id = robot_id
        self.mtu_bytes = mtu_bytes
        self.profile = Profile.PACKED
        self.schema = Schema(model)
        self._shapes = {
            limb: (self.schema.segments(limb), 3) for limb in self.schema.all_limbs
        }
        self._shapes[WHOLE_ROBOT] = (self.schema.segment_start[-1], 3)
        self._seal = Seal(self.schema.digest, robot_id)
        self._counters = Counters()
        self._senders = Senders()
        terms = Terms(robot_id, self.schema, self._seal, self._counters)
        self._setpoints = PackedSetpoints(terms)
        self._telemetry = PackedTelemetry(terms)
        self._compact = CompactProfile(terms)
        self._beside = CompactBeside(terms)
        self._hello = Hello(terms)
        self.bind(session)
        self.set_mtu(mtu_bytes)

    # -- settings ------------------------------------------------------------------

    @property
    def session(self) -> int:
        """The robot's session that frames are bound to; 0 = not known."""
        return self._seal.session

    def bind(self, session: int) -> None:
        """Bind all frames to a session of the robot; what was acknowledged is void.

        Raises:
            FrameError: it is not 0..2^32 - 1.
        """
        if not 0 <= session < _SESSION_END:
            raise FrameError(f"Session {session}: must be 0..{_SESSION_END - 1}.")
        if session != self._seal.session:
            self._setpoints.sent.clear()
            self._counters.forget_peer()
        self._seal.bind(session)

    @property
    def grade(self) -> Grade:
        """Resolution of the packed frames that are written."""
        return self._setpoints.grade

    @grade.setter
    def grade(self, grade: Grade) -> None:
        self._setpoints.grade = self._telemetry.grade = grade

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
        packed = max(map(self.packed_bytes, self.schema.all_limbs)) <= mtu_bytes
        self.profile = Profile.PACKED if packed else Profile.COMPACT

    def packed_bytes(self, limb: int) -> int:
        """Length of the longest packed frame that one limb needs [bytes]."""
        return max(
            HELLO_BYTES,
            self._setpoints.frame_bytes((limb,), Grade.FINE) + PLAN_BYTES,
            self._telemetry.frame_bytes((limb,), Grade.FINE, tension=False),
        )

    def parts(self, limb: int) -> int:
        """Frames that it takes to tell a whole limb in the present profile."""
        return 1 if self.profile is Profile.PACKED else self._compact.parts(limb)

    def frame_bytes(
        self,
        limb: int = WHOLE_ROBOT,
        *,
        telemetry: bool = False,
        tension: bool = False,
    ) -> int:
        """Return the length of a setpoint (full) or telemetry frame [bytes].

        Args:
            limb: index of the limb, or WHOLE_ROBOT.
            telemetry: of telemetry.
            tension: with tensions.
        """
        if self.profile is Profile.COMPACT:
            return COMPACT_BYTES
        limbs = self.schema.all_limbs if limb == WHOLE_ROBOT else (limb,)
        if telemetry:
            return self._telemetry.frame_bytes(limbs, self.grade, tension=tension)
        return self._setpoints.frame_bytes(limbs, self.grade)

    def acknowledge(self, sequence: int) -> None:
        """The peer is known to have accepted this setpoint: deltas may start there."""
        self._setpoints.sent.acknowledge(sequence)

    def setpoint_bytes(self, limbs: tuple[int, ...], grade: Grade) -> int:
        """Return the length of a full packed setpoint of these limbs [bytes]."""
        return self._setpoints.frame_bytes(limbs, grade)

    def telemetry_bytes(self, limbs: tuple[int, ...], grade: Grade) -> int:
        """Return the length of packed telemetry of these limbs, no tensions [bytes]."""
        return self._telemetry.frame_bytes(limbs, grade, tension=False)

    def has_base(self, sequence: int) -> bool:
        """Tell whether a frame with this number could be written as a delta."""
        return self._setpoints.sent.usable(sequence, self.grade) is not None

    # -- out -----------------------------------------------------------------------

    def encode(self, frame: Frame) -> bytes:
        """Write a frame in the present profile.

        A packed setpoint of the whole robot is written as a delta from the newest
        state that was acknowledged where that is shorter. In the compact profile each
        call for a limb, or a goal, writes its next part in turn; a frame is of a goal,
        of a grip or of a limb, the first of them that it has. Sections are left out
        where they do not fit the MTU.

        Raises:
            FrameError: wrong robot, limb or shape, or a value that is not finite.
        """
        if frame.robot != self.robot_id:
            raise FrameError(f"Frame is for robot {frame.robot}, not {self.robot_id}.")
        if self.profile is Profile.COMPACT:
            return self._encode_compact(frame)
        if isinstance(frame, TelemetryFrame):
            if frame.coordinates.shape != self._shapes.get(frame.limb):
                raise self._misshapen(frame)
            return self._telemetry.write(frame, self.mtu_bytes)
        if isinstance(frame, HelloFrame):
            return self._hello.write(frame, compact=False)
        self._counters.note_sent(frame.sequence, frame.epoch)
        if frame.mode is not StationMode.ARMED:
            return self._setpoints.write_mode(frame)
        if frame.goal:
            return self._setpoints.write_goal(frame, self.mtu_bytes)
        if frame.coordinates.shape != self._shapes.get(frame.limb):
            if not len(frame.coordinates):  # it announces the arming
                return self._setpoints.write_mode(frame)
            raise self._misshapen(frame)
        return self._setpoints.write_setpoint(frame, self.mtu_bytes)

    def _encode_compact(self, frame: Frame) -> bytes:
        if isinstance(frame, TelemetryFrame):
            self._check_compact_shape(frame)
            if frame.status >= 0:
                return self._beside.write_status(frame)
            return self._compact.write_telemetry(frame)
        if isinstance(frame, HelloFrame):
            return self._hello.write(frame, compact=True)
        self._counters.note_sent(frame.sequence, frame.epoch)
        armed = frame.mode is StationMode.ARMED
        if armed and frame.goal:
            return self._beside.write_goal(frame)
        if armed and frame.grip is not None:
            return self._beside.write_grip(frame, frame.grip)
        if not armed or not len(frame.coordinates):
            return self._compact.write_mode(frame)
        self._check_compact_shape(frame)
        return self._compact.write_setpoint(frame)

    def _check_compact_shape(self, frame: SetpointFrame | TelemetryFrame) -> None:
        if frame.limb == WHOLE_ROBOT:
            raise FrameError("A compact frame tells one limb, not the whole robot.")
        if frame.coordinates.shape != self._shapes.get(frame.limb):
            raise self._misshapen(frame)

    def _misshapen(self, frame: SetpointFrame | TelemetryFrame) -> FrameError:
        shape = self._shapes.get(frame.limb)
        if shape is None:
            return FrameError(f"No limb {frame.limb}: 0..{self.schema.limbs - 1}.")
        return FrameError(
            f"Coordinates of limb {frame.limb} are {shape}, not "
            f"{frame.coordinates.shape}."
        )

    # -- in ------------------------------------------------------------------------

    def decode(self, buffer: bytes, reference_ns: int, peer: int = 0) -> Frame:
        """Read a frame of either profile.

        Args:
            buffer: one whole packet.
            reference_ns: the present time in the clock of the robot, as far as this
                side knows it [ns], to unwrap times by.
            peer: number of the connection it came by, to keep senders apart.

        Raises:
            FrameError: wrong length, CRC, robot, limb or range; nothing is changed.
        """
        if not _LEAST_BYTES <= len(buffer) <= _MOST_BYTES:
            raise FrameError(
                f"Frame has {len(buffer)} bytes: {_LEAST_BYTES}..{_MOST_BYTES}."
            )
        key = buffer[0]
        if key in _TELEMETRY_KEYS:
            return self._telemetry.read(buffer, reference_ns)
        if key in _HELLO_KEYS:
            return self._hello.read(buffer, reference_ns)
        sender = self._senders.find(peer)
        if key in _SETPOINT_KEYS:
            told = self._setpoints.read(buffer, reference_ns, sender)
            if not told.stranger:
                self._senders.keep(peer, sender)
            return told
        if profile_of(buffer) is Profile.COMPACT:
            beside = key >= COMPACT_GOAL_KEY and len(buffer) == COMPACT_BYTES
            reader = self._beside if beside else self._compact
            frame = reader.read(buffer, reference_ns, sender)
        else:
            raise FrameError(f"Frame key {key:#04x}: no such kind.")
        if isinstance(frame, SetpointFrame) and not frame.stranger:
            self._senders.keep(peer, sender)
        return frame
