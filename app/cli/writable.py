"""Whether a file can be made, asked before time is spent on what goes into it."""

import os
from pathlib import Path

from app.errors import ConfigError

__all__ = ["check_writable"]


def check_writable(*paths: Path | None) -> None:
    """Refuse a file that cannot be made.

    Args:
        paths: files to be made; None stands for none.

    Raises:
        ConfigError: nothing can be written in a file's folder.
    """
    for path in paths:
        if path is None:
            continue
        folder = path.expanduser().absolute().parent
        while not folder.exists():
            folder = folder.parent
        if not (folder.is_dir() and os.access(folder, os.W_OK)):
            raise ConfigError(
                f"{path}: nothing can be written in {folder}. Choose another place."
            )
