"""What a live recording says of itself: host, clocks, resolved configuration."""

import datetime
import json
import os
import platform
from pathlib import Path
from typing import Any

from app.clock import MonotonicClock
from app.config.link import load_link
from app.config.loader import find_asset
from app.config.robot import load_robot
from app.config.scene import load_scene
from app.config.task import load_task
from app.config.teleop import TeleopParameters
from app.station.session import Session

__all__ = ["host_facts", "resolved_files"]


def host_facts() -> dict[str, str]:
    """The computer, and its monotonic clock against UTC.

    Times in a recording are of the monotonic clock; `utc_at_monotonic_ns` says which
    UTC one of them was, so that recordings of several computers can be laid together.
    """
    now_ns = MonotonicClock().now_ns()
    utc = datetime.datetime.now(datetime.UTC)
    return {
        "host": platform.node(),
        "platform": platform.platform(),
        "processor": platform.processor() or platform.machine(),
        "cores": str(os.cpu_count() or 0),
        "memory_mb": str(
            os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
        ),
        "utc": utc.isoformat(timespec="microseconds"),
        "utc_at_monotonic_ns": str(now_ns),
        "clock": "monotonic",
    }


def resolved_files(session: Session, teleop: TeleopParameters) -> dict[str, bytes]:
    """The session's configuration as its files give it, and with every default.

    Raises:
        ConfigError: one of the files is wrong.
    """
    assets = {"robots": session.robot, "links": session.link}
    link = load_link(session.link)
    resolved: dict[str, Any] = {
        "robot": load_robot(session.robot).model_dump(mode="json"),
        "link": link.model_dump(mode="json"),
        "teleop": teleop.model_dump(mode="json"),
        "scene": load_scene(session.scene_name).model_dump(mode="json"),
    }
    assets["scenes"] = session.scene_name
    if session.task is not None:
        assets["tasks"] = session.task
        resolved["task"] = load_task(session.task).model_dump(mode="json")
    if session.rig is not None:
        assets["rigs"] = session.rig
    if session.goals is not None:
        assets["goals"] = session.goals
    files = {}
    if link.trace is not None:
        files["trace.csv"] = Path(link.trace.file).read_bytes()
    for folder, name in assets.items():
        asset = find_asset(folder, name)
        files[f"{folder}-{asset.name}"] = asset.read_bytes()
    files["resolved.json"] = json.dumps(resolved, indent=1, sort_keys=True).encode()
    files["session.json"] = session.model_dump_json(indent=1).encode()
    return files
