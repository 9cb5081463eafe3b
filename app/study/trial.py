"""One drive in virtual time: the pure parts of a live session in one thread.

The very functions that the processes run (scripted operator, control tick, station's
side of the link, channel, robot core, recorder) are stepped on a virtual clock, many
times faster than real time, and give the same bytes for the same seed.
"""

import tempfile
from pathlib import Path
from typing import Protocol

from app.clock import NS_PER_S
from app.config.robot import build_robot_model
from app.control.blocks import SessionBlocks
from app.control.loop import PERIOD_NS, ControlLoop
from app.errors import ConfigError
from app.link.emulator import Emulator
from app.link.packets import Direction, PacketRecord
from app.link.station_side import StationSide
from app.messages import (
    Event,
    GoalWish,
    LinkWish,
    OperatorInput,
    Source,
    StationMode,
    TeleopWish,
    put_sample,
)
from app.operator.scripted import (
    SCRIPTED_NAMES,
    ScriptedOperator,
    is_scripted,
    make_scripted,
)
from app.robot.core import DEFAULT_ROBOT_ID, RobotCore
from app.session import Recorder
from app.station.exchange import Exchange
from app.station.summary import DriveSummary
from app.station.watch import StateWatch
from app.study.recorded_hands import RecordedHands
from app.study.trial_seeds import TrialSeeds
from app.study.trial_setup import TrialSetup
from app.study.trial_wishes import TrialWishes
from models.numerics import FloatArray, IntArray
from models.robot import RobotModel

__all__ = ["START_NS", "Trial", "Witness"]

START_NS = NS_PER_S
"""When a trial begins [ns]; 0 means "never" in the blocks."""
_OPERATOR_PERIOD = 4  # ticks, as live
_LINK_PERIOD = 2
_HEALTH_EVERY = 10
_HEALTH_PERIOD = 100
_STATUS_PERIOD = 100
_FLUSH_PERIOD = 1000

_ROUND = 20
_UNTIL_BUSY = [
    min(_OPERATOR_PERIOD - 1 - tick % _OPERATOR_PERIOD, -tick % _HEALTH_EVERY)
    for tick in range(_ROUND)
]
"""Ticks to the next that is the last before the operator's, or at which health is
told; of a tick in a round after which both periods begin again."""


def _tick_at(time_ns: int) -> int:
    """Return the first tick that is not before a time [ns]."""
    return (time_ns - START_NS - 1) // PERIOD_NS


class Witness(Protocol):
    """Whoever has to know what a packet changed, at the tick at which it did."""

    def arrived(self, now_ns: int, direction: Direction) -> None:
        """Look: a packet has just been taken in, at the robot or the station."""


class Trial:
    """A whole session, of ticks of one millisecond.

    Station and robot meet in what the channel carries and nowhere else, and their two
    loops ask nobody but themselves most of the time: there, each runs on by itself, up
    to the next tick at which something else has to be done.
    """

    def __init__(
        self,
        setup: TrialSetup,
        recorder: Recorder | None = None,
        hands: RecordedHands | None = None,
    ) -> None:
        """Make every part, at rest.

        Args:
            setup: what is tried.
            recorder: the recording, None for none.
            hands: recorded operators, in the place of a scripted one.

        Raises:
            ConfigError: robot, link, operator, scene, task or mismatch is wrong.
        """
        if hands is None and not is_scripted(setup.operator):
            raise ConfigError(
                f"--operator {setup.operator}: virtual time needs a scripted operator: "
                f"{', '.join(SCRIPTED_NAMES)}."
            )
        settings, scene = setup.load_link(), setup.load_scene()
        parameters = setup.load_robot(scene)
        model = build_robot_model(parameters)
        seed = setup.seed
        seeds = setup.seeds or TrialSeeds.same(seed)
        self._model = model
        self.task = setup.place_task(parameters)
        self._hands = hands
        self.operator: ScriptedOperator | None = None
        if hands is None:
            self.operator = make_scripted(
                setup.operator, model, seed=seeds.operator, task=self.task
            )
        self._side = StationSide(
            model, DEFAULT_ROBOT_ID, settings, deadband=setup.deadband
        )
        self.exchange = Exchange(self._side, model.tip_speed_limit.size, setup.goals)
        self._emulator = Emulator(settings, (seeds.link_down, seeds.link_up), START_NS)
        self.channel = self._emulator.channel
        self.core = RobotCore(
            parameters,
            settings,
            setup.mismatch,
            seeds.sensor,
            session=1 + seed,
            teleop=setup.teleop,
            scene=scene,
        )
        self._recorder = recorder
        self._watch = StateWatch([limb.name for limb in parameters.limbs])
        self.summary = DriveSummary(model, START_NS)
        self.packets: list[PacketRecord] | None = None
        """Where packets that have ended are kept, if anywhere."""
        self.witness: Witness | None = None
        """Is told what comes out of the channel."""
        self._folder = tempfile.TemporaryDirectory(prefix="limblink-trial-")
        self._blocks = SessionBlocks(Path(self._folder.name), model, create=True)
        self.wishes = TrialWishes(self._blocks, self._emulator, recorder)
        """What a person at the console may want."""
        self.loop = ControlLoop(model, self._blocks, setup.teleop)
        """The station's 1 kHz loop."""
        self.health = self._blocks.health.local
        self.state = self.loop.state
        self.statistics = self.loop.statistics
        self._asked = True  # a goal, since the last exchange; at first all is new
        self._remembered = 0  # rows of the log
        self._robot_ticks = 0  # that it has done
        # the first ticks at which they have something to do, by what is known now
        self._robot_tick = self._exchange_tick = 0
        self._busy_tick = 0  # the first of all
        self.ticks = 0

    @property
    def now_ns(self) -> int:
        """Time of the last tick [ns]."""
        return START_NS + self.ticks * PERIOD_NS

    @property
    def true_pose(self) -> FloatArray:
        """(S, 3) of the simulated robot [rad, rad, m]; a view."""
        return self.core.true_pose

    def states(self, first: int) -> list[IntArray]:
        """View the station's states after the ticks from number `first` on.

        Returns:
            Parts (n, words) that follow one another, as the control loop logs them;
            good for some thousand ticks.
        """
        return self._blocks.log.own(first)

    @property
    def model(self) -> RobotModel:
        """The robot as its file gives it."""
        return self._model

    def want(self, wish: TeleopWish | LinkWish | GoalWish) -> None:
        """Take up what a person at a console wants, made by `wishes`."""
        self._busy_tick = 0
        if isinstance(wish, GoalWish):
            self._asked, self._exchange_tick = True, 0
        self.wishes.put(self.now_ns, wish)

    def step(self) -> None:
        """Advance by one tick of 1 ms."""
        self.run(1)

    def run(self, ticks: int) -> None:
        """Advance by so many ticks of 1 ms."""
        tick, loop, one_by_one = self.ticks, self.loop, self._hands is not None
        end = tick + ticks
        while tick < end:
            now_ns = START_NS + (tick + 1) * PERIOD_NS
            if tick % _OPERATOR_PERIOD == 0 or one_by_one:
                self._operate(now_ns)
            many = 1
            if not one_by_one and tick < self._busy_tick:
                until_busy = _UNTIL_BUSY[tick % _ROUND]
                many += min(until_busy, self._busy_tick - tick, end - tick - 1)
            done, news = loop.run_on(now_ns, many)
            self.ticks = tick = tick + done - 1
            self._act(tick, now_ns + (done - 1) * PERIOD_NS, news=news)
            self.ticks = tick = tick + 1
        self._catch_up(end)

    def _act(self, tick: int, now_ns: int, *, news: bool) -> None:
        """Do all that is due at a tick beside the station's loop.

        The robot may be left behind; what happens to it is known only once it has
        caught up.
        """
        if news:
            self._tell(self._watch.step(self.state))
            self._exchange_tick = self._busy_tick = 0
        tenth = tick % _HEALTH_EVERY == 0
        if not tenth and tick < self._busy_tick:
            return
        if tick >= self._exchange_tick and tick % _LINK_PERIOD == 0:
            self._exchange(now_ns)
        if tenth:
            self._fill(now_ns)
        if now_ns >= self.channel.next_ns:
            self._carry(now_ns)
        if tick >= self._robot_tick:
            self._catch_up(tick + 1)
        if tenth:
            self._keep(now_ns)
        self._busy_tick = min(
            _tick_at(self.channel.next_ns), self._exchange_tick, self._robot_tick
        )

    def _catch_up(self, tick: int) -> None:
        """Do what the robot has not done yet of the ticks before one."""
        done = self._robot_ticks
        if done < tick:
            first_ns = START_NS + (done + 1) * PERIOD_NS
            for sent_ns, packet in self.core.run_on(first_ns, tick - done):
                self._submit(sent_ns, Direction.UP, packet)
            self._robot_ticks = tick
            self._robot_tick = _tick_at(self.core.quiet_until_ns)
            self._busy_tick = min(self._busy_tick, self._robot_tick)

    def _operate(self, now_ns: int) -> None:
        if self._hands is not None:
            armed = int(self.state.mode[0]) == StationMode.ARMED
            for source, sample in self._hands.step(now_ns, armed=armed):
                self._put(source, sample)
            self._tell(self._hands.events())
        elif self.operator is not None:
            sample = self.operator.step(now_ns, self.state, self.health)
            self._put(Source.SCRIPT, sample)
            self._tell(self.operator.events())

    def _put(self, source: Source, sample: OperatorInput) -> None:
        block = self._blocks.inputs[source]
        put_sample(sample, block.local_words)
        block.publish()
        if self._recorder is not None:
            self._recorder.write_input(source, sample)

    def _exchange(self, now_ns: int) -> None:
        if self._asked:
            self._asked = False
            self.exchange.desk.look(now_ns, self._blocks)
        packets = self.exchange.send(now_ns, self.state)
        for packet in packets:
            self.summary.add_sent(len(packet))
            if self._recorder is not None:
                self._recorder.write_frame(Direction.DOWN, now_ns, 0, packet)
            self._submit(now_ns, Direction.DOWN, packet)
        if packets and self._recorder is not None:
            self._recorder.write_setpoint(now_ns, self.state, packets)
        self._rest()

    def _rest(self) -> None:
        """Note when the station must next be asked what it sends."""
        tick = _tick_at(self.exchange.idle_until_ns)
        self._exchange_tick = tick + tick % _LINK_PERIOD

    def _fill(self, now_ns: int) -> None:
        self.exchange.fill(now_ns, self.health)
        self._blocks.health.publish()
        self._tell(self.exchange.events())

    def _submit(self, now_ns: int, direction: Direction, packet: bytes) -> None:
        self._emulator.submit(now_ns, direction, packet)
        self._busy_tick = 0

    def _carry(self, now_ns: int) -> None:
        for delivery in self.channel.advance(now_ns):
            if delivery.direction is Direction.DOWN:
                self._catch_up(self.ticks)
                self._robot_tick = self.ticks
                self.core.receive(now_ns, delivery.payload)
            else:
                self._hear(now_ns, delivery.payload)
                if self._exchange_tick:  # else it is asked for in any case
                    self._rest()
            if self.witness is not None:
                self.witness.arrived(now_ns, delivery.direction)
        self._take_records()

    def _take_records(self) -> None:
        for record in self.channel.take_records():
            self.summary.add_packet(record)
            if self.packets is not None:
                self.packets.append(record)
            if self._recorder is not None:
                self._recorder.write_packet(record)

    def _hear(self, now_ns: int, packet: bytes) -> None:
        self.summary.add_heard(len(packet))
        frame = self.exchange.receive(now_ns, packet)
        sent_ns = 0
        if frame is not None:
            sent_ns = frame.generated_ns - self._side.clock.offset_ns
            self.exchange.fill(now_ns, self.health)
            self._blocks.health.publish()
            self._remember()
            self.summary.add_telemetry(
                frame.limb,
                sent_ns,
                now_ns,
                float(self.health.command_age_ms[0]),
                self.health.confirmed_coordinates,
            )
        if self._recorder is not None:
            self._recorder.write_frame(Direction.UP, sent_ns, now_ns, packet)
            if frame is not None:
                self._recorder.write_telemetry(frame, sent_ns, now_ns)

    def _keep(self, now_ns: int) -> None:
        """Pass on what the emulator would report, and write the recording."""
        if self._recorder is not None or self.ticks % _HEALTH_PERIOD == 0:
            self._catch_up(self.ticks + 1)
            self._take_records()
        if self.ticks % _STATUS_PERIOD == 0:
            status = self._emulator.status(now_ns)
            self._side.status(now_ns, status)
            self._exchange_tick = 0
            if self._recorder is not None:
                self._recorder.write_link(now_ns, status)
        if self._recorder is not None:
            applied = self.core.applied.coordinates
            pose = self.core.true_pose
            self._recorder.write_robot(now_ns, self.core.state, applied, pose)
        if self.ticks % _HEALTH_PERIOD == 0:
            self.summary.add_health(self.health)
            self._tell(self.core.events())
            self._remember()
            if self._recorder is not None:
                self._recorder.write_health(self.health)
                self._recorder.write_clock(now_ns, self._side.clock)
                self._write_rows()
        if self._recorder is not None and self.ticks % _FLUSH_PERIOD == 0:
            self._recorder.flush()

    def _remember(self) -> None:
        """Hand what was wanted in each exchange since the last call to the summary."""
        log, first = self._blocks.log, self._remembered
        for rows in log.own(first):
            self.summary.add_states(rows, -first % _LINK_PERIOD, _LINK_PERIOD)
            first += len(rows)
        self._remembered = first

    def _write_rows(self) -> None:
        """Record the states since the last call."""
        if self._recorder is not None:
            rows, _ = self._blocks.log.read()
            if len(rows):
                self._recorder.write_states(rows, self._blocks.state_layout.describe())

    def _tell(self, events: list[Event]) -> None:
        for event in events:
            self.summary.add_event(event)
            if self._recorder is not None:
                self._recorder.write_event(event)

    def finish(self) -> None:
        """Write what is still to be written, and let go of the blocks."""
        self._remember()
        self._write_rows()
        self._folder.cleanup()
