"""The haptic thread: once a millisecond, what shall be felt out, where the hand is in.

    wait for the grid -> newest HapticForce -> render_force -> device.write
                      -> device.read -> HapticSample

It needs nothing of the control loop but the two mailboxes, and neither waits for the
other. A loop that stops renewing its force is felt as a fade to nothing within 0.12 s;
so is a device that no longer tells where the hand is. A device that is gone leaves one
absent sample, and no newer one: the control tick's age gate stops the motion within
20 ms even where that one is not seen. It is opened again twice a second until it is
back; force then grows from zero.
"""

import threading
from collections.abc import Callable

import numpy as np

from app.clock import NS_PER_MS, NS_PER_S, Clock, MonotonicClock
from app.errors import DeviceError
from app.messages import Event, Severity
from app.operator.haptic.base import HapticDevice, HapticReading
from app.operator.haptic.rendering import (
    NOT_FINITE,
    STALE,
    RenderModel,
    allocate_render_data,
    render_force,
)
from app.operator.haptic.signals import HapticForce, HapticSample, Inbox, Outbox
from app.operator.haptic.timing import HapticTiming, TimingRecord
from app.real_time import prefer_real_time

__all__ = ["HapticWorker"]

_PRIORITY = 70  # of SCHED_FIFO, where permitted: below the control loop
_RETRY_NS = 500 * NS_PER_MS
_CLOSING_STEPS = 200


class HapticWorker:
    """Owns a device; `start` and `stop` run it, `step` is one cycle on any clock."""

    def __init__(
        self,
        device: HapticDevice,
        outbox: Outbox[HapticSample],
        inbox: Inbox[HapticForce],
        say: Callable[[Event], None],
        model: RenderModel | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Prepare; nothing is opened.

        Args:
            device: not open.
            outbox: where samples go.
            inbox: where forces come from.
            say: takes events, in the haptic thread.
            model: bounds of the force, None for the default ones.
            clock: None for the host's.
        """
        self.device = device
        self._model = model or RenderModel()
        self._outbox = outbox
        self._inbox = inbox
        self._say = say
        self._clock = clock or MonotonicClock()
        self.render = allocate_render_data()
        """What rendering counts; read by anybody, written by the thread."""
        self._force = np.zeros(3)
        self._period_ns = round(self._model.period * NS_PER_S)
        self._timing = TimingRecord()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self._retry_ns = 0
        self._heard_ns = 0
        self._notice = ""
        self._silent = True
        self._told_gone = False
        self._wild = False

    def start(self) -> None:
        """Start the thread; it opens the device, now or when it comes.

        The kernel is loaded here, before, so that the thread is punctual at once.
        """
        self._warm_up()
        self._thread = threading.Thread(target=self._run, name="haptic", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Fade the force out, close the device and end the thread; idempotent."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(timeout=2.0)
            self._thread = None

    def timing(self) -> HapticTiming:
        """Tell how punctual it is, from any thread."""
        return self._timing.read()

    def step(self, now_ns: int) -> bool:
        """Do one cycle.

        Args:
            now_ns: present time [ns].

        Returns:
            Whether the device was written and read.
        """
        device = self.device
        if not device.is_open and not self._open(now_ns):
            return False
        self._inbox.refresh()
        blind = now_ns - self._heard_ns > self._model.stale_ns
        status = render_force(
            self._model,
            now_ns,
            blind,
            device.applied,
            self._inbox.local,
            self.render,
            self._force,
        )
        self._watch(now_ns, status)
        try:
            device.write(self._force)
            reading = device.read()
        except DeviceError as error:
            self._lost(now_ns, str(error))
            return False
        if reading is not None:
            self._heard_ns = now_ns
            self._publish(reading)
        if device.notice != self._notice:
            self._notice = device.notice
            if device.notice:
                self._tell(now_ns, Severity.WARNING, device.notice)
        return True

    def close(self) -> None:
        """Fade the force out and close; the thread does it by itself."""
        device = self.device
        if device.is_open:
            for _ in range(_CLOSING_STEPS):
                if not device.applied.any():
                    break
                now_ns = self._clock.wait_until(self._clock.now_ns() + self._period_ns)
                render_force(
                    self._model,
                    now_ns,
                    True,
                    device.applied,
                    self._inbox.local,
                    self.render,
                    self._force,
                )
                try:
                    device.write(self._force)
                    device.read()
                except DeviceError:
                    break
            device.close()
        self._leave()

    def _warm_up(self) -> None:
        render_force(
            self._model,
            0,
            True,
            self._force,
            self._inbox.local,
            allocate_render_data(),
            np.zeros(3),
        )

    def _run(self) -> None:
        prefer_real_time(_PRIORITY, on_any_core=True)
        clock = self._clock
        due_ns = clock.now_ns()
        try:
            while not self._stop.is_set():
                due_ns += self._period_ns
                start_ns = clock.wait_until(due_ns)
                skipped = (start_ns - due_ns) // self._period_ns
                went = self.step(start_ns)
                end_ns = clock.now_ns()
                if went:
                    self._timing.add(
                        start_ns, start_ns - due_ns, end_ns - start_ns, skipped
                    )
                    due_ns += skipped * self._period_ns
                else:  # it was opened, or not: a new grid
                    due_ns = max(due_ns, end_ns)
                    if not self.device.is_open:
                        self._stop.wait((self._retry_ns - end_ns) / NS_PER_S)
                        due_ns = clock.now_ns()
        except Exception as error:  # noqa: BLE001  top frame: no force, no samples
            self._tell(
                clock.now_ns(),
                Severity.ALARM,
                f"Haptic input ended: {type(error).__name__}: {error}. Restart the "
                "station.",
            )
        finally:
            self.close()

    def _open(self, now_ns: int) -> bool:
        if now_ns < self._retry_ns:
            return False
        try:
            self.device.open()
        except DeviceError as error:
            self._retry_ns = self._clock.now_ns() + _RETRY_NS
            if not self._told_gone:
                self._told_gone = True
                self._tell(now_ns, Severity.WARNING, str(error))
            return False
        self.render.gain[0] = 0.0
        self._heard_ns = now_ns
        self._outbox.local.opened[0] += 1
        self._told_gone = False
        self._notice = ""
        self._silent = True
        name = self.device.facts.name
        self._tell(now_ns, Severity.INFO, f"{name} is there.")
        return True

    def _lost(self, now_ns: int, why: str) -> None:
        self._retry_ns = now_ns + _RETRY_NS
        self._told_gone = True
        self._leave()
        self._tell(now_ns, Severity.ALARM, f"{why} Nothing moves until then.")

    def _leave(self) -> None:
        """Leave an absent sample, with the stamp of the last one that was read."""
        sample = self._outbox.local
        sample.present[0] = 0
        sample.buttons[0] = 0
        for array in (sample.velocity, sample.rate, sample.force):
            array[:] = 0.0
        self._outbox.publish()

    def _publish(self, reading: HapticReading) -> None:
        sample = self._outbox.local
        sample.stamp_ns[0] = reading.time_ns
        sample.present[0] = 1
        sample.rate_mode[0] = self.device.facts.rate_mode
        sample.buttons[0] = reading.buttons
        sample.position[:] = reading.position
        sample.velocity[:] = reading.velocity
        sample.rate[:] = reading.rate
        sample.orientation[:] = reading.orientation or (1.0, 0.0, 0.0, 0.0)
        sample.force[:] = self.device.applied
        self._outbox.publish()

    def _watch(self, now_ns: int, status: int) -> None:
        """Tell once that the force has stopped coming, or is no number."""
        stale = bool(status & STALE)
        if stale and not self._silent and self.device.facts.renders_force:
            self._tell(
                now_ns,
                Severity.WARNING,
                "No force comes from the control loop: the handle goes limp. Is the "
                "station's loop late or stopped?",
            )
        self._silent = stale
        wild = bool(status & NOT_FINITE)
        if wild and not self._wild:
            self._tell(
                now_ns,
                Severity.ALARM,
                "The force to be felt was not a number and was not rendered. Switch "
                "the strategy, and report this.",
            )
        self._wild = wild

    def _tell(self, now_ns: int, severity: Severity, text: str) -> None:
        self._say(Event(now_ns, severity, "haptic", text))
