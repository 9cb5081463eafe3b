"""Compiling every kernel once, with progress, before anything is driven.

Compiled kernels are kept in a cache folder named after their sources; stamps in it say
which of them are there, so that later starts skip this.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)

from app.errors import ProcessError
from models.cache import kernel_cache_folder

__all__ = ["is_warm", "warm_up", "warm_up_steps"]

_COMPLETE, _CONTACT = "complete", "contact"
_TOUCHED = "wall"  # a scene with something to touch: its kernels are those of any


class _Beside(NamedTuple):
    """What a process of its own compiles."""

    label: str
    function: str
    """Of this module."""
    stamp: str
    """File that says that it is there."""

    def start(self) -> "subprocess.Popen[bytes]":
        """Begin."""
        call = f"from app.station import warmup as w; w.{self.function}()"
        return subprocess.Popen([sys.executable, "-c", call])


_BESIDE = (
    _Beside("simulated robot", "warm_up_robot_side", _COMPLETE),
    _Beside("contact", "warm_up_contact", _CONTACT),
)


def _stamp(name: str) -> Path:
    return kernel_cache_folder() / name


def is_warm() -> bool:
    """Whether the cache holds all kernels but those of contact, of these sources."""
    return _stamp(_COMPLETE).exists()


def warm_up_steps() -> list[tuple[str, Callable[[], None]]]:
    """Name each stage of compilation, bottom up, with the call that does it."""
    import numpy as np

    from app.config.robot import build_robot_model, load_robot, robot_names
    from app.control.blocks import SessionBlocks
    from app.control.loop import ControlLoop
    from app.control.tick_data import allocate_tick_data
    from app.control.wanted import WantedHistory
    from models.inverse import inverse_step
    from models.limb import limb_tip_jacobian
    from models.rod import robot_step
    from models.winch import winch_lengths

    name = robot_names()[0]
    model = build_robot_model(load_robot(name))
    stop = model.limb_segment_start[1]
    tendons = model.limb_tendon_start[1]

    def kinematics() -> None:
        poses = np.zeros((stop + 1, 4, 4))
        jacobian = np.zeros((6, 3 * stop))
        limb_tip_jacobian(model, 0, np.zeros((stop, 3)), poses, jacobian)

    def inverse() -> None:
        data, _, workspace, _ = allocate_tick_data(model)
        inverse_step(
            model,
            0,
            np.array([0.0, 0.0, 0.5]),
            1e-3,
            data.commanded[:stop],
            workspace,
            data.commanded[:stop],
        )

    def winches() -> None:
        data, _, _, work = allocate_tick_data(model)
        winch_lengths(model, 0, data.commanded[:stop], work, data.winch[:tendons])

    def dynamics() -> None:
        data, robot, _, work = allocate_tick_data(model)
        robot_step(model, 1e-3, data.winch, robot, work)

    def loop() -> None:
        with tempfile.TemporaryDirectory() as folder:
            blocks = SessionBlocks(Path(folder), model, create=True)
            ControlLoop(model, blocks).warm_up()
            blocks.wish.publish()
            blocks.wish.refresh()
            WantedHistory(model).compare(0, 0, 0, model.rest_coordinates)

    return [
        ("kinematics", kinematics),
        ("rod dynamics", dynamics),
        ("winches", winches),
        ("inverse kinematics", inverse),
        ("control loop", loop),
    ]


def warm_up_robot_side() -> None:
    """Compile the robot's kernels (in a process of its own, beside the loop's)."""
    from app.config.link import link_names, load_link
    from app.config.robot import load_robot, robot_names
    from app.robot.core import warm_up_robot

    warm_up_robot(load_robot(robot_names()[0]), load_link(link_names()[0]))


def warm_up_contact() -> None:
    """Compile what a robot among obstacles needs more (in a process of its own)."""
    from app.config.link import link_names, load_link
    from app.config.robot import build_robot_model, load_robot, robot_names
    from app.config.scene import load_scene
    from app.robot.core import RobotCore
    from app.robot.plant import Plant, PlantMismatch
    from app.robot.surroundings import Surroundings

    robot, link = load_robot(robot_names()[0]), load_link(link_names()[0])
    model, scene = build_robot_model(robot), load_scene(_TOUCHED)
    # First what is its own alone: the robot's side is there by then, and is loaded.
    Plant(model, PlantMismatch(), 0, surroundings=Surroundings(scene, robot, model))
    RobotCore(robot, link, PlantMismatch(), 0, scene=scene)


def warm_up(console: Console, *, contact: bool) -> None:
    """Compile what is not in the cache yet, drawing a progress bar.

    The robot's kernels are compiled by other processes while this one compiles the
    control loop: the compiler itself holds the GIL.

    Args:
        console: where to draw; nothing is drawn when everything is there already.
        contact: with what a simulated robot among obstacles needs.

    Raises:
        ProcessError: another process failed.
    """
    begun = is_warm()
    wanted = [part for part in _BESIDE if not _stamp(part.stamp).exists()]
    wanted = [part for part in wanted if contact or part.stamp != _CONTACT]
    if not wanted:
        return
    what = "kernels of contact" if begun else "kernels"
    console.print(f"Compiling the {what} for this machine, once (a minute or two) …")
    with Progress(
        TextColumn("{task.description:20}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=False,
    ) as progress:
        task = progress.add_task("loading the compiler", total=None)
        steps = [] if begun else warm_up_steps()
        progress.update(task, total=len(steps) + len(wanted))

        def take(label: str, step: Callable[[], None]) -> None:
            progress.update(task, description=label)
            step()
            progress.advance(task)

        for label, step in steps[:-1]:
            take(label, step)
        # what all need is compiled now, so that no two write one cache entry
        children = [(part, part.start()) for part in wanted]
        for label, step in steps[-1:]:
            take(label, step)
        for part, child in children:
            take(part.label, partial(_await, child))
        progress.update(task, description="ready")
    _stamp(_COMPLETE).parent.mkdir(parents=True, exist_ok=True)
    for part in wanted:
        _stamp(part.stamp).touch()


def _await(child: "subprocess.Popen[bytes]") -> None:
    if child.wait() != 0:
        raise ProcessError(
            "Compiling the robot's kernels failed; see the lines above, and run "
            "`limblink doctor`."
        )
