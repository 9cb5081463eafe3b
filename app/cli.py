"""The command line: one sub-command per job, errors as sentences.

Modules are imported inside the commands: `limblink --help` and the emulator must not
pay for Qt, PyBullet or the compiler.
"""

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from app.errors import ConfigError, LimblinkError

if TYPE_CHECKING:
    from app.station.session import Session

__all__ = ["application", "run"]

application = typer.Typer(
    name="limblink",
    help="Drive a soft-limbed underwater robot over a slow, late and lossy link.",
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
_out = Console()
_err = Console(stderr=True)

_Robot = Annotated[
    str, typer.Option(help="Robot: a shipped name (see `limblink robots`) or a TOML.")
]
_Link = Annotated[
    str, typer.Option(help="Link: a shipped name (see `limblink links`) or a TOML.")
]
_Seed = Annotated[int, typer.Option(help="Seed of channel, sensors and operators.")]
_Log = Annotated[
    Path | None,
    typer.Option(help="Recording (.mcap); by default in the user's data folder."),
]
_Keys = Annotated[
    Path | None,
    typer.Option(help="Folder of CURVE keys; needed for any address off this host."),
]

DEFAULT_ROBOT = "ursula"
DEFAULT_LINK = "optical-rov"


def run(arguments: list[str]) -> int:
    """Run one command.

    Returns:
        0 on success, 2 for an error that the user can mend, 1 for a fault of ours.
    """
    try:
        result = application(args=arguments, standalone_mode=False)
    except LimblinkError as error:
        _err.print(Text.assemble(("Error: ", "bold red"), str(error)))
        return 2
    except typer.Exit as leave:
        return leave.exit_code
    except typer.Abort:
        return 130
    except KeyboardInterrupt:
        return 130
    except Exception as error:  # noqa: BLE001  the top frame of the process
        return _usage_or_fault(error)
    return int(result) if isinstance(result, int) else 0


def _usage_or_fault(error: Exception) -> int:
    """Explain a wrong option; keep the traceback of a fault of ours in a file."""
    import traceback

    import platformdirs

    show = getattr(error, "show", None)
    if show is not None:  # click's usage errors print themselves
        show()
        return 2
    folder = Path(platformdirs.user_log_dir("limblink"))
    folder.mkdir(parents=True, exist_ok=True)
    report = folder / "fault.txt"
    report.write_text("".join(traceback.format_exception(error)), encoding="utf-8")
    _err.print(
        Text.assemble(
            ("Fault in limblink: ", "bold red"),
            f"{type(error).__name__}: {error}\n"
            f"Details are in {report}; please report them.",
        )
    )
    return 1


@application.callback(invoke_without_command=True)
def console(
    context: typer.Context,
    robot: _Robot = DEFAULT_ROBOT,
    link: _Link = DEFAULT_LINK,
    operator: Annotated[
        str,
        typer.Option(help="gamepad, or a scripted operator: line, circle; or none."),
    ] = "gamepad",
    seed: _Seed = 0,
    log: _Log = None,
    attach: Annotated[
        str | None,
        typer.Option(help="Open a window on a running session instead of a new one."),
    ] = None,
    watch: Annotated[
        bool, typer.Option("--watch", help="With --attach: look, do not control.")
    ] = False,
    robot_address: Annotated[
        str | None,
        typer.Option(help="Drive the robot process at this address, e.g. tcp://h:5601"),
    ] = None,
    keys: _Keys = None,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and leave.")
    ] = False,
) -> None:
    """Open the console and drive (the default, when no command is given).

    [bold]Examples[/]

      limblink                                   URSULA over an optical link, simulated

      limblink --link acoustic-hs                the same over a slow acoustic modem

      limblink --operator circle                 watch a scripted operator

      limblink --robot-address tcp://192.168.2.2:5601 --keys ~/.limblink-keys
    """
    if context.invoked_subcommand is not None:
        return
    if version:
        from importlib.metadata import version as version_of

        _out.print(f"limblink {version_of('limblink')}", highlight=False)
        return
    from app.station.session import default_log_path, find_session

    if attach is not None:
        session = find_session(attach)
        _open_console(session, None, watch=watch)
        return
    _start_console(
        robot,
        link,
        operator,
        seed,
        log or default_log_path(robot, link),
        robot_address,
        keys,
        {},
    )


def _start_console(
    robot: str,
    link: str,
    operator: str,
    seed: int,
    log: Path,
    robot_address: str | None,
    keys: Path | None,
    mismatch: dict[str, float],
) -> None:
    """Start the processes of a new session, show the console, end them all."""
    from app.config.loader import find_asset
    from app.station.children import preload
    from app.station.processes import Supervisor
    from app.station.session import create_session
    from app.station.warmup import warm_up

    find_asset("robots", robot)
    _check_link_and_operator(link, operator)
    _check_display()
    warm_up(_err)
    session = create_session(
        robot,
        link,
        operator=operator,
        seed=seed,
        log=log.absolute(),
        robot_address=robot_address,
        keys=keys,
        mismatch=mismatch,
    )
    supervisor = Supervisor(session)
    try:
        preload()
        supervisor.start(fork=True)
        _open_console(session, supervisor, watch=False)
    finally:
        supervisor.stop()
        session.close()


def _check_display() -> None:
    import os

    from app.errors import DeviceError

    if sys.platform == "linux" and not (
        os.environ.get("DISPLAY")
        or os.environ.get("WAYLAND_DISPLAY")
        or os.environ.get("QT_QPA_PLATFORM")
    ):
        raise DeviceError(
            "No display: neither DISPLAY nor WAYLAND_DISPLAY is set. Start from a "
            "desktop, use `ssh -X`, or drive without a window: "
            "`limblink drive --headless`."
        )


def _check_link_and_operator(link: str, operator: str) -> None:
    from app.config.link import load_link
    from app.station.session import check_operator

    load_link(link)
    check_operator(operator)


def _open_console(session: "Session", supervisor: Any, *, watch: bool) -> None:
    from app.console import run_console

    status = run_console(session, supervisor, watch=watch)
    if status:
        raise typer.Exit(status)


@application.command()
def drive(
    headless: Annotated[
        bool, typer.Option("--headless", help="No window; ends after --seconds.")
    ] = False,
    robot: _Robot = DEFAULT_ROBOT,
    link: _Link = DEFAULT_LINK,
    operator: Annotated[
        str, typer.Option(help="line, circle, gamepad or virtual-gamepad.")
    ] = "circle",
    seconds: Annotated[
        float, typer.Option(min=0.5, help="Length of the drive.")
    ] = 30.0,
    seed: _Seed = 0,
    log: _Log = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON summary on the last line.")
    ] = False,
    clock: Annotated[
        str,
        typer.Option(
            help="monotonic: the real processes. virtual: one process, simulated "
            "time, the same bytes for the same seed."
        ),
    ] = "monotonic",
    name: Annotated[
        str | None, typer.Option(help="Name of the session, for --attach.")
    ] = None,
    mismatch: Annotated[
        list[str] | None,
        typer.Option(help="Plant against model, e.g. stiffness=1.2; may be repeated."),
    ] = None,
) -> None:
    """Drive for a while with a scripted operator or a gamepad, and sum it up.

    [bold]Examples[/]

      limblink drive --headless --link acoustic-hs --operator circle --seconds 30 --json

      limblink drive --headless --clock virtual --seed 7 --log run.mcap
    """
    from app.station.children import make_mismatch, parse_mismatch
    from app.station.drive import drive_headless
    from app.station.session import default_log_path

    if clock not in ("monotonic", "virtual"):
        raise ConfigError(
            f"--clock {clock}: there is no such clock. Use monotonic or virtual."
        )
    path = log or default_log_path(robot, link)
    factors = parse_mismatch(mismatch or [])
    make_mismatch(factors)
    _check_link_and_operator(link, operator)
    if not headless:
        if clock == "virtual":
            raise ConfigError("--clock virtual has no window: add --headless.")
        _start_console(robot, link, operator, seed, path, None, None, factors)
        return
    from app.station.warmup import warm_up

    warm_up(_err)
    if clock == "virtual":
        from app.study.trial import run_trial

        summary = run_trial(robot, link, operator, seconds, seed, path, factors)
    else:
        summary = drive_headless(
            _err,
            robot=robot,
            link=link,
            operator=operator,
            seconds=seconds,
            seed=seed,
            log=path,
            name=name,
            mismatch=factors,
        )
    if as_json:
        print(json.dumps(summary), file=sys.stdout, flush=True)  # noqa: T201
    else:
        _print_summary(summary)


def _print_summary(summary: dict[str, Any]) -> None:
    table = Table(title="Drive", show_header=False)
    for key, value in summary.items():
        if key != "events":
            table.add_row(key, json.dumps(value))
    _out.print(table)
    for event in summary.get("events", []):
        _out.print(
            f"{event['time_s']:8.2f} s  {event['severity']:8} {event['source']}: "
            f"{event['text']}",
            highlight=False,
        )


@application.command()
def robot(
    robot_name: Annotated[str, typer.Option("--robot", help="Robot.")] = DEFAULT_ROBOT,
    bind: Annotated[
        str | None,
        typer.Option(help="Address to wait on, e.g. tcp://0.0.0.0:5601."),
    ] = None,
    connect: Annotated[
        str | None, typer.Option(help="Address of an emulator or station to call.")
    ] = None,
    link: _Link = DEFAULT_LINK,
    seed: _Seed = 0,
    keys: _Keys = None,
    mismatch: Annotated[
        list[str] | None,
        typer.Option(help="Plant against model, e.g. stiffness=1.2; may be repeated."),
    ] = None,
) -> None:
    """Run the robot's side: bridge, safety and the simulated robot.

    [bold]Examples[/]

      limblink robot --bind tcp://127.0.0.1:5601

      limblink robot --bind tcp://0.0.0.0:5601 --keys ~/.limblink-keys
    """
    from app.config.link import load_link
    from app.config.robot import load_robot
    from app.robot.service import run_robot
    from app.station.children import make_mismatch, parse_mismatch
    from app.station.stop import StopFlag

    if (bind is None) == (connect is None):
        raise ConfigError(
            "limblink robot needs exactly one of --bind ADDRESS (wait for a station) "
            "and --connect ADDRESS (call an emulator)."
        )
    stop = StopFlag()
    stop.install()
    run_robot(
        robot=load_robot(robot_name),
        link=load_link(link),
        address=bind or connect or "",
        role="bind" if bind else "connect",
        mismatch=make_mismatch(parse_mismatch(mismatch or [])),
        seed=seed,
        keys=keys,
        stop=stop,
    )


@application.command()
def link(
    preset: Annotated[str, typer.Argument(help="Link to emulate.")] = DEFAULT_LINK,
    station_side: Annotated[
        str, typer.Option("--station", help="Address the station calls.")
    ] = "tcp://127.0.0.1:5600",
    robot_side: Annotated[
        str, typer.Option("--robot", help="Address the robot calls.")
    ] = "tcp://127.0.0.1:5601",
    control: Annotated[
        str, typer.Option(help="Address for live settings.")
    ] = "tcp://127.0.0.1:5602",
    seed: _Seed = 0,
) -> None:
    """Run the link emulator between a station and a robot.

    [bold]Example[/]

      limblink link acoustic-hs --station tcp://127.0.0.1:5600 --robot tcp://127.0.0.1:5601
    """
    from app.config.link import load_link
    from app.link.emulator import run_emulator
    from app.station.stop import StopFlag

    stop = StopFlag()
    stop.install()
    run_emulator(station_side, robot_side, control, load_link(preset), seed, stop)


@application.command()
def robots(
    check: Annotated[
        Path | None, typer.Option(help="Validate a robot's TOML of your own.")
    ] = None,
) -> None:
    """List the robots that are shipped, or check a file of your own."""
    from app.config.robot import load_robot, robot_names

    names = [str(check)] if check else robot_names()
    table = Table(title="Robots")
    for head in ("name", "title", "limbs", "segments [mm]", "source"):
        table.add_column(head)
    for name in names:
        parameters = load_robot(name)
        segments = "; ".join(
            f"{limb.name} {'+'.join(f'{x:g}' for x in limb.segment_length_mm)}"
            for limb in parameters.limbs
        )
        table.add_row(
            parameters.name,
            parameters.title,
            str(len(parameters.limbs)),
            segments,
            parameters.source,
        )
    _out.print(table)


@application.command()
def links() -> None:
    """List the link presets that are shipped, with their figures."""
    from app.config.link import link_names, load_link

    table = Table(title="Links")
    for head in (
        "name",
        "bit/s down",
        "bit/s up",
        "one-way [ms]",
        "jitter [ms]",
        "loss",
        "MTU [B]",
        "duplex",
        "title",
    ):
        table.add_column(head)
    for name in link_names():
        link = load_link(name)
        table.add_row(
            link.name,
            f"{link.down_bps:g}",
            f"{link.up_bps:g}",
            f"{link.delay_ms:g}",
            f"{link.jitter.deviation_ms:g}",
            f"{100.0 * link.expected_loss():.2g} %",
            str(link.medium.mtu_bytes),
            link.medium.duplex,
            link.title,
        )
    _out.print(table)


@application.command()
def keys(
    folder: Annotated[Path, typer.Argument(help="Folder to make the keys in.")],
) -> None:
    """Make the CURVE keys of a station and a robot that share a network.

    [bold]Example[/]

      limblink keys ~/.limblink-keys

    Copy station.key and robot.key (public) to both computers; station.key_secret stays
    with the station, robot.key_secret with the robot.
    """
    from app.link.endpoint import make_keys

    for name in ("station", "robot"):
        public = make_keys(folder.expanduser(), name)
        _out.print(f"{public} and {public.name}_secret", highlight=False)


@application.command()
def recover(
    log: Annotated[Path, typer.Argument(help="Recording that a crash cut short.")],
    out: Annotated[
        Path | None, typer.Option(help="File to write; by default beside the log.")
    ] = None,
) -> None:
    """Rebuild a recording that was cut short, so that any MCAP reader opens it."""
    from app.session import recover as rebuild

    _out.print(f"Wrote {rebuild(log, out)}", highlight=False)


@application.command()
def doctor() -> None:
    """Check this machine: graphics, real-time rights, controllers, serial ports."""
    from app.station.doctor import run_doctor

    raise typer.Exit(run_doctor(_out))
