"""Writing a picture of the scene as a PNG file."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from app.errors import ConfigError

__all__ = ["write_png"]


def write_png(path: Path, pixels: NDArray[np.uint8]) -> None:
    """Write a (h, w, 4) blue, green, red, alpha array as a PNG without alpha.

    Args:
        path: file to write; its folder is made where it is missing.
        pixels: as `Scene.image` returns it.

    Raises:
        ConfigError: the file cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.ascontiguousarray(pixels[..., 2::-1])).save(
            path, format="PNG", optimize=True
        )
    except OSError as error:
        raise ConfigError(
            f"{path}: the picture cannot be written: {error}. Choose another place."
        ) from error
