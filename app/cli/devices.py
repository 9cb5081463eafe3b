"""Actuators: find and identify them, jog one, calibrate its zero, sign and range."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from app.cli.options import application, err, out
from app.errors import DeviceError

if TYPE_CHECKING:
    from app.drivers.base import Driver
    from app.robot.bench import Bench

__all__ = ["devices"]

devices = typer.Typer(
    name="devices",
    help="Find, identify, jog and calibrate valves, winches, servos and boards.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
application.add_typer(devices)

Rig = Annotated[
    str, typer.Argument(help="Rig: a shipped name (see `devices rigs`) or a TOML.")
]
Actuator = Annotated[
    str, typer.Argument(help="BUS:NUMBER as in the rig's file, such as arms:3.")
]
Virtual = Annotated[
    bool,
    typer.Option("--virtual", help="Use the shipped virtual devices, to try things."),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before moving.")]


@devices.command("ports")
def ports() -> None:
    """List the serial ports of this computer."""
    from app.drivers.transport import list_serial_ports

    found = list_serial_ports()
    if not found:
        out.print("No serial port is here. Plug the adapter in, then try again.")
        return
    table = Table("port", "what", "may be used")
    for port in found:
        table.add_row(
            port.device, port.description, "yes" if port.permitted else "no: dialout"
        )
    out.print(table)


@devices.command("rigs")
def rigs() -> None:
    """List the shipped rigs."""
    from app.config.loader import asset_names
    from app.robot.rig_file import load_rig

    table = Table("rig", "robot", "what", "buses")
    for name in asset_names("rigs"):
        rig, robot = load_rig(name)
        buses = ", ".join(f"{bus.name} ({bus.line.driver})" for bus in rig.buses)
        table.add_row(name, robot.name, rig.title, buses)
    out.print(table)


@devices.command("find")
def find(
    port: Annotated[
        str | None, typer.Option(help="Only this port; else all serial ports.")
    ] = None,
) -> None:
    """Ask who answers on the serial ports: servos, boards, controllers, valves.

    [bold]Example[/]

      limblink devices find --port /dev/ttyUSB0

    Nothing is moved: devices are only asked for their names.
    """
    from app.drivers.probing import probe
    from app.drivers.transport import list_serial_ports

    names = [port] if port else [one.device for one in list_serial_ports()]
    if not names:
        raise DeviceError(
            "No serial port is here. Plug the adapter in, then try again."
        )
    table = Table("port", "protocol", "address", "model", "firmware")
    for name in names:
        with err.status(f"Asking on {name} …"):
            for protocol, identity in probe(name):
                table.add_row(
                    name, protocol, identity.address, identity.model, identity.firmware
                )
    if table.row_count:
        out.print(table)
    else:
        out.print(
            "Nothing answered. Check power and cable, and that the devices have the "
            "baud rates that are tried: `limblink devices show RIG` tries a rig's own."
        )


@devices.command("show")
def show(rig: Rig, *, virtual: Virtual = False) -> None:
    """Open a rig's buses, and show who answers and what is measured.

    [bold]Examples[/]

      limblink devices show ursula-dynamixel --virtual

      limblink devices show my-rig.toml
    """
    from app.robot.bench import Bench

    with Bench(rig, virtual=virtual) as bench:
        for name, driver in bench.drivers.items():
            _show_bus(name, driver)


def _show_bus(name: str, driver: "Driver") -> None:
    from app.robot.bench import read

    who = Table("address", "model", "firmware", title=f"Bus {name}: devices")
    for identity in driver.identify():
        who.add_row(*identity)
    out.print(who)
    reading = read(driver)
    values = Table(
        "actuator", "measured", "load", "deg C", "range", title=f"Bus {name}: actuators"
    )
    for k, channel in enumerate(driver.channels):
        values.add_row(
            f"{name}:{k + 1} {channel.name}",
            f"{reading.measured[k]:.3f} {channel.unit}",
            f"{reading.load[k]:.1f} {channel.load_unit}",
            f"{reading.temperature[k]:.0f}",
            f"{channel.least:g} to {channel.greatest:g}",
        )
    out.print(values)
    for fault in reading.faults:
        out.print(f"[yellow]![/] {fault.text}", highlight=False)


@devices.command("jog")
def jog(
    rig: Rig,
    actuator: Actuator,
    by: Annotated[float, typer.Option(help="How far, in the actuator's own unit.")],
    seconds: Annotated[
        float, typer.Option(min=0.5, max=600.0, help="How long it takes.")
    ] = 5.0,
    load: Annotated[
        float | None, typer.Option(min=0.0, help="Load at which it stops.")
    ] = None,
    *,
    virtual: Virtual = False,
    yes: Yes = False,
) -> None:
    """Move one actuator slowly, all others untouched.

    [bold]Examples[/]

      limblink devices jog ursula-dynamixel arms:3 --by 0.5 --virtual

      limblink devices jog my-rig.toml valves:1 --by 20 --seconds 10

    CTRL-C stops it; whenever it ends, the bus is made safe.
    """
    from app.robot.bench import Bench

    with Bench(rig, virtual=virtual) as bench:
        name, driver, channel = bench.find(actuator)
        unit = driver.channels[channel].unit
        if not yes:
            typer.confirm(
                f"Move {name} {driver.channels[channel].name} by {by:g} {unit} in "
                f"{seconds:g} s? Keep hands away.",
                abort=True,
            )
        _jog(bench, driver, channel, by, seconds, load)


def _jog(
    bench: "Bench",
    driver: "Driver",
    channel: int,
    by: float,
    seconds: float,
    load: float | None,
) -> None:
    from rich.live import Live
    from rich.text import Text

    limits = driver.channels[channel]
    with Live(console=out, refresh_per_second=10, transient=True) as live:
        sample = None
        for sample in bench.jog(driver, channel, by, seconds, load):
            live.update(
                Text(
                    f"asked {sample.asked:8.3f}   measured {sample.measured:8.3f} "
                    f"{limits.unit}   load {sample.load:6.1f} {limits.load_unit}"
                )
            )
    if sample is None:
        return
    out.print(
        f"{limits.name}: {sample.end.value} at {sample.measured:.3f} {limits.unit}. "
        f"{sample.text}".rstrip(),
        highlight=False,
    )
    if sample.end.value != "there":
        raise typer.Exit(1)


@devices.command("clear")
def clear(rig: Rig, *, virtual: Virtual = False, yes: Yes = False) -> None:
    """Clear latched faults, such as an overload that shut a servo down."""
    from app.robot.bench import Bench, read

    with Bench(rig, virtual=virtual) as bench:
        if not yes:
            typer.confirm("Is the cause removed? Faulty devices restart.", abort=True)
        for name, driver in bench.drivers.items():
            driver.clear_faults()
            left = [fault.text for fault in read(driver).faults if fault.latched]
            out.print(f"{name}: {' '.join(left) or 'no latched faults'}")


@devices.command("calibrate")
def calibrate(
    rig: Rig,
    actuator: Actuator,
    to: Annotated[
        Path, typer.Option("--out", help="Rig file to write, zero and sign in it.")
    ],
    by: Annotated[
        float, typer.Option(help="Small move that shows the sign, actuator's unit.")
    ] = 0.2,
    sign: Annotated[
        int | None,
        typer.Option(min=-1, max=1, help="Known already: +1 or -1; else it asks."),
    ] = None,
    ends_load: Annotated[
        float | None,
        typer.Option(
            "--range",
            min=0.0,
            help="Find a servo's range too: its ends are at this load.",
        ),
    ] = None,
    *,
    virtual: Virtual = False,
    yes: Yes = False,
) -> None:
    """Find an actuator's zero, sign and range, with the limb at its rest posture.

    [bold]Examples[/]

      limblink devices calibrate ursula-dynamixel arms:3 --out mine.toml

      limblink devices calibrate mine.toml arms:3 --range 250 --out mine.toml

    It reads where the actuator stands (the zero), moves it a little, and asks what the
    tendon did (the sign; a chamber has none). With --range it then goes slowly both
    ways until the load says that it is at the end. All else in the file stays.
    """
    from app.robot.bench import Bench, write_calibration, write_range

    with Bench(rig, virtual=virtual) as bench:
        name, driver, channel = bench.find(actuator)
        what = driver.channels[channel]
        if not yes:
            typer.confirm(
                f"Does the limb hang at its rest posture (a chamber without pressure), "
                f"and may {what.name} move by {by:g} {what.unit}?",
                abort=True,
            )
        zero = bench.zero(driver, channel)
        out.print(f"Zero of {what.name}: {zero:.4f} {what.unit}", highlight=False)
        if what.unit == "rad" and sign is None:
            _jog(bench, driver, channel, by, 2.0, None)
            grew = typer.confirm("Was the tendon paid out (the limb less pulled)?")
            sign = 1 if grew else -1
            _jog(bench, driver, channel, -by, 2.0, None)
        write_calibration(
            bench.path, to, bus=name, channel=channel, zero=zero, sign=sign
        )
        if ends_load is not None:
            ends = bench.ends(driver, channel, ends_load)
            write_range(to, to, bus=name, channel=channel, ends=ends)
            out.print(
                f"Range of {what.name}: {ends[0]:.3f} to {ends[1]:.3f} {what.unit}",
                highlight=False,
            )
    out.print(f"Wrote {to}. Check it with `limblink devices show {to}`.")
