"""The picture of the robot, and the hands on it: keys, tip drags, view."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray
from PyQt6 import sip
from PyQt6.QtCore import QPointF, QRectF, Qt
from PyQt6.QtGui import (
    QFocusEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QResizeEvent,
    QWheelEvent,
)
from PyQt6.QtWidgets import QSizePolicy, QWidget

from app.clock import NS_PER_MS, NS_PER_S, MonotonicClock
from app.config.robot import RobotParameters
from app.console.arrows import draw_forces
from app.console.controls import ConsoleControls
from app.console.drag import TipDrag, nearest_tip
from app.console.frames import FrameStatistics
from app.console.guide import TaskGuide
from app.console.keys import HeldKeys
from app.console.objects import ObjectTracker, draw_objects
from app.console.overlay import Overlay
from app.console.readings import StationReadings
from app.console.resolution import AdaptiveResolution
from app.console.scene_frame import build_scene_frame
from app.console.theme import LINE, MUTED, TEXT, WINDOW, base_pixel_size, color, font
from app.console.touch import shows_model
from app.messages import StationMode
from app.scene import OrbitCamera, Scene
from models.numerics import FloatArray
from models.robot import RobotModel

__all__ = ["Viewport"]

_CLOCK = MonotonicClock()
_GRAB_PX = 2.6  # reach of a grab, in text heights
_HINT_NS = 3 * NS_PER_S
_INSET_EVERY = 4  # frames: the limb camera is shown at 12 Hz
_INSET_LATEST = 8  # and may wait so long for a frame with time to spare


@dataclass
class _Shown:
    """What a person has switched on."""

    skin: bool = True
    inset: bool = True


class Viewport(QWidget):
    """Paints the scene and takes keys and mouse."""

    def __init__(
        self,
        robot: RobotParameters,
        model: RobotModel,
        readings: StationReadings,
        controls: ConsoleControls,
    ) -> None:
        """Make the widget; `scene` is given later, it takes a while to build.

        Args:
            robot: names and colours.
            model: sizes and limits.
            readings: newest values; refreshed by the window.
            controls: takes what keys and mouse ask for.
        """
        super().__init__()
        self._robot = robot
        self._model = model
        self._readings = readings
        self._controls = controls
        self._overlay = Overlay(robot, model)
        self._keys = HeldKeys()
        self._resolution = AdaptiveResolution()
        self._image: QImage | None = None
        self._inset: QImage | None = None
        self._pixels: tuple[NDArray[np.uint8] | None, NDArray[np.uint8] | None] = (
            None,
            None,
        )
        self._mouse: tuple[float, float] | None = None
        self._hover = -1
        self._moving = ""
        self._hint = ""
        self._hint_until_ns = 0
        self._inset_age = 0
        self._objects = ObjectTracker(model)
        self._marking = False
        self.marked: Callable[[FloatArray], None] = lambda _place: None
        """Takes a (3,) place that a click has marked [m], hull frame."""
        self.mark: FloatArray | None = None
        """(3,) the marked place that is drawn [m], hull frame."""
        self.guide: TaskGuide | None = None
        """Leads a participant; None: nobody is led."""
        self.keys_also: dict[str, Callable[[], None]] = {}
        """What further keys do while the picture has the focus."""
        self.scene: Scene | None = None
        self.trouble = "Preparing the picture…"
        self.shown = _Shown()
        self.frames = FrameStatistics()
        self.cost_ms = 0.0
        """What the newest frame took [ms]."""
        self.camera = OrbitCamera(640, 480)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setMinimumSize(360, 260)
        self.setAccessibleName(
            "picture of the robot; keys drive it while it has the focus"
        )
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    @property
    def hint(self) -> str:
        """The passing remark that is shown, or ""."""
        return self._hint if _CLOCK.now_ns() < self._hint_until_ns else ""

    def mark_next(self, wanted: bool) -> None:
        """Let the next click mark a place, or not."""
        self._marking = wanted
        if wanted:
            self.say("Click where to: on a thing, or beside one at the tip's depth.")
            self.setCursor(Qt.CursorShape.CrossCursor)

    def say(self, hint: str) -> None:
        """Show a passing remark."""
        self._hint = hint
        self._hint_until_ns = _CLOCK.now_ns() + _HINT_NS

    # drawing

    def render_frame(self, now_ns: int) -> None:
        """Draw one frame and put it on the screen.

        Args:
            now_ns: when the frame was begun [ns].
        """
        if self.scene is not None:
            self._draw(self.scene)
        self.repaint()
        end_ns = _CLOCK.now_ns()
        self.frames.add(now_ns, end_ns)
        self.cost_ms = (end_ns - now_ns) / NS_PER_MS
        if self.scene is not None:
            self._resolution.add(self.cost_ms)

    def _draw(self, scene: Scene) -> None:
        scene.resize(*self._resolution.size(self.width(), self.height()))
        readings = self._readings
        frame = build_scene_frame(
            readings.now_ns,
            readings,
            self._controls.drag,
            skin=self.shown.skin,
            aim=self.mark,
            objects=self._objects.poses(readings, len(scene.object_names)),
            guide=None if self.guide is None else self.guide.mark,
        )
        scene.update(frame)
        main = scene.image(self.camera)
        self._image = _as_image(main)
        inset = self._pixels[1]
        if not self.shown.inset:
            inset = self._inset = None
        elif self._inset is None or self._inset_is_due(scene.redrew):
            self._inset_age = 0
            place = self._inset_place()
            inset = scene.inset(int(place.width()), int(place.height()))
            self._inset = _as_image(inset)
        self._pixels = (main, inset)  # the images look into these arrays

    def _inset_is_due(self, busy: bool) -> bool:
        """Whether this frame draws the inset; `busy`, it has drawn the backdrop."""
        self._inset_age += 1
        return self._inset_age >= (_INSET_LATEST if busy else _INSET_EVERY)

    def _inset_place(self) -> QRectF:
        width = min(max(0.27 * self.width(), 170.0), 460.0)
        height = round(0.66 * width)
        return QRectF(self.width() - round(width) - 9.0, 9.0, round(width), height)

    def paintEvent(self, event: QPaintEvent | None) -> None:
        """Show the newest picture and what is written over it."""
        painter = QPainter(self)
        place = QRectF(self.rect())
        if self._image is None:
            painter.fillRect(place, color("#0d1a24"))
            painter.setPen(color(TEXT))
            painter.setFont(font(base_pixel_size() + 1))
            middle = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
            painter.drawText(place.adjusted(30, 0, -30, 0), int(middle), self.trouble)
        elif self._image.size() == self.size():
            painter.drawImage(0, 0, self._image)
        else:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.drawImage(place, self._image)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._inset is not None and self.shown.inset:
            self._paint_inset(painter)
        self._paint_objects(painter)
        draw_forces(painter, self.camera, self._readings)
        self._paint_hover(painter)

        drives = self.hasFocus() and self._controls.is_writer
        self._overlay.paint(
            painter,
            place,
            self._readings,
            drives=drives or not self._controls.is_writer,
            hint=self.hint,
            task="" if self.guide is None else self.guide.words,
        )
        self._overlay.frame(painter, place, drives=drives)
        painter.end()

    def _paint_inset(self, painter: QPainter) -> None:
        place = self._inset_place()
        if self._inset is not None:
            painter.drawImage(place.topLeft(), self._inset)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(color(LINE), 1.5))
        painter.drawRect(place)
        size = base_pixel_size()
        painter.setFont(font(size - 2))
        label = QRectF(
            place.left(), place.bottom() - 1.5 * size, place.width(), 1.5 * size
        )
        painter.fillRect(label, color(WINDOW, 0.6))
        painter.setPen(color(MUTED))
        limb = self.scene.camera_limb if self.scene is not None else 0
        words = f" {self._robot.limbs[limb].name} limb's view (simulated)"
        painter.drawText(label, int(Qt.AlignmentFlag.AlignVCenter), words)

    def _paint_objects(self, painter: QPainter) -> None:
        scene = self.scene
        if scene is not None and scene.object_names:
            names, poses = scene.object_names, scene.objects
            draw_objects(
                painter, self.camera, names, poses, self._readings, self._objects
            )

    def _paint_hover(self, painter: QPainter) -> None:
        drag = self._controls.drag
        limb = drag.limb if drag is not None else self._hover
        if limb < 0:
            return
        tip = self._tips()[limb]
        x, y, depth = self.camera.project(tip)
        if depth <= 0.0:
            return
        radius = 1.1 * base_pixel_size()
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(color("#ffffff", 0.9), 1.6))
        painter.drawEllipse(QPointF(x, y), radius, radius)

    def resizeEvent(self, event: QResizeEvent | None) -> None:
        """Keep the camera's pixels those of the widget."""
        self.camera.resize(self.width(), self.height())
        super().resizeEvent(event)

    # keys

    def focusNextPrevChild(self, next: bool) -> bool:  # noqa: A002  Qt's name
        """Keep Tab for the limbs; F6 leads to the panels."""
        return False

    def keyPressEvent(self, event: QKeyEvent | None) -> None:
        """Take a key down."""
        if event is None or event.isAutoRepeat():
            return
        if event.key() == Qt.Key.Key_Home:
            self.camera.reset()
        else:
            name = self._keys.down(event)
            if name in self.keys_also:
                self.keys_also[name]()
            elif not self._controls.keyboard.press(name):
                super().keyPressEvent(event)
            elif name == "G" and int(self._readings.state.active_source[0]) < 0:
                self.say("Hold SPACE as well: a gripper moves only with the deadman.")

    def keyReleaseEvent(self, event: QKeyEvent | None) -> None:
        """Take a key up."""
        if event is None or event.isAutoRepeat():
            return
        self._controls.keyboard.release(self._keys.up(event))

    def focusOutEvent(self, event: QFocusEvent | None) -> None:
        """Let go of everything: what goes up elsewhere is never heard of."""
        self.let_go()
        super().focusOutEvent(event)

    def let_go(self) -> None:
        """Release keys and mouse."""
        self._keys.clear()
        self._moving = ""
        self._controls.let_go()

    # mouse

    def mousePressEvent(self, event: QMouseEvent | None) -> None:
        """Grab a tip, or begin to move the view."""
        if event is None:
            return
        cursor = (event.position().x(), event.position().y())
        self._mouse = cursor
        if event.button() == Qt.MouseButton.LeftButton and self._marking:
            self._mark_at(cursor)
        elif event.button() == Qt.MouseButton.LeftButton:
            limb = self._tip_at(cursor)
            if limb >= 0:
                self._grab(limb, cursor)
            else:
                self._moving = "orbit"
        elif event.button() == Qt.MouseButton.RightButton:
            self._moving = "orbit"
        elif event.button() == Qt.MouseButton.MiddleButton:
            self._moving = "pan"

    def _mark_at(self, cursor: tuple[float, float]) -> None:
        """Mark the place under the cursor; of an object, its middle."""
        self._marking = False
        if self.scene is None:
            return
        tip = self._tips()[int(self._readings.state.selected_limb[0])]
        place, item = self.scene.place_under(self.camera, *cursor, tip)
        self.marked(self.scene.objects[item][:3, 3] if item >= 0 else place)

    def _grab(self, limb: int, cursor: tuple[float, float]) -> None:
        if not self._controls.is_writer:
            self.say("Another console is in control; this one watches.")
            return
        state = self._readings.state
        self._controls.select_limb(limb)
        self._controls.keyboard.follow_grip(float(state.grip[limb]), _CLOCK.now_ns())
        if not self._readings.is_alive:
            self.say("The station does not answer.")
        elif int(state.mode[0]) == StationMode.ESTOP:
            self.say("Emergency stop is latched: release it, hold RESET, then arm.")
        elif int(state.mode[0]) != StationMode.ARMED:
            self.say("Not armed: hold HOLD TO ARM first.")
        elif int(self._readings.health.goal_hold[limb]):
            self.say("This limb listens to goals: F11 stops them and gives it back.")
        else:
            self._controls.drag = TipDrag(
                self._model, limb, state.tip_commanded[limb], cursor
            )

    def _tips(self) -> FloatArray:
        """(L, 3) tips where the picture shows them."""
        hidden = not shows_model(self._readings) and self._readings.has_robot
        return (
            self._readings.tip_confirmed if hidden else (self._readings.state.tip_model)
        )

    def _tip_at(self, cursor: tuple[float, float]) -> int:
        state = self._readings.state
        within = _GRAB_PX * base_pixel_size()
        limb = nearest_tip(self.camera, self._tips(), *cursor, within)
        if limb < 0 and shows_model(self._readings):
            limb = nearest_tip(self.camera, state.target_position, *cursor, within)
        return limb

    def mouseMoveEvent(self, event: QMouseEvent | None) -> None:
        """Follow the cursor."""
        if event is None:
            return
        cursor = (event.position().x(), event.position().y())
        before = self._mouse if self._mouse is not None else cursor
        step = (cursor[0] - before[0], cursor[1] - before[1])
        self._mouse = cursor
        drag = self._controls.drag
        if drag is not None:
            held = event.modifiers()
            drag.move(
                self.camera,
                cursor,
                along_view=bool(held & Qt.KeyboardModifier.ControlModifier),
                clutch=bool(held & Qt.KeyboardModifier.ShiftModifier),
            )
        elif self._moving == "orbit":
            self.camera.orbit(*step)
        elif self._moving == "pan":
            self.camera.pan(*step)
        else:
            self._hover = self._tip_at(cursor)
            shape = Qt.CursorShape.ArrowCursor
            if self._marking:
                shape = Qt.CursorShape.CrossCursor
            elif self._hover >= 0:
                shape = Qt.CursorShape.OpenHandCursor
            self.setCursor(shape)

    def mouseReleaseEvent(self, event: QMouseEvent | None) -> None:
        """Let go: the button is the deadman of a drag."""
        if event is None:
            return
        if event.button() == Qt.MouseButton.LeftButton:
            self._controls.drag = None
        self._moving = ""

    def wheelEvent(self, event: QWheelEvent | None) -> None:
        """Zoom; during a drag, push the target along the view."""
        if event is None:
            return
        notches = event.angleDelta().y() / 120.0
        if self._controls.drag is not None:
            self._controls.drag.depth_step(self.camera, 12.0 * notches)
        else:
            self.camera.zoom(notches)


def _as_image(pixels: NDArray[np.uint8]) -> QImage:
    """Look at (height, width, 4) BGRA bytes as an image, without a copy."""
    height, width = pixels.shape[:2]
    # the stubs ask for bytes; any address does, and spares a copy of the picture
    view = cast("bytes", sip.voidptr(pixels.ctypes.data))
    return QImage(view, width, height, 4 * width, QImage.Format.Format_RGB32)
