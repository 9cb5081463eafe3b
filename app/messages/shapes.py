"""Shapes of shared blocks: for each field its kind of number and its dimensions."""

from typing import Final

import numpy as np

__all__ = ["ONE_FLOAT", "ONE_INT", "Shapes"]

Shapes = dict[str, tuple[type, tuple[int, ...]]]

ONE_INT: Final = (np.int64, (1,))
ONE_FLOAT: Final = (np.float64, (1,))
