"""What every test of the console leaves behind is cleared away."""

import gc
import os
from collections.abc import Iterator

import pytest

_MANY = 300


@pytest.fixture(autouse=True)
def blocks_are_unmapped() -> Iterator[None]:
    """Collect closed windows in time: a window that starts freezes what there is.

    Each has 13 mapped blocks and its station as many; the serial library's `select`
    takes no file above the 1024th.
    """
    yield
    if len(os.listdir("/proc/self/fd")) > _MANY:
        gc.unfreeze()
        gc.collect()
