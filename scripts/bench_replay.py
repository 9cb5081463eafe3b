"""Group `replay` of scripts/bench: an hour in the replay console.

A process of its own opens the recording as `limblink replay` does, in a window of
1366 x 768 that no screen shows, and goes to places drawn at random: so nothing that it
touched before helps. With `scripts/bench --recording FILE` that file is taken; else an
hour is made of 20 s in virtual time.

1. Opening: index, overview, timeline and first moment, libraries and kernels loaded.
2. Seek: what was known at a moment, p99 of 300.
3. Scrub: the same with the picture drawn, p99 of 60; and with every plot and panel,
   which the window else refreshes in turns over the next frames.
4. Memory of the process at the end, which holds Qt, scene and kernels too.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from bench_record import Record, record
from rich.console import Console

from app.clock import MonotonicClock

__all__ = ["bench_replay"]

_ROOT = Path(__file__).resolve().parent.parent
_SEEKS, _SCRUBS = 300, 60
_CLOCK = MonotonicClock()


def bench_replay(console: Console, recording: Path | None = None) -> list[Record]:
    """Measure on a recording, or on one that is made for it."""
    if recording is not None:
        return _judge(recording)
    with tempfile.TemporaryDirectory() as folder:
        short, long = Path(folder) / "short.mcap", Path(folder) / "hour.mcap"
        session = [sys.executable, str(_ROOT / "scripts" / "long_session")]
        console.print("replay: making an hour of 20 s in virtual time")
        make = [*session, "--out", str(short), "--minutes", "0.34"]
        subprocess.run(make, check=True, stdout=subprocess.DEVNULL)
        repeat = [*session, "--out", str(long), "--repeat", str(short)]
        subprocess.run(repeat, check=True, stdout=subprocess.DEVNULL)
        return _judge(long)


def _judge(recording: Path) -> list[Record]:
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    told = subprocess.run(
        [sys.executable, __file__, str(recording)],
        check=True,
        capture_output=True,
        text=True,
        env={**environment, "PYTHONPATH": str(_ROOT)},
    ).stdout.splitlines()[-1]
    seen: dict[str, Any] = json.loads(told)
    size = f"{seen['hours']:.2f} h, {seen['mb']:.0f} MB, {seen['chunks']} chunks"
    size += f"; processor {seen['open_cpu_s']:.2f} s"
    return [
        record("replay, opening", seen["open_s"], "s", 2.0, size),
        record(
            "replay, seek p99", seen["seek_ms"][1], "ms", 200.0,
            f"p50 {seen['seek_ms'][0]:.1f}, worst {seen['seek_ms'][2]:.1f} ms; "
            f"processor p99 {seen['seek_cpu_ms']:.1f} ms",
        ),
        record(
            "replay, scrub p99", seen["picture_ms"][1], "ms", 200.0,
            f"to the picture; p50 {seen['picture_ms'][0]:.1f}, worst "
            f"{seen['picture_ms'][2]:.1f} ms",
        ),
        record(
            "replay, all panels p99", seen["scrub_ms"][1], "ms", 400.0,
            f"picture, plots and panels in one; p50 {seen['scrub_ms'][0]:.1f}, worst "
            f"{seen['scrub_ms'][2]:.1f} ms; processor p99 "
            f"{seen['scrub_cpu_ms']:.1f} ms, without the renderer's threads",
        ),
        record(
            "replay, memory", seen["rss_mb"], "MB", 500.0,
            f"greatest so far; {seen['rss_before_mb']:.0f} MB before the file was "
            "opened",
        ),
    ]  # fmt: skip


def _memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def _percentiles(times_ns: list[int]) -> list[float]:
    return [float(p) for p in np.percentile(times_ns, [50, 99, 100]) / 1e6]


def _measure(path: Path) -> dict[str, Any]:
    """Open, seek and scrub in this process."""
    from app.config.robot import build_robot_model, load_robot
    from app.console.replay import ReplayWindow
    from app.console.replay_source import ReplaySource
    from app.console.run import make_application
    from models.tip import limb_tips

    application = make_application()
    model = build_robot_model(load_robot("ursula"))
    limb_tips(model, model.rest_coordinates)  # loads the kernel
    before_mb = _memory_mb()
    began_ns, cost = _CLOCK.now_ns(), time.thread_time_ns()
    source = ReplaySource(path)
    opened_ns = _CLOCK.now_ns() - began_ns
    effort_ns = time.thread_time_ns() - cost
    start_ns, end_ns = source.timeline.start_ns, source.timeline.end_ns
    random = np.random.default_rng(0)
    seeks, costs = [], []
    for time_ns in random.integers(start_ns, end_ns, _SEEKS).tolist():
        began_ns, cost = _CLOCK.now_ns(), time.thread_time_ns()
        source.seek(time_ns)
        seeks.append(_CLOCK.now_ns() - began_ns)
        costs.append(time.thread_time_ns() - cost)
    window = ReplayWindow(source)
    window.resize(1366, 768)
    window.show()
    window.build_scene()
    window.show_moment(start_ns)
    application.processEvents()
    pictures, scrubs, efforts = [], [], []
    for time_ns in random.integers(start_ns, end_ns, _SCRUBS).tolist():
        began_ns = _CLOCK.now_ns()
        window.transport.seek(time_ns)
        window.show_picture(time_ns)
        pictures.append(_CLOCK.now_ns() - began_ns)
    for time_ns in random.integers(start_ns, end_ns, _SCRUBS).tolist():
        began_ns, cost = _CLOCK.now_ns(), time.thread_time_ns()
        window.show_moment(time_ns)
        application.processEvents()
        scrubs.append(_CLOCK.now_ns() - began_ns)
        efforts.append(time.thread_time_ns() - cost)
    chunks = int(source.player.index.offset.size)
    window.close()
    return {
        "hours": (end_ns - start_ns) / 3.6e12,
        "mb": path.stat().st_size / 1e6,
        "chunks": chunks,
        "open_s": opened_ns / 1e9,
        "open_cpu_s": effort_ns / 1e9,
        "seek_ms": _percentiles(seeks),
        "seek_cpu_ms": _percentiles(costs)[1],
        "picture_ms": _percentiles(pictures),
        "scrub_ms": _percentiles(scrubs),
        "scrub_cpu_ms": _percentiles(efforts)[1],
        "rss_before_mb": before_mb,
        "rss_mb": _memory_mb(),
    }


if __name__ == "__main__":
    print(json.dumps(_measure(Path(sys.argv[1]))))
