"""Operators as a recording holds them, given to a trial again at the recorded times.

An open-loop operator: it does what was done, whatever it is shown. A live recording
leaves out samples that differ in nothing but their stamp, for 100 ms at most: such a
sample is given again with a new stamp, as the device did.

Under other settings an arming can be refused that was accepted, as telemetry comes
later. So a patient operator waits: while it was armed at this point of the recording
and is not now, its hand is kept back, neutral, and arming is pressed again.
"""

from collections.abc import Iterable
from dataclasses import replace

from app.clock import NS_PER_MS, NS_PER_S
from app.messages import Event, InputMode, OperatorInput, Severity, Source
from app.session.reader import LoggedMessage

__all__ = ["RecordedHands", "event_of", "sample_of"]

_PERIOD_NS = 4 * NS_PER_MS
_KEPT_NS = 104 * NS_PER_MS  # so long an unchanged sample may be missing
_PATIENCE_NS = 60 * NS_PER_S


def sample_of(message: LoggedMessage) -> tuple[Source, OperatorInput]:
    """Read a message of /input/... back."""
    told = message.content
    x, y, z = told.rate
    i, j, k = told.target
    u, v, w = told.velocity
    return Source(told.source), OperatorInput(
        stamp_ns=told.stamp_ns,
        present=told.present,
        deadman=told.deadman,
        clutch=told.clutch,
        mode=InputMode(told.mode),
        limb=told.limb,
        rate=(x, y, z),
        target=(i, j, k),
        velocity=(u, v, w),
        grip=told.grip,
        arm_count=told.arm_count,
        disarm_count=told.disarm_count,
        estop_count=told.estop_count,
        estop_reset_count=told.estop_reset_count,
    )


def event_of(message: LoggedMessage) -> Event:
    """Read a message of /event back."""
    told = message.content
    fields = zip(told.field_names, told.field_values, strict=True)
    return Event(
        told.time_ns, Severity(told.severity), told.source, told.text, dict(fields)
    )


class RecordedHands:
    """Every source's samples, and what the operators said."""

    def __init__(
        self,
        messages: Iterable[LoggedMessage],
        shift_ns: int = 0,
        *,
        whole: bool,
        patient: bool = False,
    ) -> None:
        """Begin before the first sample.

        Args:
            messages: of /input/... and /event, in the order of their times.
            shift_ns: added to recorded times [ns].
            whole: no sample is left out, as in a recording of virtual time.
            patient: wait to be armed where the recorded operator was, a minute in all.
        """
        self.waited_ns = 0
        """How long the hand has been kept back so far [ns]."""
        self._patient = patient
        self._was_armed = False
        self._presses = dict.fromkeys(Source, 0)  # beyond those recorded
        self._armer = Source.SCRIPT
        self._pressed_ns = 0
        self._stepped_ns: int | None = None
        self._messages = iter(messages)
        self._shift_ns = shift_ns
        self._whole = whole
        self._next: LoggedMessage | None = next(self._messages, None)
        self._last: dict[Source, tuple[int, OperatorInput]] = {}  # given at, sample
        self._kept: dict[Source, int] = {}  # when it was recorded
        self._events: list[Event] = []

    def step(self, now_ns: int, *, armed: bool) -> list[tuple[Source, OperatorInput]]:
        """Return the samples that are new by now, in the order they were recorded.

        Args:
            now_ns: present time [ns].
            armed: the station is armed.
        """
        waits = self._patient and self._was_armed and not armed
        if waits and self.waited_ns < _PATIENCE_NS:
            return self._wait(now_ns)
        self._stepped_ns = now_ns
        samples: list[tuple[Source, OperatorInput]] = []
        while self._next is not None:
            if self._next.time_ns + self._shift_ns + self.waited_ns > now_ns:
                break
            if self._next.topic == "/event":
                self._hear(event_of(self._next))
            else:
                samples.append(self._take(now_ns, self._next))
            self._next = next(self._messages, None)
        if not self._whole:
            samples += self._again(now_ns)
        return samples

    def _take(
        self, now_ns: int, message: LoggedMessage
    ) -> tuple[Source, OperatorInput]:
        source, sample = sample_of(message)
        before = self._last.get(source)
        if before is not None:
            presses = before[1].arm_count - self._presses[source]
            if sample.arm_count > presses:
                self._armer = source
        stamp_ns = sample.stamp_ns + self._shift_ns + self.waited_ns
        sample = sample._replace(
            stamp_ns=stamp_ns,
            arm_count=sample.arm_count + self._presses[source],
        )
        self._last[source] = (now_ns, sample)
        self._kept[source] = stamp_ns
        return source, sample

    def _wait(self, now_ns: int) -> list[tuple[Source, OperatorInput]]:
        """Hold still, press arm once a second, and let the recording stand."""
        self.waited_ns += now_ns - (self._stepped_ns or now_ns)
        self._stepped_ns = now_ns
        press = now_ns - self._pressed_ns >= NS_PER_S
        samples = []
        for source, (given_ns, sample) in self._last.items():
            if now_ns - given_ns < _PERIOD_NS:
                continue
            if press and source is self._armer:
                self._pressed_ns = now_ns
                self._presses[source] += 1
                sample = sample._replace(arm_count=sample.arm_count + 1)
            held = sample._replace(
                stamp_ns=now_ns, deadman=False, mode=InputMode.NEUTRAL
            )
            samples.append((source, held))
            self._last[source] = (now_ns, held)
            self._kept[source] = now_ns
        return samples

    def _again(self, now_ns: int) -> list[tuple[Source, OperatorInput]]:
        """Samples that the recording left out because nothing changed."""
        samples = []
        for source, (given_ns, sample) in self._last.items():
            known = now_ns - self._kept[source] <= _KEPT_NS
            if known and now_ns - given_ns >= _PERIOD_NS:
                again = sample._replace(stamp_ns=now_ns)
                samples.append((source, again))
                self._last[source] = (now_ns, again)
        return samples

    def _hear(self, event: Event) -> None:
        if event.source == "operator":
            time_ns = event.time_ns + self._shift_ns + self.waited_ns
            self._events.append(replace(event, time_ns=time_ns))
        elif event.source == "station":
            if event.text.startswith("Armed"):
                self._was_armed = True
            elif event.text.startswith(("Disarmed", "Emergency stop")):
                self._was_armed = False

    def events(self) -> list[Event]:
        """Return what the operators said since the last call."""
        events, self._events = self._events, []
        return events
