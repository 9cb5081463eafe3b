"""Group `haptic` of scripts/bench: an exchange with the Inverse3, beside a bare echo.

1. A cycle of the haptic thread against the virtual Inverse3 in another process, over
   its WebSocket: writing a force, waiting and reading the hand; beside it the same
   thread sending as many bytes to a bare TCP echo: what the machine itself takes.
2. Lateness of the haptic thread beside a bare 1 kHz timer of the same priority.
3. What the thread computes of its own in a cycle: rendering, mapping, the messages.

Medians; the sides take turns, for the machine is shared.
"""

import os
import select
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from bench_record import Record, record
from rich.console import Console

from app.clock import NS_PER_MS, NS_PER_S, MonotonicClock
from app.messages import INPUT_SHAPES, InputBlock
from app.operator.haptic.inverse3 import INVERSE3_FACTS, Inverse3
from app.operator.haptic.inverse3_messages import decode_state, encode_force
from app.operator.haptic.mapping import allocate_mapping, map_hand
from app.operator.haptic.parameters import HapticParameters, mapping_model
from app.operator.haptic.rendering import (
    RenderModel,
    allocate_render_data,
    render_force,
)
from app.operator.haptic.signals import LocalBox, allocate_force, allocate_sample
from app.operator.haptic.timing import HapticTiming
from app.operator.haptic.virtual_inverse3 import VirtualInverse3
from app.operator.haptic.wall import GentleWall
from app.operator.haptic.worker import HapticWorker
from app.real_time import prefer_real_time

__all__ = ["bench_haptic"]

_ROUNDS, _ROUND_S = 3, 4.0
_SENT, _ANSWERED = 116, 500  # bytes of a force and of a state
_CALLS = 2000
_CLOCK = MonotonicClock()


@contextmanager
def _service() -> Iterator[str]:
    """A virtual Inverse3 in a process of its own: its address."""
    script = Path(__file__).with_name("haptic_session")
    seconds = str(_ROUNDS * (2.0 * _ROUND_S + 3.0) + 20.0)
    server = subprocess.Popen(
        [sys.executable, str(script), "--quiet", "--serve", seconds],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        if server.stdout is None:
            raise SystemExit("The virtual Inverse3 has no output.")
        yield server.stdout.readline().strip()
    finally:
        server.kill()
        server.wait()


def _cycle(url: str) -> HapticTiming:
    """A round of the haptic thread."""
    sample = LocalBox(allocate_sample())
    wall = GentleWall(INVERSE3_FACTS, sample)
    worker = HapticWorker(Inverse3(url), sample, wall, lambda _: None)
    worker.start()
    _CLOCK.wait_until(_CLOCK.now_ns() + round(_ROUND_S * NS_PER_S))
    timing = worker.timing()
    worker.stop()
    return timing


def _echo() -> tuple[float, float, float]:
    """Median of a bare exchange, and median and p99 of a timer's lateness [µs]."""
    listener = socket.create_server(("127.0.0.1", 0))
    child = os.fork()
    if child == 0:
        prefer_real_time(60, on_any_core=True)
        near, _ = listener.accept()
        near.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while near.recv(4096):
            near.sendall(bytes(_ANSWERED))
        os._exit(0)
    took: list[int] = []
    late: list[int] = []

    def run() -> None:
        prefer_real_time(70, on_any_core=True)
        with socket.create_connection(listener.getsockname()) as far:
            far.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            due_ns = _CLOCK.now_ns()
            for _ in range(round(1000 * _ROUND_S)):
                due_ns = max(due_ns + NS_PER_MS, _CLOCK.now_ns())
                start_ns = _CLOCK.wait_until(due_ns)
                late.append(start_ns - due_ns)
                far.sendall(bytes(_SENT))
                select.select([far], [], [], 1.0)
                far.recv(4096)
                took.append(_CLOCK.now_ns() - start_ns)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    listener.close()
    os.waitpid(child, 0)
    p50, p99 = np.percentile(late, (50, 99)) / 1e3
    return float(np.median(took) / 1e3), float(p50), float(p99)


def _each_us(call: Callable[[], object]) -> float:
    """Median of a call [µs]."""
    times = np.empty(_CALLS)
    for k in range(_CALLS):
        begin = time.perf_counter_ns()
        call()
        times[k] = time.perf_counter_ns() - begin
    return float(np.median(times)) / 1e3


def _own_us() -> dict[str, float]:
    """What a cycle computes [µs]."""
    force, sample = allocate_force(), allocate_sample()
    render, data, out = RenderModel(), allocate_render_data(), np.zeros(3)
    applied = np.zeros(3)
    model, mapping = mapping_model(HapticParameters()), allocate_mapping()
    command = InputBlock(
        **{name: np.zeros(shape, kind) for name, (kind, shape) in INPUT_SHAPES.items()}
    )
    target = np.zeros(3)
    state = VirtualInverse3().connect(NS_PER_S)
    return {
        "render": _each_us(
            lambda: render_force(render, 1, False, applied, force, data, out)
        ),
        "map": _each_us(
            lambda: map_hand(model, sample, 1, 0, target, mapping, command)
        ),
        "messages": _each_us(
            lambda: (encode_force("V3R7", 1, 2, 3, vector=True), decode_state(state))
        ),
    }


def bench_haptic(console: Console) -> list[Record]:
    """Measure; the sides take turns."""
    own = _own_us()
    ours: list[HapticTiming] = []
    bare: list[tuple[float, float, float]] = []
    with _service() as url:
        for number in range(_ROUNDS):
            console.print(f"haptic: round {number + 1} of {_ROUNDS}")
            ours.append(_cycle(url))
            bare.append(_echo())
    exchange = float(np.median([one.exchange_us[0] for one in ours]))
    slow = float(np.median([one.exchange_us[1] for one in ours]))
    echo = float(np.median([one[0] for one in bare]))
    late = float(np.median([one.late_us[0] for one in ours]))
    late99 = float(np.median([one.late_us[1] for one in ours]))
    rate = float(np.median([one.rate_hz for one in ours]))
    timer, timer99 = (float(np.median([one[k] for one in bare])) for k in (1, 2))
    note = ", ".join(f"{name} {value:.1f}" for name, value in own.items())
    return [
        record("haptic exchange", exchange, "µs", 10.0,
               f"p99 {slow:.0f}; both ends are Python", "TCP echo", exchange / echo),
        record("haptic lateness, median", late, "µs", 2.0,
               f"p99 {late99:.0f}; bare timer {timer:.0f}, {timer99:.0f}",
               "bare timer", late / max(timer, 1.0)),
        record("haptic period", 1e6 / max(rate, 1.0), "µs", 1050.0,
               f"{rate:.1f} forces a second"),
        record("haptic thread's own work", sum(own.values()), "µs", 60.0, note),
    ]  # fmt: skip
