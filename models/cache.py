"""Where compiled kernels are kept; needs no compiler to say so."""

import hashlib
import os
from importlib.metadata import version
from pathlib import Path

import platformdirs

__all__ = ["KERNEL_FOLDERS", "kernel_cache_folder"]

_ROOT = Path(__file__).resolve().parent.parent
KERNEL_FOLDERS = (
    "models",
    "app/control",
    "app/link",
    "app/operator/haptic",
    "app/robot",
    "app/study",
    "app/study/factorial",
    "app/study/targets",
    "app/teleop",
)
"""Where kernels are written; scripts/check_kernels.py sees that none is left out."""


def kernel_cache_folder() -> Path:
    """Name the folder of compiled kernels for exactly these sources.

    Returns:
        A folder below the user's cache, or below LIMBLINK_CACHE where it is set.
    """
    digest = hashlib.sha256(version("numba").encode())
    for folder in KERNEL_FOLDERS:
        for source in sorted((_ROOT / folder).glob("*.py")):
            digest.update(source.name.encode())
            digest.update(source.read_bytes())
    base = os.environ.get("LIMBLINK_CACHE") or platformdirs.user_cache_dir("limblink")
    return Path(base) / f"kernels-{digest.hexdigest()[:16]}"
