"""HID reports of 3Dconnexion's SpaceMouse family: pure bytes to deflections and back.

| id | bytes after the id | what |
|----|--------------------|------|
| 1  | 3 x i16 | translation; on some models 3 x i16 of rotation follow |
| 2  | 3 x i16 | rotation |
| 3  | bit mask | buttons, the least bit is the first |

Little endian, full deflection is 350 counts. The cap's own axes run to the right,
toward the user and down; those here right, forward and up. Sources: the device table of
PySpaceMouse 2.x and its users' reports; a 3Dconnexion driver is not needed.
"""

import struct
from typing import NamedTuple

__all__ = ["FULL_DEFLECTION", "CapReport", "decode_report", "encode_cap"]

FULL_DEFLECTION = 350.0
_TRANSLATION, _ROTATION, _BUTTONS = 1, 2, 3


class CapReport(NamedTuple):
    """What one report changes; None is not told in it.

    Attributes:
        translation: right, forward, up, each -1..1.
        rotation: about right, forward and up, each -1..1.
        buttons: bits.
    """

    translation: tuple[float, float, float] | None = None
    rotation: tuple[float, float, float] | None = None
    buttons: int | None = None


def decode_report(report: bytes) -> CapReport:
    """Read a report; one that is not known tells nothing."""
    kind = report[0] if report else 0
    if kind == _TRANSLATION and len(report) >= 7:
        turned = _triple(report, 7) if len(report) >= 13 else None
        return CapReport(translation=_triple(report, 1), rotation=turned)
    if kind == _ROTATION and len(report) >= 7:
        return CapReport(rotation=_triple(report, 1))
    if kind == _BUTTONS and len(report) >= 2:
        return CapReport(buttons=int.from_bytes(report[1:5], "little"))
    return CapReport()


def _triple(report: bytes, start: int) -> tuple[float, float, float]:
    x, y, z = struct.unpack_from("<3h", report, start)
    return _share(x), _share(-y), _share(-z)


def _share(counts: int) -> float:
    return max(-1.0, min(1.0, counts / FULL_DEFLECTION))


def encode_cap(
    translation: tuple[float, float, float],
    rotation: tuple[float, float, float],
    buttons: int,
) -> list[bytes]:
    """Write the three reports of a cap and its buttons, as the wired models do."""

    def triple(kind: int, values: tuple[float, float, float]) -> bytes:
        x, y, z = (
            round(FULL_DEFLECTION * max(-1.0, min(1.0, value))) for value in values
        )
        return struct.pack("<B3h", kind, x, -y, -z)

    return [
        triple(_TRANSLATION, translation),
        triple(_ROTATION, rotation),
        bytes([_BUTTONS]) + buttons.to_bytes(4, "little"),
    ]
