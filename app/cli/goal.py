"""`limblink goal`: goals for a session that runs, and plans of goals."""

from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from app.cli.options import application, err, out, three_numbers
from app.errors import ConfigError

if TYPE_CHECKING:
    from app.control.blocks import SessionBlocks
    from app.station.session import Session
    from models.robot import RobotModel

__all__ = ["goal"]

_KINDS = ("reach", "follow", "press", "grasp", "place", "stop")


@application.command()
def goal(
    kind: Annotated[
        str,
        typer.Argument(
            help="reach, follow, press, grasp, place or stop; status tells how the "
            "newest goal gets on, plans lists the shipped plans."
        ),
    ],
    limb: Annotated[
        str | None, typer.Option(help="Name of the limb; else the selected one.")
    ] = None,
    at: Annotated[
        str | None,
        typer.Option(help="Where the tip shall go: x,y,z in the hull's frame [mm]."),
    ] = None,
    by: Annotated[
        str | None,
        typer.Option(help="The same, from where the robot's tip is now: x,y,z [mm]."),
    ] = None,
    via: Annotated[
        list[str] | None,
        typer.Option(help="A point on the way, for follow; may be repeated [mm]."),
    ] = None,
    along: Annotated[
        str | None,
        typer.Option(help="Direction into the surface, for press: x,y,z."),
    ] = None,
    force: Annotated[
        float | None,
        typer.Option(help="To be held by a press; else the most that is borne [N]."),
    ] = None,
    speed: Annotated[float, typer.Option(help="Greatest, of the tip [mm/s].")] = 50.0,
    hold: Annotated[
        float, typer.Option(help="How long to press, or to let a gripper work [s].")
    ] = 1.0,
    tolerance: Annotated[float, typer.Option(help="How near is there [mm].")] = 5.0,
    session: Annotated[
        str | None,
        typer.Option(help="Name of the session; needed where several run."),
    ] = None,
    wait: Annotated[
        bool, typer.Option(help="Wait for the end; else only send it.")
    ] = True,
    timeout: Annotated[
        float, typer.Option(min=0.1, help="Wait so long at most [s].")
    ] = 120.0,
) -> None:
    """Ask the robot of a running session to reach a goal by itself.

    [bold]Examples[/]

      limblink goal reach --limb palpation --at 520,110,100

      limblink goal press --limb palpation --along 1,0,0 --force 2 --hold 3

      limblink goal stop --limb palpation     the operator drives it again

      limblink goal status

    Ends with status 1 where the goal fails or is not reached in time. The limb listens
    to goals alone until `stop`, or a new arming.
    """
    if kind == "plans":
        _list_plans()
        return
    if kind not in (*_KINDS, "status"):
        raise ConfigError(
            f"No goal {kind!r}: there are {', '.join(_KINDS)}; and status, plans."
        )
    from app.config.robot import build_robot_model, load_robot
    from app.control.blocks import SessionBlocks
    from app.station.goal_caller import GoalCaller, one_caller

    found = _session(session)
    robot = load_robot(found.robot)
    model = build_robot_model(robot)
    blocks = SessionBlocks(found.folder, model, create=False)
    caller = GoalCaller(blocks)
    if kind == "status":
        out.print(caller.look().words, highlight=False)
        return
    from app.config.goals import GoalParameters
    from app.config.loader import validated
    from app.teleop.goal_plan import make_goal
    from app.teleop.goals import GoalState

    names = [item.name for item in robot.limbs]
    if limb is None:
        blocks.state.refresh()
        limb = names[int(blocks.state.local.selected_limb[0])]
    place = None if at is None else three_numbers("--at", at)
    if by is not None:
        if at is not None:
            raise ConfigError("--at and --by both say where to: give one of them.")
        if limb in names:
            tip = _tip_mm(blocks, model, names.index(limb))
            step = three_numbers("--by", by)
            place = (tip[0] + step[0], tip[1] + step[1], tip[2] + step[2])
    wanted = make_goal(
        validated(
            GoalParameters,
            {
                "kind": kind,
                "limb": limb,
                "at_mm": place,
                "along": None if along is None else three_numbers("--along", along),
                "via_mm": tuple(three_numbers("--via", point) for point in via or ()),
                "speed_mm_s": speed,
                "force_n": force,
                "hold_s": hold,
                "tolerance_mm": tolerance,
            },
            "limblink goal",
        ),
        robot,
    )
    with one_caller(found.folder):
        number = caller.ask(wanted)
        if not wait:
            out.print(f"goal {number}: sent", highlight=False)
            return
        with err.status(f"goal {number}: sent") as shown:
            ended = caller.follow(
                number, timeout, lambda progress: shown.update(progress.words)
            )
    out.print(ended.words, highlight=False)
    if ended.state is not GoalState.DONE:
        raise typer.Exit(1)


def _tip_mm(blocks: "SessionBlocks", model: "RobotModel", limb: int) -> list[float]:
    """Where the robot has told a limb's tip to be, hull frame [mm].

    Raises:
        ProcessError: it has not told it yet.
    """
    from app.errors import ProcessError
    from models.tip import limb_tip

    blocks.health.refresh()
    health = blocks.health.local
    if not health.confirmed_generated_ns[limb]:
        raise ProcessError("--by: the robot has not told its pose yet. Wait for it.")
    tip = limb_tip(model, limb, health.confirmed_coordinates)
    return [1e3 * value for value in tip.tolist()]


def _session(name: str | None) -> "Session":
    """The session of a name, or the only one.

    Raises:
        ConfigError: none is named and several run.
        ProcessError: there is none.
    """
    from app.station.session import find_session, running_sessions

    if name is None:
        running = running_sessions()
        if len(running) > 1:
            raise ConfigError(
                f"Several sessions run: {', '.join(running)}. Name one with --session."
            )
        name = running[0] if running else "(any)"
    return find_session(name)


def _list_plans() -> None:
    from app.config.goals import goal_plan_names, load_goal_plan

    table = Table(title="Plans (limblink drive --goals NAME)")
    for head in ("name", "robot", "goals"):
        table.add_column(head)
    for name in goal_plan_names():
        plan = load_goal_plan(name)
        kinds = " ".join(f"{item.kind}/{item.limb}" for item in plan.goals)
        table.add_row(name, plan.robot, kinds)
    out.print(table)
