"""The 1 kHz loop: one compiled kernel, waiting included, in a thread of its own.

It never takes the GIL: sleeping, reading the mailboxes, the tick, publishing and
counting are one nogil kernel on the absolute grid of clock_nanosleep. A late start is
counted, a missed grid point is skipped and counted, never made up in a burst. Where
the C library has no clock_nanosleep the same body runs from a Python thread, and the
statistics say so.
"""

import contextlib
import ctypes
import os
import threading
import time
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from app.clock import NS_PER_S
from app.config.teleop import TeleopParameters
from app.control.arming import SOURCE_AGE_LIMIT_NS
from app.control.blocks import LoopStatistics, SessionBlocks
from app.control.coupling_data import CouplingData, allocate_coupling_data
from app.control.local_data import LocalData, allocate_local_data
from app.control.mailbox import fence, mailbox_look, mailbox_write, ring_push
from app.control.news import note_news, told_words
from app.control.tick import tick
from app.control.tick_data import TickData, allocate_tick_data
from app.errors import ModelError
from app.messages import InputBlock, LinkHealth, StationState, TeleopWish
from app.teleop.gains import Gains, gains_from
from models.bound import Bound, bind
from models.inverse import InverseData
from models.numerics import IntArray, kernel
from models.robot import RobotData, RobotModel
from models.rod import RodWork

__all__ = ["PERIOD_NS", "ControlLoop", "run_loop"]

PERIOD_NS = 1_000_000
_PRIORITY = 80  # SCHED_FIFO, below the kernel's own threads at 99
_NORMAL, _FIFO, _FALLBACK = 0, 1, 2
_CLOCK_MONOTONIC = 1
_TIMER_ABSTIME = 1

_pointer = types.CPointer(types.int64)
_clock_gettime = types.ExternalFunction(
    "clock_gettime", types.int32(types.int32, _pointer)
)
_clock_nanosleep = types.ExternalFunction(
    "clock_nanosleep", types.int32(types.int32, types.int32, _pointer, _pointer)
)


@intrinsic  # type: ignore[untyped-decorator]
def _null(_typing_context: Any) -> Any:
    def generate(context: Any, _builder: Any, _signature: Any, _arguments: Any) -> Any:
        return ir.Constant(context.get_value_type(_pointer), None)

    return _pointer(), generate


@kernel
def _now_ns(timespec_out: IntArray) -> int:
    _clock_gettime(_CLOCK_MONOTONIC, timespec_out.ctypes)
    return int(timespec_out[0] * 1_000_000_000 + timespec_out[1])


@kernel
def _sleep_until(due_ns: int, timespec_out: IntArray) -> None:
    timespec_out[0] = due_ns // 1_000_000_000
    timespec_out[1] = due_ns % 1_000_000_000
    while (
        _clock_nanosleep(_CLOCK_MONOTONIC, _TIMER_ABSTIME, timespec_out.ctypes, _null())
        != 0
    ):
        # a signal woke us: sleep on to the same absolute time, unless asked to stop
        timespec_out[0] = due_ns // 1_000_000_000
        timespec_out[1] = due_ns % 1_000_000_000


@kernel
def _count(duration_ns: int, histogram_out: IntArray) -> None:
    ratio = max(duration_ns, 1) / 128.0
    index = 0
    if ratio > 1.0:
        index = int(np.ceil(16.0 * np.log2(ratio)))
    histogram_out[min(index, histogram_out.size - 1)] += 1


class _LoopData(NamedTuple):
    """All that one loop works on; each `local` is read from or goes to its mailbox."""

    model: RobotModel
    timespec: IntArray
    age_limit_ns: IntArray
    gains: Gains
    input_words: tuple[IntArray, ...]
    local_inputs: tuple[IntArray, ...]
    samples: tuple[InputBlock, ...]
    wish_words: IntArray
    local_wish: IntArray
    wish: TeleopWish
    health_words: IntArray
    local_health: IntArray
    health: LinkHealth
    scratch: IntArray
    data: TickData
    coupling: CouplingData
    local: LocalData
    robot: RobotData
    inverse: InverseData
    work: RodWork
    state: StationState
    statistics: LoopStatistics
    local_state: IntArray
    state_words: IntArray
    log_words: IntArray
    log_rows: int
    statistics_words: IntArray
    local_statistics: IntArray
    last_start: IntArray
    seen: IntArray
    told: IntArray


@kernel
def run_loop(
    loop: _LoopData, now_ns: int, periods: int, control_out: IntArray
) -> tuple[int, bool]:
    """Run until control_out[0] is set; or some periods, at times that are given.

    Args:
        loop: bound; samples, wish and health view the memory that is read.
        now_ns: time of the first of the periods [ns].
        periods: how many at most; fewer where there is news. 0: until told to stop.
        control_out: (2,) stop, and newest grid point [ns].

    Returns:
        How many of the periods were run; whether the last has news.
    """
    due = control_out[1]
    if due == 0:
        due = _now_ns(loop.timespec)
    done, news = 0, False
    while control_out[0] == 0:
        due += PERIOD_NS
        if periods == 0:
            _sleep_until(due, loop.timespec)
            start = _now_ns(loop.timespec)
        else:
            start = now_ns + done * PERIOD_NS
        fence()  # others write control_out[0]: it must be read anew each time
        skipped = (start - due) // PERIOD_NS
        sources, scratch = len(loop.samples), loop.scratch
        for source in range(sources):
            seen = loop.seen[source : source + 1]
            words = loop.input_words[source]
            mailbox_look(words, seen, scratch, loop.local_inputs[source])
        seen = loop.seen[sources : sources + 1]
        mailbox_look(loop.wish_words, seen, scratch, loop.local_wish)
        mailbox_look(
            loop.health_words, loop.seen[sources + 1 :], scratch, loop.local_health
        )
        tick(
            loop.model,
            loop.gains,
            start,
            PERIOD_NS,
            loop.age_limit_ns,
            loop.samples,
            loop.wish,
            loop.health,
            loop.data,
            loop.coupling,
            loop.local,
            loop.robot,
            loop.inverse,
            loop.work,
            loop.state,
        )
        mailbox_write(loop.state_words, loop.local_state)
        ring_push(loop.log_words, loop.local_state, loop.log_rows)
        lateness = start - due
        loop.statistics.ticks[0] += 1
        loop.statistics.last_lateness_ns[0] = lateness
        loop.statistics.worst_lateness_ns[0] = max(
            loop.statistics.worst_lateness_ns[0], lateness
        )
        if lateness > 1_000_000:
            loop.statistics.late_1ms[0] += 1
        _count(lateness, loop.statistics.lateness)
        if loop.last_start[0] != 0:
            _count(start - loop.last_start[0], loop.statistics.period)
        loop.last_start[0] = start
        if skipped > 0:
            loop.statistics.overruns[0] += skipped
            due += skipped * PERIOD_NS
        if periods == 0:
            loop.statistics.last_cost_ns[0] = _now_ns(loop.timespec) - start
            _count(loop.statistics.last_cost_ns[0], loop.statistics.cost)
        if loop.statistics.ticks[0] % 20 == 0:
            mailbox_write(loop.statistics_words, loop.local_statistics)
        control_out[1] = due
        done += 1
        if periods > 0:
            news = note_news(loop.state, loop.told) == 1
            if news or done == periods:
                break
    return done, news


def _has_nanosleep() -> bool:
    library = ctypes.CDLL(None)
    return hasattr(library, "clock_nanosleep") and hasattr(library, "clock_gettime")


def _lock_memory() -> None:
    """Keep pages resident, where permitted; a page fault costs a late tick."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).mlockall(1)  # MCL_CURRENT


class ControlLoop:
    """Owns the loop's thread and everything the tick changes."""

    def __init__(
        self,
        model: RobotModel,
        blocks: SessionBlocks,
        teleop: TeleopParameters | None = None,
    ) -> None:
        """Allocate all state; nothing runs yet.

        Args:
            model: the robot.
            blocks: shared blocks of the session, created.
            teleop: the strategies' parameters, and the strategy to begin with; None:
                the defaults.
        """
        self._blocks = blocks
        self._thread: threading.Thread | None = None
        self._control = np.zeros(2, dtype=np.int64)
        teleop = teleop or TeleopParameters()
        data, robot, inverse, work = allocate_tick_data(model)
        coupling = allocate_coupling_data(model.tip_speed_limit.size, teleop)
        inputs, wish, health = blocks.inputs, blocks.teleop, blocks.health
        biggest = max(inputs[0].local_words.size, health.local_words.size)
        self._fallback = not _has_nanosleep()
        local_inputs = tuple(block.local_words.copy() for block in inputs)
        local_wish, local_health = wish.local_words.copy(), health.local_words.copy()
        state_words = np.zeros(blocks.state_layout.words, dtype=np.int64)
        state = blocks.state_layout.view(state_words)
        self.state = state
        self.uncorrected = robot.coordinates
        """(S, 3) pose of the local model without what telemetry corrects; a view."""
        self.state_words = state_words
        self.statistics = blocks.statistics.local
        self._bound = Bound(
            _LoopData(
                model=model,
                timespec=np.zeros(2, dtype=np.int64),
                age_limit_ns=SOURCE_AGE_LIMIT_NS,
                gains=gains_from(teleop),
                input_words=tuple(block.shared for block in inputs),
                local_inputs=local_inputs,
                samples=tuple(
                    block.layout.view(words)
                    for block, words in zip(inputs, local_inputs, strict=True)
                ),
                wish_words=wish.shared,
                local_wish=local_wish,
                wish=wish.layout.view(local_wish),
                health_words=health.shared,
                local_health=local_health,
                health=health.layout.view(local_health),
                scratch=np.zeros(biggest, dtype=np.int64),
                data=data,
                coupling=coupling,
                local=allocate_local_data(model),
                robot=robot,
                inverse=inverse,
                work=work,
                state=state,
                statistics=self.statistics,
                local_state=state_words,
                state_words=blocks.state.shared,
                log_words=blocks.log.shared,
                log_rows=blocks.log.rows,
                statistics_words=blocks.statistics.shared,
                local_statistics=blocks.statistics.local_words,
                last_start=np.zeros(1, dtype=np.int64),
                seen=np.full(len(inputs) + 2, -1, dtype=np.int64),
                told=np.full(told_words(model), -1, dtype=np.int64),
            )
        )
        self._run = bind(run_loop, self._bound, 0, 1, self._control)

    def warm_up(self) -> None:
        """Compile (or load) the kernel by running one period."""
        now_ns = time.monotonic_ns()
        self.step_at(now_ns, now_ns)
        self._control[1] = 0
        for histogram in (
            self.statistics.lateness,
            self.statistics.period,
            self.statistics.cost,
        ):
            histogram[:] = 0
        self.statistics.ticks[0] = 0
        self.statistics.overruns[0] = 0
        self.statistics.late_1ms[0] = 0
        self.statistics.worst_lateness_ns[0] = 0

    def start(self) -> None:
        """Start the thread; call `warm_up` before."""
        if self._thread is not None:
            raise ModelError("The control loop is already running.")
        self._control[:] = 0
        _lock_memory()
        target = self._python_thread if self._fallback else self._kernel_thread
        self._thread = threading.Thread(target=target, name="control", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End the thread; idempotent."""
        self._control[0] = 1
        if self._thread is not None:
            self._thread.join(timeout=2.0)
            self._thread = None

    @property
    def running(self) -> bool:
        """Whether the loop's thread is alive."""
        return self._thread is not None and self._thread.is_alive()

    def step_at(self, due_ns: int, now_ns: int) -> None:
        """Run one period in the calling thread, for virtual time and the fallback.

        Args:
            due_ns: its grid point [ns].
            now_ns: the present time [ns].
        """
        self._control[1] = due_ns - PERIOD_NS
        self._run(self._bound, now_ns, 1, self._control)

    def run_on(self, now_ns: int, periods: int) -> tuple[int, bool]:
        """Run some periods in virtual time, up to the first with news.

        Args:
            now_ns: time of the first [ns].
            periods: how many at most, at least 1.

        Returns:
            How many were run; whether the last has news (`app.control.news`).
        """
        self._control[1] = now_ns - PERIOD_NS
        return self._run(self._bound, now_ns, periods, self._control)

    def _kernel_thread(self) -> None:
        scheduler = _NORMAL
        with contextlib.suppress(OSError, AttributeError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(_PRIORITY))
            scheduler = _FIFO
        if scheduler == _NORMAL:
            with contextlib.suppress(OSError, AttributeError):
                ctypes.CDLL(None).prctl(29, 1, 0, 0, 0)  # PR_SET_TIMERSLACK: 1 ns
        self.statistics.scheduler[0] = scheduler
        self._run(self._bound, 0, 0, self._control)

    def _python_thread(self) -> None:
        self.statistics.scheduler[0] = _FALLBACK
        due_ns = time.monotonic_ns()
        while self._control[0] == 0:
            due_ns = max(due_ns + PERIOD_NS, time.monotonic_ns() - PERIOD_NS)
            left_ns = due_ns - time.monotonic_ns()
            if left_ns > 0:
                time.sleep(left_ns / NS_PER_S)  # noqa: TID251  the fallback's own wait
            self.step_at(due_ns, time.monotonic_ns())
