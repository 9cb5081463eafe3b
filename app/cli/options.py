"""The application, its two consoles, and the options that several commands share."""

import math
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from app.errors import ConfigError

__all__ = [
    "DEFAULT_LINK",
    "DEFAULT_ROBOT",
    "DEFAULT_STRATEGY",
    "Aim",
    "Blend",
    "Goals",
    "Haptic",
    "Keys",
    "Link",
    "Log",
    "Mismatch",
    "Rig",
    "Robot",
    "Scene",
    "Seed",
    "Strategy",
    "Task",
    "Virtual",
    "application",
    "err",
    "out",
    "three_numbers",
]

application = typer.Typer(
    name="limblink",
    help="Drive a soft-limbed underwater robot over a slow, late and lossy link.",
    no_args_is_help=False,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)
out = Console()
err = Console(stderr=True)

Robot = Annotated[
    str, typer.Option(help="Robot: a shipped name (see `limblink robots`) or a TOML.")
]
Link = Annotated[
    str, typer.Option(help="Link: a shipped name (see `limblink links`) or a TOML.")
]
Seed = Annotated[int, typer.Option(help="Seed of channel, sensors and operators.")]
Log = Annotated[
    Path | None,
    typer.Option(help="Recording (.mcap); by default in the user's data folder."),
]
Rig = Annotated[
    str | None,
    typer.Option(
        "--rig", help="Real actuators on this computer: a shipped rig or a TOML."
    ),
]
Virtual = Annotated[
    bool,
    typer.Option("--virtual", help="With --rig: the shipped virtual devices instead."),
]
Keys = Annotated[
    Path | None,
    typer.Option(help="Folder of CURVE keys; needed for any address off this host."),
]

Scene = Annotated[
    str | None,
    typer.Option(
        help="What stands around the simulated robot: a shipped name (see `limblink "
        "scenes`) or a TOML; else the task's scene, or open water."
    ),
]
Task = Annotated[
    str | None,
    typer.Option(
        help="What a scripted operator does: a shipped name (see `limblink tasks`) or "
        "a TOML."
    ),
]
Strategy = Annotated[
    str,
    typer.Option(
        help="How hand and tip are joined at first (see `limblink strategies`)."
    ),
]
Haptic = Annotated[
    str | None,
    typer.Option(help="Haptic device in the operator's hand (see `limblink haptic`)."),
]

Goals = Annotated[
    str | None,
    typer.Option(
        help="Goals that the robot reaches by itself once it is armed: a shipped plan "
        "(see `limblink goal plans`) or a TOML."
    ),
]
Blend = Annotated[
    float,
    typer.Option(
        min=0.0,
        max=0.8,
        help="Blended assistance: greatest share of the tip's velocity, 0 is off.",
    ),
]
Aim = Annotated[
    str | None,
    typer.Option(
        help="Where blended assistance leads: LIMB:x,y,z in the hull's frame [mm]; "
        "else what is marked on the console."
    ),
]

Mismatch = Annotated[
    list[str] | None,
    typer.Option(help="Plant against model, e.g. stiffness=1.2; may be repeated."),
]

DEFAULT_ROBOT = "ursula"
DEFAULT_LINK = "optical-rov"
DEFAULT_STRATEGY = "model-mediated"


def three_numbers(name: str, text: str) -> tuple[float, float, float]:
    """Read x,y,z.

    Args:
        name: of the option, for the message.
        text: what was given.

    Raises:
        ConfigError: not three finite numbers.
    """
    try:
        x, y, z = (float(part) for part in text.split(","))
    except ValueError:
        x = y = z = math.nan
    if not math.isfinite(x + y + z):
        raise ConfigError(
            f"{name} {text}: give three numbers with commas, like 520,110,100."
        )
    return x, y, z
