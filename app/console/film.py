"""A replay without a window: pictures of it in a folder, or a film."""

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PyQt6.QtCore import Qt
from PyQt6.QtGui import QImage

from app.clock import NS_PER_S
from app.console.replay import ReplayWindow
from app.console.replay_source import ReplaySource
from app.console.run import make_application
from app.console.scene_frame import build_scene_frame
from app.errors import ConfigError
from app.scene import OrbitCamera
from app.scene.avi import AviWriter
from app.scene.png import write_png

__all__ = ["FilmSettings", "PictureName", "film"]

PictureName = Literal["console", "robot"]
_MOST_FRAMES = 500_000

_Pixels = NDArray[np.uint8]
_Take = Callable[[int], _Pixels]


class FilmSettings(NamedTuple):
    """What is filmed."""

    picture: PictureName = "console"
    """The whole console, or the picture of the robot alone."""
    view: str = "behind"
    """Of the robot: behind, front, side or top."""
    width: int = 1366
    height: int = 768
    rate_hz: float = 25.0
    """Frames a second of the film."""
    speed: float = 1.0
    """Seconds of the recording in a second of the film."""
    first_s: float = 0.0
    last_s: float = float("inf")


def film(
    path: Path,
    settings: FilmSettings,
    folder: Path | None,
    video: Path | None,
    tell: Callable[[int, int], object],
) -> int:
    """Take pictures of a recording at even steps.

    Args:
        path: the recording.
        settings: what is filmed.
        folder: where PNGs go, `frame-000001.png` and so on; None for none.
        video: the AVI to make; None for none.
        tell: is told how many frames of how many are done.

    Returns:
        Number of frames.

    Raises:
        LogError: the recording cannot be read.
        ConfigError: the settings leave no frame or too many, or a file cannot be
            written.
        DeviceError: no OpenGL.
    """
    os.environ["QT_QPA_PLATFORM"] = "offscreen"  # nothing shall appear on a screen
    lines = round(12 + (settings.height - 768) / 168)  # as on a screen of that height
    os.environ.setdefault("LIMBLINK_TEXT_PX", str(min(max(lines, 9), 24)))
    source = ReplaySource(path)
    with contextlib.ExitStack() as stack:
        stack.callback(source.close)
        times = _times(source, settings)
        if settings.picture == "robot":
            take = _robot_camera(source, settings, stack)
        else:
            take = _console_camera(source, settings, stack, times[0])
        writer = None
        for number, time_ns in enumerate(times, start=1):
            pixels = take(time_ns)
            if folder is not None:
                write_png(folder / f"frame-{number:06d}.png", pixels)
            if video is not None:
                if writer is None:
                    height, width = pixels.shape[:2]
                    writer = AviWriter(video, width, height, settings.rate_hz)
                    stack.callback(writer.close)
                writer.add(pixels)
            tell(number, len(times))
    return len(times)


def _times(source: ReplaySource, settings: FilmSettings) -> list[int]:
    start_ns, end_ns = source.timeline.start_ns, source.timeline.end_ns
    length_s = (end_ns - start_ns) / NS_PER_S
    last_s = min(settings.last_s, length_s)
    if not 0.0 <= settings.first_s <= last_s:
        raise ConfigError(
            f"--from {settings.first_s:g} --to {settings.last_s:g}: the recording is "
            f"{length_s:.1f} s long. Give a beginning before the end, and within it."
        )
    step_s = settings.speed / settings.rate_hz
    count = int((last_s - settings.first_s) / step_s) + 1
    if count > _MOST_FRAMES:
        raise ConfigError(
            f"{count} frames are too many (at most {_MOST_FRAMES}): film a shorter "
            "span, faster (--speed), or with fewer frames a second (--fps)."
        )
    first_ns = start_ns + round(settings.first_s * NS_PER_S)
    return [first_ns + round(k * step_s * NS_PER_S) for k in range(count)]


def _console_camera(
    source: ReplaySource,
    settings: FilmSettings,
    stack: contextlib.ExitStack,
    first_ns: int,
) -> _Take:
    application = make_application()
    stack.callback(application.processEvents)  # which also keeps it alive
    window = ReplayWindow(source)
    stack.callback(window.close)
    window.setAttribute(Qt.WidgetAttribute.WA_DontShowOnScreen)
    window.resize(settings.width, settings.height)
    window.show()
    window.build_scene()
    if settings.view != "behind":
        window.viewport.camera.view(settings.view)
    window.show_moment(first_ns)
    for _ in range(3):  # columns widen for their bars, and what is beside them moves
        application.processEvents()

    def take(time_ns: int) -> _Pixels:
        window.show_moment(time_ns)
        image = window.grab().toImage().convertToFormat(QImage.Format.Format_RGB32)
        bits = image.constBits()
        if bits is None:
            raise ConfigError("The window could not be drawn without a screen.")
        octets = bits.asstring(image.sizeInBytes())
        pixels = np.frombuffer(octets, dtype=np.uint8)
        return np.asarray(pixels.reshape(image.height(), image.width(), 4))

    return take


def _robot_camera(
    source: ReplaySource, settings: FilmSettings, stack: contextlib.ExitStack
) -> _Take:
    scene = source.make_scene()
    stack.callback(scene.close)
    scene.resize(settings.width, settings.height)
    camera = OrbitCamera(settings.width, settings.height)
    if settings.view != "behind":
        camera.view(settings.view)

    def take(time_ns: int) -> _Pixels:
        source.seek(time_ns)
        scene.update(build_scene_frame(time_ns, source.readings, None, skin=True))
        return scene.image(camera)

    return take
