"""Compiling every kernel once, with progress, before anything is driven.

Compiled kernels are kept in a cache folder named after their sources; a stamp in it
says that all of them are there, so that later starts skip this.
"""

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

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

_TOUCHED = "wall"  # a scene with something to touch: its kernels are those of any


def _stamp() -> Path:
    return kernel_cache_folder() / "complete"


def is_warm() -> bool:
    """Whether the cache holds every kernel of these sources."""
    return _stamp().exists()


def warm_up_steps() -> list[tuple[str, Callable[[], None]]]:
    """Name each stage of compilation, bottom up, with the call that does it."""
    import numpy as np

    from app.config.robot import build_robot_model, load_robot, robot_names
    from app.control.blocks import SessionBlocks
    from app.control.loop import ControlLoop
    from app.control.tick_data import allocate_tick_data
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
    from app.config.scene import load_scene
    from app.robot.core import warm_up_robot

    robot, link = load_robot(robot_names()[0]), load_link(link_names()[0])
    warm_up_robot(robot, link)
    warm_up_robot(robot, link, load_scene(_TOUCHED))


def warm_up(console: Console) -> None:
    """Compile what is not in the cache yet, drawing a progress bar.

    The robot's kernels are compiled by a second process while this one compiles the
    control loop: the compiler itself holds the GIL.

    Args:
        console: where to draw; nothing is drawn when everything is there already.

    Raises:
        ProcessError: the second process failed.
    """
    if is_warm():
        return
    console.print(
        "Compiling the kernels for this machine, once (two minutes or so) …",
        highlight=False,
    )
    with Progress(
        TextColumn("{task.description:20}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console,
        transient=False,
    ) as progress:
        task = progress.add_task("loading the compiler", total=None)
        steps = warm_up_steps()
        progress.update(task, total=len(steps) + 1)
        for label, step in steps[:-1]:
            progress.update(task, description=label)
            step()
            progress.advance(task)
        # what both need is compiled now, so that no two write one cache entry
        beside = subprocess.Popen(
            [
                sys.executable,
                "-c",
                "from app.station import warmup as w; w.warm_up_robot_side()",
            ]
        )
        label, step = steps[-1]
        progress.update(task, description=label)
        step()
        progress.advance(task)
        progress.update(task, description="simulated robot")
        if beside.wait() != 0:
            raise ProcessError(
                "Compiling the robot's kernels failed; see the lines above, and run "
                "`limblink doctor`."
            )
        progress.advance(task)
        progress.update(task, description="ready")
    _stamp().parent.mkdir(parents=True, exist_ok=True)
    _stamp().touch()
