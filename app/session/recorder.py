"""Writing a recording: MCAP files, whole up to the last flush whatever happens.

`Recorder` writes at once and is what a virtual-time study uses: equal calls give equal
bytes, because every time is an argument and nothing of the host is written but what the
caller passes as metadata. `app.session.thread.RecorderThread` offers the same `Journal`
to a live process, off its control path. `app.session.container` is the file itself.

| topic                   | message        | written                               |
|-------------------------|----------------|---------------------------------------|
| /state                  | State          | every tick, 1 kHz                     |
| /contact, /energy       | Contact, ...   | of the state, every tenth tick        |
| /input/gamepad, ...     | OperatorInput  | every new sample of a source          |
| /setpoint               | Setpoint       | what was commanded as frames went     |
| /frame/down, /frame/up  | Frame          | every frame, bytes as on the wire     |
| /packet                 | Packet         | every packet's fate in the channel    |
| /telemetry              | Telemetry      | every telemetry frame that came, read |
| /robot                  | Robot          | a simulated robot's truth, 100 Hz     |
| /link                   | Link           | settings: on change and each second   |
| /clock                  | Clock          | offset of the robot's clock, 10 Hz    |
| /health                 | Health         | as the link thread publishes          |
| /event, /mark           | Event, Mark    | when it happens                       |
| /statistics             | LoopStatistics | each second                           |
| /wish/teleop, ...       | TeleopWish, ...| when a person wants it otherwise      |
| /turn                   | LinkTurns      | what a live link thread did, 10 Hz    |
| /simulation             | Simulation     | every sample of a simulated case      |
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from app.clock import NS_PER_S
from app.config.link import link_names
from app.link.channel import Direction, PacketRecord
from app.link.emulator_protocol import EmulatorStatus
from app.link.offset import ClockOffset
from app.link.records import TelemetryFrame
from app.messages import (
    Event,
    GoalWish,
    LinkHealth,
    LinkTurn,
    LinkWish,
    Mark,
    OperatorInput,
    RobotState,
    Source,
    StationState,
    TeleopWish,
)
from app.session.container import PART_BYTES, LogFile
from app.session.journal import (
    METADATA_NAME,
    Journal,
    LayoutDescription,
    StatisticsLike,
)
from app.session.schema import SCHEMAS, StateEncoder, fill_message
from models.numerics import FloatArray, IntArray

__all__ = [
    "METADATA_NAME",
    "SETPOINT_FIELDS",
    "Journal",
    "LayoutDescription",
    "Recorder",
    "StatisticsLike",
]

_PARTS_OF_STATE = {"/contact": "Contact", "/energy": "Energy"}
_PARTS_EVERY = 10  # ticks
_LINK_EVERY_NS = NS_PER_S
SETPOINT_FIELDS = ("mode", "arm_epoch", "coordinates_commanded", "grip")
"""What `Recorder.write_setpoint` reads of the state."""
_REAL = {field.name for field in SCHEMAS["State"].fields if field.is_real}


class Recorder:
    """A recording being written, in the calling thread."""

    def __init__(
        self,
        path: Path,
        metadata: Mapping[str, str],
        attachments: Mapping[str, bytes] | None = None,
        *,
        overwrite: bool = False,
        part_bytes: int = PART_BYTES,
    ) -> None:
        """Open the file and write who, what and with which configuration.

        Args:
            path: file to make; its folder is made too.
            metadata: facts of the run: versions, seed, robot, link, start time.
            attachments: files by name, such as the resolved configuration as TOML.
            overwrite: replace an existing file.
            part_bytes: after so many the recording goes on in another file [bytes].

        Raises:
            LogError: the file exists or cannot be made.
        """
        self.path = path
        self._log = LogFile(
            path,
            metadata,
            attachments or {},
            overwrite=overwrite,
            part_bytes=part_bytes,
        )
        self._encoders: dict[str, StateEncoder] = {}
        self._link: tuple[int, tuple[object, ...]] = (-_LINK_EVERY_NS, ())

    def __enter__(self) -> "Recorder":
        """Return the recorder itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the file."""
        self.close()

    @property
    def closed(self) -> bool:
        """Whether the file is closed, by `close` or by a failure."""
        return self._log.closed

    @property
    def counts(self) -> dict[str, int]:
        """Messages written so far, by topic."""
        return self._log.counts

    @property
    def part_name(self) -> Path:
        """The file that is being written."""
        return self._log.part_name

    def write_states(self, rows: IntArray, description: LayoutDescription) -> None:
        """Keep (n, words) rows of `StationState`, laid out as described.

        Raises:
            LogError: the rows do not fit the schema, or the disk refused them.
        """
        if "/state" not in self._encoders:
            self._encoders = {"/state": StateEncoder(description)} | {
                topic: StateEncoder(description, name)
                for topic, name in _PARTS_OF_STATE.items()
            }
            self._places = {name: (first, shape) for name, first, shape in description}
        places = self._places
        ticks = rows[:, places["tick"][0]]
        for topic, encoder in self._encoders.items():
            chosen = rows if topic == "/state" else rows[ticks % _PARTS_EVERY == 0]
            times = chosen[:, encoder.time_word].tolist()
            extra = encoder.metadata()
            for time_ns, data in zip(times, encoder.encode(chosen), strict=True):
                self._log.add(topic, encoder.schema, extra, time_ns, data)
        self._log.digest.add_rows(rows)
        self._survey(rows)

    def _survey(self, rows: IntArray) -> None:
        """Add to the overview what begins another tenth of a second."""
        overview, places = self._log.overview, self._places
        for row, time_ns in zip(
            rows, rows[:, places["time_ns"][0]].tolist(), strict=True
        ):
            if not overview.wants_state(time_ns):
                continue
            words = np.ascontiguousarray(row)

            def value(name: str, words: IntArray = words) -> FloatArray | IntArray:
                first, shape = places[name]
                part = words[first : first + int(np.prod(shape))]
                return part.view(np.float64) if name in _REAL else part

            overview.add_state(time_ns, value)

    def write_input(self, source: Source, sample: OperatorInput) -> None:
        """Keep one sample of an operator."""
        message = SCHEMAS["OperatorInput"].message(
            source=int(source), **sample._asdict()
        )
        self._write(
            f"/input/{source.name.lower()}", "OperatorInput", sample.stamp_ns, message
        )

    def write_frame(
        self, direction: Direction, sent_ns: int, received_ns: int, payload: bytes
    ) -> None:
        """Keep one frame as it was on the wire.

        Args:
            direction: which way it goes.
            sent_ns: when it was sent [ns], 0 where not known.
            received_ns: when it was received [ns], 0 where not known.
            payload: the frame's bytes.
        """
        way = direction.name.lower()
        message = SCHEMAS["Frame"].message(
            sent_ns=sent_ns, received_ns=received_ns, direction=way, payload=payload
        )
        # Station time: a frame down is timed when it went, one up when it came.
        down = direction == Direction.DOWN
        first, second = (sent_ns, received_ns) if down else (received_ns, sent_ns)
        self._write(f"/frame/{way}", "Frame", first or second, message)

    def write_packet(self, packet: PacketRecord) -> None:
        """Keep the fate of one packet in the emulated channel."""
        message = SCHEMAS["Packet"].message(
            submitted_ns=packet.submitted_ns,
            started_ns=packet.started_ns,
            scheduled_due_ns=packet.scheduled_due_ns,
            delivered_ns=packet.delivered_ns,
            direction=packet.direction.name.lower(),
            key=packet.key,
            size_bytes=packet.size_bytes,
            fate=packet.fate.value,
        )
        self._write("/packet", "Packet", packet.submitted_ns, message)

    def write_setpoint(
        self, time_ns: int, state: StationState, packets: Sequence[bytes]
    ) -> None:
        """Keep what was commanded when these frames were sent.

        Args:
            time_ns: when they were sent [ns].
            state: what they were made from.
            packets: the frames; their first byte is the stream key.
        """
        message = SCHEMAS["Setpoint"].message(
            time_ns=time_ns,
            mode=int(state.mode[0]),
            arm_epoch=int(state.arm_epoch[0]),
            keys=[packet[0] for packet in packets],
            size_bytes=[len(packet) for packet in packets],
            coordinates_commanded=state.coordinates_commanded.reshape(-1).tolist(),
            grip=state.grip.tolist(),
        )
        self._write("/setpoint", "Setpoint", time_ns, message)

    def write_telemetry(
        self, frame: TelemetryFrame, generated_ns: int, received_ns: int
    ) -> None:
        """Keep what a telemetry frame says.

        Args:
            frame: as decoded; NaN stands for what it does not tell.
            generated_ns: when the robot made it, in station time [ns].
            received_ns: when it came [ns].
        """
        tension = [] if frame.tension is None else frame.tension.tolist()
        message = SCHEMAS["Telemetry"].message(
            generated_ns=generated_ns,
            received_ns=received_ns,
            sequence=frame.sequence,
            limb=frame.limb,
            arm_epoch=frame.epoch,
            state=int(frame.state),
            faults=frame.faults,
            echo_sequence=frame.echo_sequence,
            coordinates_measured=frame.coordinates.reshape(-1).tolist(),
            tension_measured=tension,
        )
        self._write("/telemetry", "Telemetry", received_ns, message)

    def write_robot(
        self,
        time_ns: int,
        state: RobotState,
        applied: FloatArray,
        true_pose: FloatArray,
    ) -> None:
        """Keep what a simulated robot really does: (S, 3) each [rad, rad, m]."""
        message = SCHEMAS["Robot"].message(
            time_ns=time_ns,
            state=int(state),
            coordinates_applied=applied.reshape(-1).tolist(),
            coordinates_true=true_pose.reshape(-1).tolist(),
        )
        self._write("/robot", "Robot", time_ns, message)

    def write_link(self, time_ns: int, status: EmulatorStatus) -> None:
        """Keep the link's settings where they changed, and once a second."""
        names = [
            field.name for field in SCHEMAS["Link"].fields if field.name != "time_ns"
        ]
        values = {name: getattr(status, name) for name in names}
        settings = tuple(value for name, value in values.items() if name != "queue_ms")
        if time_ns < self._link[0] + _LINK_EVERY_NS and settings == self._link[1]:
            return
        self._link = (time_ns, settings)
        message = SCHEMAS["Link"].message(time_ns=time_ns, **values)
        self._write("/link", "Link", time_ns, message)

    def write_clock(self, time_ns: int, clock: ClockOffset) -> None:
        """Keep what is known of the robot's clock; -1 for an unknown uncertainty."""
        uncertainty_ns = clock.uncertainty_ns
        message = SCHEMAS["Clock"].message(
            time_ns=time_ns,
            offset_ns=clock.offset_ns,
            uncertainty_ns=-1 if uncertainty_ns is None else uncertainty_ns,
            drift_ppm=clock.drift_ppm,
        )
        self._write("/clock", "Clock", time_ns, message)

    def write_health(self, health: LinkHealth) -> None:
        """Keep what is known of the link."""
        message = fill_message(SCHEMAS["Health"], health)
        self._write("/health", "Health", int(health.time_ns[0]), message)
        self._log.overview.add_health(health)

    def write_event(self, event: Event) -> None:
        """Keep something a person should know of."""
        message = SCHEMAS["Event"].message(
            time_ns=event.time_ns,
            severity=int(event.severity),
            source=event.source,
            text=event.text,
            field_names=list(event.fields),
            field_values=list(event.fields.values()),
        )
        self._write("/event", "Event", event.time_ns, message)
        self._log.overview.add_event(event)

    def write_mark(self, mark: Mark) -> None:
        """Keep a moment that a person has marked."""
        message = SCHEMAS["Mark"].message(**asdict(mark))
        self._write("/mark", "Mark", mark.time_ns, message)
        self._log.overview.add_mark(mark)

    def write_statistics(self, time_ns: int, statistics: StatisticsLike) -> None:
        """Keep the loop's statistics so far."""
        message = fill_message(SCHEMAS["LoopStatistics"], statistics)
        self._write("/statistics", "LoopStatistics", time_ns, message)

    def write_wish(self, time_ns: int, wish: TeleopWish | LinkWish | GoalWish) -> None:
        """Keep what a person wants otherwise from now on.

        Args:
            time_ns: when it was made out [ns].
            wish: the whole block.
        """
        name = type(wish).__name__
        message = fill_message(SCHEMAS[name], wish)
        extra = {}
        if isinstance(wish, LinkWish):
            presets = enumerate(link_names())
            extra["values.preset"] = ", ".join(f"{i} {known}" for i, known in presets)
        topic = f"/wish/{name.removesuffix('Wish').lower()}"
        data = message.SerializeToString(deterministic=True)
        self._log.add(topic, SCHEMAS[name], extra, time_ns, data)

    def write_turns(self, turns: Sequence[LinkTurn]) -> None:
        """Keep what a live link thread did, in that order."""
        if not turns:
            return
        message = SCHEMAS["LinkTurns"].message(
            time_ns=turns[-1].time_ns,
            kinds=[int(turn.kind) for turn in turns],
            times_ns=[turn.time_ns for turn in turns],
            states_ns=[turn.state_ns for turn in turns],
            made=[turn.made for turn in turns],
            went=[turn.went for turn in turns],
        )
        self._write("/turn", "LinkTurns", turns[-1].time_ns, message)

    def write_simulation(
        self, time_ns: int, fields: Mapping[str, FloatArray], names: Mapping[str, str]
    ) -> None:
        """Keep one moment of a simulated robot.

        Args:
            time_ns: since the start of the case [ns].
            fields: those of the schema "Simulation" but for the time, flattened in row
                order.
            names: what stands at which place of a field, by field, such as the limbs
                of `tips`; kept with the first sample.
        """
        schema = SCHEMAS["Simulation"]
        message = schema.message(
            time_ns=time_ns,
            **{name: values.reshape(-1).tolist() for name, values in fields.items()},
        )
        extra = {f"names.{field}": text for field, text in names.items()}
        data = message.SerializeToString(deterministic=True)
        self._log.add("/simulation", schema, extra, time_ns, data)

    def flush(self) -> None:
        """Hand everything written so far to the operating system as a whole chunk.

        Raises:
            LogError: the disk refused it; the recorder is then closed.
        """
        self._log.flush()

    def sync(self) -> None:
        """Wait until the disk keeps what was flushed; another thread may call this.

        Raises:
            LogError: the disk failed.
        """
        self._log.sync()

    def close(self) -> None:
        """Write the summary and close; a second call does nothing.

        Raises:
            LogError: the disk refused it; all that was flushed before can be read.
        """
        self._log.close()

    def _write(self, topic: str, name: str, time_ns: int, message: Any) -> None:
        schema = SCHEMAS[name]
        data = message.SerializeToString(deterministic=True)
        self._log.add(topic, schema, {}, time_ns, data)
