"""Keys of links that leave this host."""

from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from app.cli.options import application, out

__all__ = ["keys"]

keys = typer.Typer(
    name="keys",
    help="Make and trust the keys of links that leave this host.",
    no_args_is_help=True,
    rich_markup_mode="rich",
)
application.add_typer(keys)

Folder = Annotated[
    Path | None,
    typer.Option("--dir", help="Key folder; by default in the user's settings."),
]


def _folder(given: Path | None) -> Path:
    from app.link.keys import default_folder

    return given.expanduser() if given is not None else default_folder()


@keys.command()
def new(
    name: Annotated[
        str, typer.Argument(help="station on the operator's side, robot on the robot.")
    ],
    folder: Folder = None,
) -> None:
    """Make this computer's own key pair.

    [bold]Examples[/]

      limblink keys new station

      limblink keys new robot --dir ~/.limblink-keys

    Copy NAME.key (public) to the other computer and trust it there; NAME.key_secret
    stays here.
    """
    from app.link.endpoint import make_keys

    public = make_keys(_folder(folder), name)
    out.print(f"Wrote {public} and {public.name}_secret.", highlight=False)
    out.print(
        f"Copy {public.name} to the other computer, and there run "
        f"`limblink keys trust {public.name}`.",
        highlight=False,
    )


@keys.command()
def show(folder: Folder = None) -> None:
    """List own, trusted and revoked keys; compare them over a second channel."""
    from app.link.keys import list_keys

    place = _folder(folder)
    entries = list_keys(place)
    if not entries:
        out.print(f"No keys in {place}. Make some with `limblink keys new NAME`.")
        return
    table = Table("name", "status", "public key", title=str(place), box=None)
    for entry in entries:
        table.add_row(entry.name, entry.status, entry.public.decode())
    out.print(table, markup=False, highlight=False)


@keys.command()
def trust(
    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE_OR_KEY", help="The peer's .key file, or its 40 characters."
        ),
    ],
    name: Annotated[
        str | None, typer.Option(help="What to call the peer; else as its file.")
    ] = None,
    folder: Folder = None,
) -> None:
    """Let a peer's key in; a running robot takes it at once.

    [bold]Examples[/]

      limblink keys trust station.key

      limblink keys trust --name pilot 'Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID'
    """
    from app.link.keys import trust as let_in

    out.print(f"Trusted: {let_in(_folder(folder), source, name)}", highlight=False)


@keys.command()
def revoke(
    name: Annotated[str, typer.Argument(help="The key's name, see `keys show`.")],
    folder: Folder = None,
) -> None:
    """Refuse a key from now on; a running robot drops its sessions at once."""
    from app.link.keys import revoke as shut_out

    out.print(f"Revoked: {shut_out(_folder(folder), name)}", highlight=False)
