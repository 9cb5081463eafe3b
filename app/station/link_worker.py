"""The station's link thread: newest state out, telemetry in, health and settings."""

import contextlib
import threading
from collections.abc import Sequence
from pathlib import Path

from app.clock import NS_PER_MS, NS_PER_S, MonotonicClock
from app.config.link import LinkParameters, link_names
from app.control.blocks import SessionBlocks
from app.errors import FrameError
from app.link.emulator_protocol import (
    EmulatorSettings,
    decode_status,
    encode_settings,
)
from app.link.endpoint import Endpoint, load_keys
from app.link.packets import Direction
from app.link.settings import LinkOverrides
from app.link.station_side import StationSide
from app.messages import (
    LINK_OVERRIDES,
    Event,
    LinkTurn,
    LinkWish,
    Severity,
    TurnKind,
)
from app.session import RecorderThread
from app.station.exchange import Exchange
from app.station.operators import EventSink
from app.station.session import Session
from app.station.summary import DriveSummary
from app.teleop.goals import Goal
from models.robot import RobotModel

__all__ = ["ROBOT_ID", "LinkWorker", "settings_wished"]

ROBOT_ID = 1
_POLL_MS = 4  # telemetry wakes the thread at once; a setpoint waits this long at most
_QUICK_POLL_MS = 1  # with a strategy whose halves talk tick by tick
_HEALTH_EVERY_NS = 10 * NS_PER_MS
_JOURNAL_HEALTH_EVERY_NS = 100 * NS_PER_MS
_ASK_AGAIN_NS = NS_PER_S  # settings are repeated until the emulator confirms them


def settings_wished(wish: LinkWish) -> EmulatorSettings:
    """Return a console's wish as the emulator is told it."""
    names = link_names()
    preset = int(wish.preset[0])
    return EmulatorSettings(
        revision=int(wish.revision[0]),
        preset=names[preset] if 0 <= preset < len(names) else "",
        overrides=LinkOverrides(
            **{name: float(getattr(wish, name)[0]) for name in LINK_OVERRIDES}
        ),
        cut=bool(wish.cut[0]),
        outage_s=float(wish.outage_s[0]),
    )


class LinkWorker:
    """Owns the sockets of the station; everything it decides is in `StationSide`."""

    def __init__(
        self,
        session: Session,
        model: RobotModel,
        link: LinkParameters,
        blocks: SessionBlocks,
        journal: RecorderThread | None,
        summary: DriveSummary,
        say: EventSink,
        plan: Sequence[Goal] = (),
    ) -> None:
        """Prepare; sockets are opened by `start`'s thread.

        Args:
            session: addresses and keys.
            model: the robot.
            link: the link at first.
            blocks: shared blocks, mapped for this thread alone.
            journal: the recording, None for none.
            summary: figures of the drive.
            say: where events go.
            plan: goals to be asked for once the robot is armed.
        """
        self._session = session
        self._blocks = blocks
        self._journal = journal
        self._summary = summary
        self._say = say
        self._side = StationSide(model, ROBOT_ID, link)
        self._exchange = Exchange(self._side, model.tip_speed_limit.size, plan)
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._revision = 0
        self._confirmed = 0
        self._asked_ns = 0
        self._health_due_ns = 0
        self._journal_due_ns = 0
        self._turns: list[LinkTurn] = []
        self._endpoint: Endpoint | None = None
        self._control: Endpoint | None = None

    def open(self) -> None:
        """Open the sockets.

        Raises:
            LinkError: an address is bad or in use, or keys are missing.
        """
        keys = None
        if self._session.keys is not None:
            folder = Path(self._session.keys)
            keys = load_keys(folder, "station", "robot")
        self._endpoint = Endpoint(self._session.station_address, "connect", keys)
        if self._session.with_emulator:
            self._control = Endpoint(self._session.control_address, "connect", keys)

    def start(self) -> None:
        """Start the thread; `open` must have been called."""
        self._thread = threading.Thread(target=self._run, name="link", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread and close the sockets; idempotent."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=2.0)
            self._thread = None
        for endpoint in (self._endpoint, self._control):
            if endpoint is not None:
                endpoint.close()

    def _run(self) -> None:
        clock = MonotonicClock()
        endpoint = self._endpoint
        if endpoint is None:
            return
        try:
            while not self._stop.is_set():
                poll_ms = _QUICK_POLL_MS if self._exchange.bilateral else _POLL_MS
                for received_ns, packet in endpoint.receive(poll_ms):
                    self._take(received_ns, packet)
                self._send(clock.now_ns(), endpoint)
                self._talk_to_emulator(clock.now_ns())
                self._tell_health(clock.now_ns())
        except Exception as error:  # noqa: BLE001  top frame: silence, so the robot holds
            self._say(
                Event(
                    clock.now_ns(),
                    Severity.ALARM,
                    "link",
                    f"The link thread ended: {type(error).__name__}: {error}. "
                    "Restart the station.",
                )
            )
        finally:
            self._keep_turns()

    def _note(self, turn: LinkTurn) -> None:
        """Remember what is done, for whoever drives the recording again."""
        if self._journal is not None:
            self._turns.append(turn)

    def _keep_turns(self) -> None:
        if self._journal is not None:
            self._journal.write_turns(self._turns)
            self._turns = []

    def _take(self, received_ns: int, packet: bytes) -> None:
        self._summary.add_heard(len(packet))
        self._note(LinkTurn(TurnKind.RECEIVE, received_ns))
        frame = self._exchange.receive(received_ns, packet)
        sent_ns = 0
        if frame is not None:
            sent_ns = frame.generated_ns - self._side.clock.offset_ns
            self._exchange.fill(received_ns, self._blocks.health.local)
            self._summary.add_telemetry(
                frame.limb,
                sent_ns,
                received_ns,
                float(self._blocks.health.local.command_age_ms[0]),
                self._blocks.health.local.confirmed_coordinates,
            )
            self._blocks.health.publish()
        if self._journal is not None:
            self._journal.write_frame(Direction.UP, sent_ns, received_ns, packet)
            if frame is not None:
                self._journal.write_telemetry(frame, sent_ns, received_ns)

    def _send(self, now_ns: int, endpoint: Endpoint) -> None:
        if not self._blocks.state.refresh():
            return
        state = self._blocks.state.local
        self._summary.add_state(state)
        for wish in self._exchange.desk.look(now_ns, self._blocks):
            if self._journal is not None:
                self._journal.write_wish(now_ns, wish)
        made = self._exchange.send(now_ns, state)
        sent = [packet for packet in made if endpoint.send(packet)]
        state_ns = int(state.time_ns[0])
        self._note(LinkTurn(TurnKind.SEND, now_ns, state_ns, len(made), len(sent)))
        for packet in sent:
            self._summary.add_sent(len(packet))
            if self._journal is not None:
                self._journal.write_frame(Direction.DOWN, now_ns, 0, packet)
        if sent and self._journal is not None:
            self._journal.write_setpoint(now_ns, state, sent)

    def _talk_to_emulator(self, now_ns: int) -> None:
        control = self._control
        if control is None:
            return
        for _, packet in control.receive():
            try:
                status = decode_status(packet)
            except FrameError as error:
                self._say(Event(now_ns, Severity.WARNING, "link", str(error)))
                continue
            self._confirmed = status.revision
            self._side.status(now_ns, status)
            self._note(LinkTurn(TurnKind.STATUS, now_ns))
            if self._journal is not None:
                self._journal.write_link(now_ns, status)
            for record in status.records:
                self._summary.add_packet(record)
                if self._journal is not None:
                    self._journal.write_packet(record)
        wish = self._blocks.wish
        if not wish.count or not wish.refresh():
            return
        revision = int(wish.local.revision[0])
        again = self._confirmed != revision and now_ns - self._asked_ns > _ASK_AGAIN_NS
        if revision == 0 or (revision == self._revision and not again):
            return
        self._revision, self._asked_ns = revision, now_ns
        settings = settings_wished(wish.local)
        control.send(encode_settings(settings))

    def _tell_health(self, now_ns: int) -> None:
        if now_ns < self._health_due_ns:
            return
        self._health_due_ns = now_ns + _HEALTH_EVERY_NS
        health = self._blocks.health
        self._note(LinkTurn(TurnKind.TELL, now_ns))
        self._exchange.fill(now_ns, health.local)
        health.publish()
        for event in self._exchange.events():
            self._say(event)
        if now_ns >= self._journal_due_ns:
            self._journal_due_ns = now_ns + _JOURNAL_HEALTH_EVERY_NS
            self._summary.add_health(health.local)
            self._keep_turns()
            if self._journal is not None:
                self._journal.write_clock(now_ns, self._side.clock)
                with contextlib.suppress(ValueError):
                    self._journal.write_health(health.local)
