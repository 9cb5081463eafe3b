"""Haptic devices: find them, feel a gentle wall, serve a virtual one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.cli.options import application, err, out

if TYPE_CHECKING:
    from app.messages import Event
    from app.operator.haptic.parameters import HapticParameters
    from app.operator.haptic.signals import HapticSample
    from app.operator.haptic.worker import HapticWorker

__all__ = ["haptic"]

haptic = typer.Typer(
    name="haptic",
    help="Find and try devices that push back; serve a virtual one.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
application.add_typer(haptic)

Config = Annotated[
    Path | None,
    typer.Option(
        "--config", help="A haptic.toml; by default that of the config folder."
    ),
]
Hand = Annotated[
    str, typer.Option("--hand", help="Simulated hand: relaxed, light or firm.")
]
WayOfHand = Annotated[
    str,
    typer.Option("--path", help="What it does: still, circle, line or press."),
]
Seconds = Annotated[
    float | None, typer.Option(min=0.0, help="End by itself after so long.")
]


@haptic.command("find")
def find(
    config: Config = None,
    url: Annotated[str | None, typer.Option(help="Of Haply's Inverse Service.")] = None,
    library: Annotated[
        str | None, typer.Option(help="Path of Force Dimension's libdhd or SDK.")
    ] = None,
) -> None:
    """List the haptic devices that are found, and how to get at those that are not.

    [bold]Examples[/]

      limblink haptic find

      limblink haptic find --library ~/sdk-3.17.6 --url ws://localhost:10001
    """
    from rich.table import Table

    from app.operator.haptic.kinds import find_devices

    parameters = _parameters(config, None, url, library)
    table = Table("device", "usable", "found", "what to do")
    for one in find_devices(parameters):
        table.add_row(one.kind, "yes" if one.usable else "no", one.found, one.cure)
    out.print(table)


@haptic.command("test")
def try_out(
    device: Annotated[
        str | None,
        typer.Argument(help="inverse3, force-dimension or spacemouse."),
    ] = None,
    config: Config = None,
    url: Annotated[str | None, typer.Option(help="Of Haply's Inverse Service.")] = None,
    library: Annotated[
        str | None, typer.Option(help="Path of Force Dimension's libdhd or SDK.")
    ] = None,
    wall: Annotated[
        float, typer.Option(min=0.0, max=400.0, help="Stiffness of the wall [N/m].")
    ] = 150.0,
    seconds: Seconds = None,
    hand: Hand = "relaxed",
    path: WayOfHand = "press",
    *,
    virtual: Annotated[
        bool, typer.Option("--virtual", help="Use the shipped virtual device.")
    ] = False,
) -> None:
    """Read a device at 1 kHz and render a gentle wall, until Ctrl-C.

    [bold]Examples[/]

      limblink haptic test inverse3

      limblink haptic test inverse3 --virtual --hand firm --path press --seconds 10

      limblink haptic test force-dimension --library ~/sdk-3.17.6 --wall 80

    Hold the handle loosely at first. The wall stands across the way forward, 20 mm past
    the middle; no force is greater than force_limit_n. Ends with status 1 where the
    device never answered.
    """
    import contextlib

    from app.operator.haptic.kinds import build_device, virtual_device
    from app.operator.haptic.parameters import render_model
    from app.operator.haptic.signals import LocalBox, allocate_sample
    from app.operator.haptic.wall import GentleWall
    from app.operator.haptic.worker import HapticWorker

    parameters = _parameters(config, device, url, library)
    with contextlib.ExitStack() as stack:
        if virtual:
            one = stack.enter_context(virtual_device(parameters, hand, path))
        else:
            one = build_device(parameters)
        box = LocalBox(allocate_sample())
        felt = GentleWall(one.facts, box, wall)
        worker = HapticWorker(one, box, felt, _tell, render_model(parameters))
        worker.start()
        try:
            _watch(worker, box.local, seconds)
        finally:
            worker.stop()
        if box.local.opened[0] == 0:
            raise typer.Exit(1)
        for line in _summary(worker):
            out.print(line, highlight=False)


@haptic.command("serve")
def serve(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="0 takes any free one.")
    ] = 10001,
    hand: Hand = "relaxed",
    path: WayOfHand = "circle",
    seconds: Seconds = None,
) -> None:
    """Serve a virtual Inverse3, held by a simulated hand, until Ctrl-C.

    [bold]Examples[/]

      limblink haptic serve --hand firm --path press

      limblink haptic test inverse3        (in another terminal)

    It speaks the messages of Haply's Inverse Service, so that anything that uses an
    Inverse3 can be tried without one.
    """
    from app.clock import NS_PER_S, MonotonicClock
    from app.operator.haptic.inverse3 import INVERSE3_FACTS
    from app.operator.haptic.virtual_hand import VirtualHand
    from app.operator.haptic.virtual_inverse3 import InverseService, VirtualInverse3
    from app.station.stop import StopFlag

    held = VirtualHand(INVERSE3_FACTS, hand, path, buttons=1)
    stop = StopFlag()
    stop.install()
    clock = MonotonicClock()
    end_ns = None if seconds is None else clock.now_ns() + round(seconds * NS_PER_S)
    with InverseService(VirtualInverse3(held), port=port) as service:
        out.print(f"A virtual Inverse3 answers at {service.url}; Ctrl-C ends it.")
        while not stop() and (end_ns is None or clock.now_ns() < end_ns):
            clock.wait_until(clock.now_ns() + NS_PER_S // 10)
    out.print(
        f"{held.commands} forces; greatest change from one to the next "
        f"{held.greatest_step:.3f} N; greatest force left behind {held.cut:.2f} N",
        highlight=False,
    )


def _parameters(
    config: Path | None, device: str | None, url: str | None, library: str | None
) -> "HapticParameters":
    from app.errors import ConfigError
    from app.operator.haptic.parameters import FACTS, HapticParameters, load_haptic

    if device is not None and device not in FACTS:
        raise ConfigError(f"No device {device!r}; there are {', '.join(FACTS)}.")
    parameters = load_haptic(config)
    if device is not None and device != parameters.device:
        parameters = HapticParameters.model_validate({"device": device})
    changes = {"url": url, "library": library}
    return parameters.model_copy(
        update={key: value for key, value in changes.items() if value is not None}
    )


def _tell(event: "Event") -> None:
    err.print(event.text, highlight=False)


def _watch(
    worker: "HapticWorker", sample: "HapticSample", seconds: float | None
) -> None:
    """Show the device ten times a second until the time is over or Ctrl-C."""
    from rich.live import Live
    from rich.text import Text

    from app.clock import NS_PER_S, MonotonicClock
    from app.station.stop import StopFlag

    stop = StopFlag()
    stop.install()
    clock = MonotonicClock()
    end_ns = None if seconds is None else clock.now_ns() + round(seconds * NS_PER_S)
    with Live(console=out, refresh_per_second=10, transient=True) as live:
        while not stop() and (end_ns is None or clock.now_ns() < end_ns):
            clock.wait_until(clock.now_ns() + NS_PER_S // 10)
            live.update(Text(_row(worker, sample)))


def _row(worker: "HapticWorker", sample: "HapticSample") -> str:
    if sample.present[0] != 1:
        return "not there"
    values = sample.rate if sample.rate_mode[0] else 1e3 * sample.position
    unit = "of full" if sample.rate_mode[0] else "mm"
    place = " ".join(f"{value:8.2f}" for value in values)
    push = " ".join(f"{value:6.2f}" for value in sample.force)
    names = worker.device.facts.buttons
    down = [name for k, name in enumerate(names) if sample.buttons[0] >> k & 1]
    timing = worker.timing()
    return (
        f"{place} {unit}   force {push} N   buttons {' '.join(down) or '-'}   "
        f"{timing.rate_hz:6.0f} Hz, late p50 {timing.late_us[0]:.0f} p99 "
        f"{timing.late_us[1]:.0f} µs"
    )


def _summary(worker: "HapticWorker") -> list[str]:
    timing = worker.timing()
    render = worker.render
    late, took = timing.late_us, timing.exchange_us
    limited, slewed = int(render.counts[1]), int(render.counts[2])
    step = float(render.greatest_step[0])
    rows = [f"{timing.cycles} cycles at {timing.rate_hz:.1f} Hz"]
    rows.append(
        f"late p50 {late[0]:.0f}, p99 {late[1]:.0f} µs; {timing.skipped} skipped"
    )
    rows.append(f"write and read p50 {took[0]:.0f}, p99 {took[1]:.0f} µs")
    rows.append(f"greatest change of force {step:.3f} N from one to the next")
    rows.append(f"{limited} at the force limit, {slewed} at the slew limit")
    return rows
