"""The operators of a station: one thread that reads them all, stamps and publishes.

SDL belongs to the thread that opens it, so gamepads, their virtual stand-ins and
scripted operators share this one. A device that hangs inside SDL holds this thread,
and so its stamps: the control loop then finds its samples too old and is neutral.
"""

import math
import threading
from typing import Protocol

from app.clock import NS_PER_MS, MonotonicClock
from app.config.task_place import PlacedTask
from app.control.blocks import SessionBlocks
from app.errors import LimblinkError
from app.messages import Event, OperatorInput, Severity, Source, put_sample
from app.operator.gamepad import Gamepad
from app.operator.mapping import load_gamepad_mapping
from app.operator.pilot import VirtualPilot
from app.operator.scripted import ScriptedOperator, is_scripted, make_scripted
from app.operator.virtual_gamepad import VirtualGamepad
from app.session import Journal
from app.station.session import check_operator
from models.robot import RobotModel

__all__ = ["OperatorWorker"]

_PERIOD_NS = 4 * NS_PER_MS  # five samples within the 20 ms gate
_JOURNAL_EVERY_NS = 100 * NS_PER_MS  # an unchanged sample is kept this often


class EventSink(Protocol):
    """Takes events for screen and log."""

    def __call__(self, event: Event) -> None:
        """Take one."""


class OperatorWorker:
    """Polls every operator at 250 Hz and publishes what it finds."""

    def __init__(
        self,
        name: str,
        model: RobotModel,
        blocks: SessionBlocks,
        journal: Journal | None,
        say: EventSink,
        seed: int,
        virtual_pad: VirtualGamepad | None = None,
        task: PlacedTask | None = None,
    ) -> None:
        """Prepare; nothing is opened before `start`.

        Args:
            name: one of `app.station.session.OPERATOR_NAMES`.
            model: the robot.
            blocks: where samples go; state and health are read from own mappings.
            journal: the recording, None for none.
            say: where events go.
            seed: of a scripted operator.
            virtual_pad: a virtual gamepad that somebody else moves.
            task: what a scripted operator does.

        Raises:
            ConfigError: no such operator.
        """
        check_operator(name)
        self._blocks = blocks
        self._journal = journal
        self._say = say
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._pilot: VirtualPilot | None = None
        self._script: ScriptedOperator | None = None
        pads = [] if virtual_pad is None else [virtual_pad]
        if name == "virtual-gamepad" and virtual_pad is None:
            pads.append(VirtualGamepad())
            self._pilot = VirtualPilot(pads[0])
        if is_scripted(name):
            self._script = make_scripted(name, model, seed=seed, task=task)
        self._gamepad: Gamepad | None = None
        if name != "none":
            limbs = model.tip_speed_limit.size
            self._gamepad = Gamepad(load_gamepad_mapping(), limbs, virtual=pads)
        self._last: dict[Source, OperatorInput] = {}
        self._kept_ns: dict[Source, int] = {}

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._run, name="operators", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread; idempotent. A hung device driver is left behind."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=1.0)
            self._thread = None

    def _run(self) -> None:
        clock = MonotonicClock()
        due_ns = clock.now_ns()
        try:
            while not self._stop.is_set():
                self._step(clock.now_ns())
                due_ns = max(due_ns + _PERIOD_NS, clock.now_ns())
                clock.wait_until(due_ns)
        except Exception as error:  # noqa: BLE001  top frame: samples end, so the robot stops
            self._say(
                Event(
                    clock.now_ns(),
                    Severity.ALARM,
                    "operator",
                    f"Operator input ended: {type(error).__name__}: {error}. "
                    "Restart the station.",
                )
            )
        finally:
            if self._gamepad is not None:
                self._gamepad.close()

    def _step(self, now_ns: int) -> None:
        blocks = self._blocks
        blocks.state.refresh()
        blocks.health.refresh()
        if self._pilot is not None:
            self._pilot.step(now_ns, blocks.state.local, blocks.health.local)
            self._tell(self._pilot.events())
        if self._gamepad is not None:
            self._poll_gamepad(now_ns, self._gamepad)
        if self._script is not None:
            sample = self._script.step(now_ns, blocks.state.local, blocks.health.local)
            self._publish(Source.SCRIPT, sample)
            self._tell(self._script.events())
        self._keep_others(Source.CONSOLE)
        self._keep_others(Source.HAPTIC)

    def _poll_gamepad(self, now_ns: int, gamepad: Gamepad) -> None:
        try:
            self._publish(Source.GAMEPAD, gamepad.poll(now_ns))
        except LimblinkError as error:
            self._gamepad = None
            self._say(Event(now_ns, Severity.WARNING, "operator", str(error)))
            return
        state = self._blocks.state.local
        if int(state.active_source[0]) == Source.GAMEPAD:
            gamepad.show_force(now_ns, math.hypot(*state.force_hand.tolist()))
        else:
            gamepad.show_force(now_ns, 0.0)
            gamepad.select(int(state.selected_limb[0]))
        self._tell(gamepad.events())

    def _publish(self, source: Source, sample: OperatorInput) -> None:
        mailbox = self._blocks.inputs[source]
        put_sample(sample, mailbox.local_words)
        mailbox.publish()
        self._keep(source, sample)

    def _keep_others(self, source: Source) -> None:
        """Record the samples of those who write their mailbox themselves."""
        mailbox = self._blocks.inputs[source]
        if self._journal is None or not mailbox.count or not mailbox.refresh():
            return
        self._keep(source, mailbox.local.sample())

    def _keep(self, source: Source, sample: OperatorInput) -> None:
        if self._journal is None:
            return
        last = self._last.get(source)
        if last is not None and sample.stamp_ns == last.stamp_ns:
            return
        changed = last is None or sample != last._replace(stamp_ns=sample.stamp_ns)
        due_ns = self._kept_ns.get(source, 0) + _JOURNAL_EVERY_NS
        if changed or sample.stamp_ns >= due_ns:
            self._journal.write_input(source, sample)
            self._last[source] = sample
            self._kept_ns[source] = sample.stamp_ns

    def _tell(self, events: list[Event]) -> None:
        for event in events:
            self._say(event)
