"""How late a live emulator hands packets on, beside the machine's own timer error.

The emulator runs as `limblink link` does; a second process asks for a wake-up every
few milliseconds at the same priority and notes how late each comes. Afterwards the
packets are sent again in virtual time, which must give the same records.
"""

import json
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from app.clock import NS_PER_MS, NS_PER_S, NS_PER_US, MonotonicClock
from app.config.link import load_link
from app.errors import ProcessError
from app.link.channel import Channel, ChannelSettings, Fate, PacketRecord
from app.link.emulator_protocol import EmulatorStatus, decode_status
from app.link.endpoint import Endpoint
from app.real_time import prefer_real_time

__all__ = ["LiveError", "measure_live", "probe_timer"]

_SEND_NS = 4 * NS_PER_MS
_PROBE_NS = 3 * NS_PER_MS
_PRIORITY = 60  # the emulator's
_START_NS = 20 * NS_PER_S
_SIZE = 25


@dataclass(frozen=True)
class LiveError:
    """What a live run showed.

    Attributes:
        late_us: p50 and p99 of handing a packet on after its scheduled time [us].
        timer_us: p50 and p99 of waking after the time asked for [us].
        packets: how many ended.
        delivered: how many of them were handed on.
        compared: how many of them have a record.
        same: their records are those of virtual time.
    """

    late_us: tuple[float, float]
    timer_us: tuple[float, float]
    packets: int
    delivered: int
    compared: int
    same: bool

    @property
    def beyond_us(self) -> float:
        """The emulator's p99 beyond the timer's [us]."""
        return self.late_us[1] - self.timer_us[1]


def probe_timer(seconds: float) -> tuple[float, float]:
    """Sleep to many times at the emulator's priority; return p50, p99 of lateness [us].

    Args:
        seconds: how long to go on [s].
    """
    late_ns: list[int] = []
    # In a thread: a process that ends at this priority holds the emulator up, 100 ms.
    thread = threading.Thread(target=_sleep, args=(seconds, late_ns))
    thread.start()
    thread.join()
    low, high = np.percentile(late_ns, (50, 99)) / NS_PER_US
    return float(low), float(high)


def _sleep(seconds: float, late_ns: list[int]) -> None:
    prefer_real_time(_PRIORITY)
    clock = MonotonicClock()
    due_ns = clock.now_ns()
    end_ns = due_ns + round(seconds * NS_PER_S)
    while due_ns < end_ns:
        due_ns = max(due_ns, clock.now_ns()) + _PROBE_NS
        late_ns.append(clock.wait_until(due_ns) - due_ns)


_PROBE = (
    "import json, sys; from app.study.channel_live import probe_timer; "
    "print(json.dumps(probe_timer(float(sys.argv[1]))))"
)


def measure_live(name: str, seconds: float, seed: int) -> LiveError:
    """Run an emulator for some time between two ends that send all the while.

    Args:
        name: a shipped link or a file.
        seconds: how long to send [s].
        seed: of the channel.

    Raises:
        ProcessError: the emulator did not come up or ended early.
    """
    with tempfile.TemporaryDirectory(prefix="limblink-live-") as folder:
        addresses = [f"ipc://{Path(folder, end)}" for end in ("s", "r", "c")]
        emulator = subprocess.Popen(
            [
                *(sys.executable, "-m", "app", "link", name, "--seed", str(seed)),
                *("--station", addresses[0], "--robot", addresses[1]),
                *("--control", addresses[2]),
            ],
            stdout=subprocess.DEVNULL,
        )
        probe = subprocess.Popen(
            [sys.executable, "-c", _PROBE, str(seconds)],
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            size = min(_SIZE, load_link(name).medium.mtu_bytes)
            told = _exchange(addresses, emulator, seconds, size)
            timer_us = json.loads(probe.communicate(timeout=60)[0])
        finally:
            for process in (emulator, probe):
                process.terminate()
                process.wait()
    records = sorted(
        (record for status in told for record in status.records),
        key=lambda record: record.submitted_ns,
    )
    return LiveError(
        late_us=told[-1].lateness_us,
        timer_us=(timer_us[0], timer_us[1]),
        packets=sum(told[-1].totals.values()),
        delivered=sum(record.fate is Fate.DELIVERED for record in records),
        compared=len(records),
        same=_virtual(name, seed, told[-1].start_ns, records),
    )


def _exchange(
    addresses: list[str],
    emulator: "subprocess.Popen[bytes]",
    seconds: float,
    size: int,
) -> list[EmulatorStatus]:
    clock, told, count = MonotonicClock(), list[EmulatorStatus](), 0
    with (
        Endpoint(addresses[0], "connect") as station,
        Endpoint(addresses[1], "connect") as robot,
        Endpoint(addresses[2], "connect") as control,
    ):
        begin_ns = next_ns = clock.now_ns()
        end_ns = begin_ns + _START_NS
        while next_ns < end_ns or _unfinished(told, count, next_ns - end_ns):
            for _, packet in control.receive():
                if not told:  # it is up: the time counts from here
                    end_ns = clock.now_ns() + round(seconds * NS_PER_S)
                told.append(decode_status(packet))
            if told and next_ns < end_ns:
                for end in (station, robot):
                    count += end.send(bytes([0x20 + count % 4]) * size)
            for end in (station, robot):
                end.receive()
            if emulator.poll() is not None:
                raise ProcessError("The emulator ended early; run `limblink link`.")
            next_ns += _SEND_NS
            clock.wait_until(next_ns)
    if not told:
        raise ProcessError(
            f"No emulator within {_START_NS / NS_PER_S:g} s; run `limblink link`."
        )
    return told


def _unfinished(told: list[EmulatorStatus], sent: int, since_ns: int) -> bool:
    """Whether packets are on their way, and there is time to wait for their end."""
    ended = sum(told[-1].totals.values()) if told else sent
    return ended < sent and since_ns < _START_NS


def _virtual(name: str, seed: int, start_ns: int, live: list[PacketRecord]) -> bool:
    channel = Channel(ChannelSettings.of(load_link(name)), seed, start_ns)
    for record in live:
        channel.submit(
            record.submitted_ns, record.direction, record.key, bytes(record.size_bytes)
        )
    channel.advance(live[-1].submitted_ns + 3600 * NS_PER_S)
    again = sorted(channel.take_records(), key=lambda record: record.submitted_ns)
    ended = {Fate.DELIVERED, Fate.LOST_BURST, Fate.LOST_RESIDUAL, Fate.SUPERSEDED}
    return all(record.fate in ended for record in live) and [
        record._replace(delivered_ns=0) for record in again
    ] == [record._replace(delivered_ns=0) for record in live]
