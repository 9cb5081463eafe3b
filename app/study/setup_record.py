"""A trial's set-up inside its recording: all that is needed to drive it again.

Written are the facts in the metadata, the TOML files of robot, link, scene and task as
they were, and `trial.json`: what was resolved from them and from the command line. A
recording of a live session has `session.json` in its place.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from app.config.link import LinkParameters, load_link
from app.config.loader import find_asset
from app.config.robot import RobotParameters, load_robot
from app.config.scene import SceneParameters, load_scene
from app.config.teleop import TeleopParameters
from app.errors import ConfigError, LogError
from app.robot.plant import PlantMismatch
from app.station.service import versions
from app.study.trial_seeds import TrialSeeds
from app.study.trial_setup import TrialSetup
from app.teleop.goal_plan import plan_for
from app.teleop.goals import Goal, GoalKind, Vector

__all__ = ["SETUP_FILE", "read_setup", "record_setup"]

SETUP_FILE = "trial.json"
_SESSION_FILE = "session.json"
_RESOLVED_FILE = "resolved.json"
_TRACE = "trace.csv"
_KINDS = ("robots", "links", "scenes", "tasks", "goals")


def record_setup(setup: TrialSetup) -> tuple[dict[str, str], dict[str, bytes]]:
    """Return the metadata and the files of a trial's recording.

    Raises:
        ConfigError: robot, link, scene or task cannot be found.
    """
    robot, link, scene = setup.robot, setup.link, setup.scene or setup.task_scene
    files: dict[str, bytes] = {}
    assets = {
        "robots": robot,
        "links": link,
        "scenes": scene,
        "tasks": setup.task,
    }
    for folder, name in assets.items():
        if isinstance(name, str):
            asset = find_asset(folder, name)
            files[f"{folder}-{asset.name}"] = asset.read_bytes()
    resolved_robot = load_robot(robot) if isinstance(robot, str) else robot
    resolved_link = load_link(link) if isinstance(link, str) else link
    resolved_scene = load_scene(scene) if isinstance(scene, str) else scene
    if resolved_link.trace is not None:
        beside = find_asset("links", link).parent if isinstance(link, str) else Path()
        files[_TRACE] = (beside / resolved_link.trace.file).read_bytes()
    files[SETUP_FILE] = json.dumps(
        {
            "operator": setup.operator,
            "task": setup.task,
            "variant": setup.variant,
            "seed": setup.seed,
            "seeds": None if setup.seeds is None else setup.seeds._asdict(),
            "deadband": setup.deadband,
            "robot": resolved_robot.model_dump(mode="json"),
            "link": resolved_link.model_dump(mode="json"),
            "scene": resolved_scene.model_dump(mode="json"),
            "teleop": setup.teleop.model_dump(mode="json"),
            "mismatch": asdict(setup.mismatch),
            "goals": [asdict(goal) for goal in setup.goals],
        },
        indent=1,
    ).encode()
    facts = versions() | {
        "robot": robot if isinstance(robot, str) else robot.name,
        "link": resolved_link.name if not isinstance(link, str) else link,
        "operator": setup.operator,
        "scene": str(scene) if isinstance(scene, str) else "its own",
        "task": setup.task or "",
        "strategy": setup.teleop.strategy,
        "seed": str(setup.seed),
        "clock": "virtual",
    }
    return facts, files


def read_setup(files: Mapping[str, bytes], folder: Path) -> TrialSetup:
    """Read a set-up back, of a trial or of a live session.

    Args:
        files: the recording's attachments.
        folder: an empty folder that is given the TOML files; it must live as long as
            the set-up is used.

    Raises:
        LogError: the recording does not hold what is needed.
        ConfigError: what it holds is not valid for this version.
    """
    for name, data in files.items():
        kind, _, rest = Path(name).name.partition("-")
        place = folder / Path(name).name
        if kind in _KINDS and rest:
            place = folder / kind / rest
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(data)
    try:
        if SETUP_FILE in files:
            return _trial_setup(json.loads(files[SETUP_FILE]), files, folder)
        if _SESSION_FILE in files:
            return _session_setup(json.loads(files[_SESSION_FILE]), files, folder)
    except (KeyError, TypeError, ValueError, ValidationError) as error:
        raise LogError(
            f"The set-up in the recording cannot be read ({error}): it was written by "
            "another version of limblink."
        ) from error
    raise LogError(
        f"The recording holds neither {SETUP_FILE} nor {_SESSION_FILE}: it is no "
        "session of limblink, or from a version before 0.2 that kept less."
    )


def _asset(files: Mapping[str, bytes], folder: Path, kind: str) -> str | None:
    """Path of the file that a recording keeps of a kind, None where it has none."""
    found = sorted(name for name in files if name.startswith(f"{kind}-"))
    return str(folder / kind / found[0].partition("-")[2]) if found else None


def _trial_setup(
    told: dict[str, Any], files: Mapping[str, bytes], folder: Path
) -> TrialSetup:
    link, seeds = LinkParameters.model_validate(told["link"]), told["seeds"]
    if link.trace is not None:
        link = link.with_trace(folder / _TRACE, link.trace.at_end)
    return TrialSetup(
        robot=RobotParameters.model_validate(told["robot"]),
        link=link,
        operator=told["operator"],
        scene=SceneParameters.model_validate(told["scene"]),
        task=_asset(files, folder, "tasks"),
        teleop=TeleopParameters.model_validate(told["teleop"]),
        mismatch=PlantMismatch(**told["mismatch"]),
        seed=told["seed"],
        variant=told["variant"],
        seeds=None if seeds is None else TrialSeeds(**seeds),
        deadband=told["deadband"],
        goals=tuple(_goal(item) for item in told.get("goals", ())),
    )


def _goal(told: dict[str, Any]) -> Goal:
    points = tuple(_place(point) for point in told["points"])
    places = {name: _place(told[name]) for name in ("position", "normal")}
    return Goal(**(told | places | {"kind": GoalKind(told["kind"]), "points": points}))


def _place(told: list[float]) -> Vector:
    x, y, z = told
    return x, y, z


def _robot(files: Mapping[str, bytes], folder: Path) -> str:
    robot = _asset(files, folder, "robots")
    if robot is None:
        raise LogError("The recording does not hold its robot's file.")
    return robot


def _session_setup(
    told: dict[str, Any], files: Mapping[str, bytes], folder: Path
) -> TrialSetup:
    teleop = TeleopParameters(strategy=told["strategy"])
    resolved = json.loads(files.get(_RESOLVED_FILE, b"{}"))
    if resolved:
        teleop = TeleopParameters.model_validate(resolved["teleop"])
    robot = _robot(files, folder)
    # an older recording has only the plan's name, which finds a shipped one
    plan = _asset(files, folder, "goals") or told.get("goals")
    return TrialSetup(
        robot=robot,
        link=_session_link(resolved, files, folder),
        operator=told["operator"],
        scene=_asset(files, folder, "scenes"),
        task=_asset(files, folder, "tasks"),
        teleop=teleop,
        mismatch=PlantMismatch(**told["mismatch"]),
        seed=told["seed"],
        goals=plan_for(plan, load_robot(robot)),
    )


def _session_link(
    resolved: dict[str, Any], files: Mapping[str, bytes], folder: Path
) -> LinkParameters:
    if _TRACE in files:
        link = LinkParameters.model_validate(resolved["link"])
        at_end = "loop" if link.trace is None else link.trace.at_end
        return link.with_trace(folder / _TRACE, at_end)
    kept = _asset(files, folder, "links")
    if kept is None:
        raise ConfigError("The recording does not hold its link's file.")
    return load_link(kept)
