"""A session: one folder of shared memory that the processes of one drive meet in.

The folder holds the shared blocks (`app.control.blocks`), the ipc sockets, and
`session.json`, from which every process takes its settings, so that a restarted one
comes back with the same.
"""

import datetime
import json
import os
import secrets
import shutil
from pathlib import Path
from typing import Any

import platformdirs
from pydantic import Field, ValidationError

from app.config.loader import Parameters
from app.config.task import load_task
from app.config.teleop import BlendParameters, StrategyName
from app.errors import ConfigError, ProcessError
from app.operator.scripted import SCRIPTED_NAMES, is_scripted

__all__ = [
    "OPERATOR_NAMES",
    "Session",
    "check_operator",
    "create_session",
    "default_log_path",
    "find_session",
    "only_session",
    "running_sessions",
    "sessions_folder",
]

OPERATOR_NAMES = ("gamepad", "virtual-gamepad", "none", *SCRIPTED_NAMES)

_FILE = "session.json"


def sessions_folder() -> Path:
    """Folder that holds a folder for every running session of this user."""
    base = Path("/dev/shm") if Path("/dev/shm").is_dir() else Path("/tmp")
    return base / f"limblink-{os.getuid()}"


class Session(Parameters):
    """Settings that all processes of a session share."""

    folder: Path
    robot: str
    link: str
    operator: str = "gamepad"
    seed: int = 0
    log: Path | None = None
    station_address: str
    robot_address: str
    control_address: str
    keys: Path | None = None
    with_emulator: bool = True
    with_robot: bool = True
    mismatch: dict[str, float] = Field(default_factory=dict)
    rig: str | None = None
    """Rig of real actuators that the robot's process drives; None: it simulates."""
    virtual: bool = False
    """That rig's devices are the shipped virtual ones."""
    scene: str | None = None
    """What stands around the simulated robot; None: the task's scene, or open water."""
    task: str | None = None
    """What a scripted operator does."""
    strategy: StrategyName = "model-mediated"
    """How hand and tip are joined at first."""
    haptic: str | None = None
    """Haptic device in the operator's hand; None: none."""
    goals: str | None = None
    """Plan of goals for the robot, begun once it is armed; None: none."""
    blend: BlendParameters = BlendParameters()
    """Blended assistance at first."""
    video: bool = False
    """The console keeps pictures of itself beside the recording."""
    part_bytes: int = Field(default=4 << 30, ge=1 << 20)
    """After so many the recording goes on in another file [bytes]."""

    @property
    def scene_name(self) -> str:
        """What stands around the simulated robot, where the task has its say too.

        Raises:
            ConfigError: there is no such task.
        """
        named = None if self.task is None else load_task(self.task).scene
        return self.scene or named or "open-water"

    @property
    def name(self) -> str:
        """Short name, as `limblink --attach` takes it."""
        return self.folder.name

    def save(self) -> None:
        """Write session.json, whole or not at all."""
        text = self.model_dump_json(indent=1)
        part = self.folder / f".{_FILE}.part"
        part.write_text(text, encoding="utf-8")
        part.replace(self.folder / _FILE)

    def close(self) -> None:
        """Remove the folder; idempotent."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def write_summary(self, summary: dict[str, Any]) -> None:
        """Leave the station's closing summary for whoever started it."""
        part = self.folder / ".summary.part"
        part.write_text(json.dumps(summary), encoding="utf-8")
        part.replace(self.folder / "summary.json")

    def read_summary(self) -> dict[str, Any] | None:
        """Return the station's closing summary, None where it left none."""
        try:
            text = (self.folder / "summary.json").read_text(encoding="utf-8")
        except OSError:
            return None
        return dict(json.loads(text))


def check_operator(name: str) -> None:
    """Refuse an operator that does not exist.

    Raises:
        ConfigError: lists those that do.
    """
    if name not in OPERATOR_NAMES and not is_scripted(name):
        raise ConfigError(
            f"No operator {name!r}. Choose one of: {', '.join(OPERATOR_NAMES)}, or "
            "replay:FILE."
        )


def default_log_path(robot: str, link: str) -> Path:
    """Name a new recording below the user's data folder, by date, robot and link."""
    folder = Path(platformdirs.user_data_dir("limblink")) / "logs"
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%dT%H-%M-%S")
    return folder / f"{stamp}_{Path(robot).stem}_{Path(link).stem}.mcap"


def create_session(
    robot: str,
    link: str,
    *,
    name: str | None = None,
    robot_address: str | None = None,
    **settings: Any,
) -> Session:
    """Make the folder of a new session and save its settings.

    Args:
        robot: shipped name or path of the robot's TOML.
        link: shipped name or path of the link's TOML.
        name: folder name; a free one is drawn where it is None.
        robot_address: address of a robot that runs elsewhere; the station then
            connects to it, and neither a robot nor an emulator is started here.
        settings: further fields of `Session`.

    Raises:
        ConfigError: a session of that name is running.
    """
    remove_dead_sessions()
    folder = sessions_folder() / (name or secrets.token_hex(3))
    if (folder / _FILE).exists():
        raise ConfigError(
            f"A session called {folder.name} exists. Attach to it with "
            f"`limblink --attach {folder.name}`, or choose another name."
        )
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    remote = robot_address is not None
    session = Session(
        folder=folder,
        robot=robot,
        link=link,
        station_address=robot_address or f"ipc://{folder}/station.sock",
        robot_address=f"ipc://{folder}/robot.sock",
        control_address=f"ipc://{folder}/emulator.sock",
        with_emulator=not remote,
        with_robot=not remote,
        **settings,
    )
    session.save()
    (folder / "owner").write_text(str(os.getpid()), encoding="utf-8")
    return session


def find_session(name: str | Path) -> Session:
    """Load a running session by name or folder.

    Raises:
        ProcessError: there is none; the message lists those that run.
    """
    folder = Path(name) if "/" in str(name) else sessions_folder() / str(name)
    try:
        text = (folder / _FILE).read_text(encoding="utf-8")
        return Session.model_validate_json(text)
    except (OSError, ValidationError) as error:
        running = running_sessions()
        listed = ", ".join(running) if running else "none"
        raise ProcessError(
            f"No session called {name}. Running: {listed}. Start one with `limblink`."
        ) from error


def running_sessions() -> list[str]:
    """Names of this user's sessions, sorted."""
    return sorted(path.parent.name for path in sessions_folder().glob("*/" + _FILE))


def only_session(name: str | None) -> Session:
    """Load a running session by name, or the only one that runs.

    Raises:
        ProcessError: there is none of that name, none at all, or more than one.
    """
    if name is not None:
        return find_session(name)
    remove_dead_sessions()
    running = running_sessions()
    if len(running) == 1:
        return find_session(running[0])
    listed = ", ".join(running) or "none"
    raise ProcessError(
        f"Running sessions: {listed}. Start one with `limblink`, or name one with "
        "--session."
    )


def remove_dead_sessions() -> None:
    """Clear folders whose owner has ended, so that shared memory does not fill up."""
    for owner in sessions_folder().glob("*/owner"):
        try:
            process = int(owner.read_text(encoding="utf-8"))
            os.kill(process, 0)
        except (ValueError, ProcessLookupError):
            shutil.rmtree(owner.parent, ignore_errors=True)
        except OSError:
            continue
