"""Drawing a Picture with OpenGL 3.3 into an array, without a window.

A standalone EGL context is used: measured with software rendering at 1280 x 720, a
QOpenGLWidget costs 24 ms a frame before it draws anything, this path under 5 ms with
the copy into the array and the QPainter that shows it. One thread owns a Renderer.
"""

import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from app.errors import DeviceError
from app.scene.cameras import View
from app.scene.meshes import Mesh
from app.scene.patterns import PATTERN_SIZE, patterns
from app.scene.shaders import PROGRAMS
from app.scene.skin import LimbMesh
from models.numerics import FloatArray

# Mesa's software renderer starts a thread a core; a second one gains little here and
# would run beside the control loop's core. Set before the first context exists.
os.environ.setdefault("LP_NUM_THREADS", "1")

import moderngl  # noqa: E402

__all__ = ["LINE_FLOATS", "LimbLook", "Picture", "Renderer", "Target"]

LINE_FLOATS = 15
"""Numbers a line: start, stop (3 each), their colours (4 each), thickness [px]."""

_SHADOW_SIZE = 256
_SHADOW_WINDOW = (-0.15, 0.0, 1.25, 0.85)  # centre and half widths on the flat [m]
_FRAME_WORDS = struct.Struct("36f")


@dataclass(frozen=True)
class LimbLook:
    """How to draw one limb of one copy.

    Attributes:
        limb: its index.
        copy: index of the copy's frames in `Picture.frames`.
        ghost: translucent with an outline, in `tone`, in place of its own skin.
        tone: linear colour of a ghost or an outline, and opacity.
        saturation: 1 own colours .. 0 grey.
        brightness: factor on its colours.
        opacity: 1 solid .. 0 not there.
        highlight: 0..1, extra light on it.
        outline: width of an outline in `tone` [px]; 0 none.
        edge: opacity of a ghost at its rim.
    """

    limb: int
    copy: int
    ghost: bool = False
    tone: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    saturation: float = 1.0
    brightness: float = 1.0
    opacity: float = 1.0
    highlight: float = 0.0
    outline: float = 0.0
    edge: float = 0.8


@dataclass(frozen=True)
class Picture:
    """Everything that one frame shows.

    Attributes:
        time: seconds, moves the caustics.
        frames: (C, R, 4, 4) frames of every copy, hull frame, rows as the limb meshes
            count them.
        bare: draw the bare sections in place of the skin.
        limbs: looks, drawn in this order; solids before ghosts.
        lines: (n, 15) float32, see `LINE_FLOATS`.
        lamp: (4, 4) pose of the light limb's tip, hull frame, or None.
        lamp_strength: of the spotlight, 1 usual.
        shadow_copy: copy whose shadow falls on the sand.
    """

    time: float
    frames: FloatArray
    bare: bool
    limbs: Sequence[LimbLook]
    lines: NDArray[np.float32] = field(
        default_factory=lambda: np.zeros((0, LINE_FLOATS), np.float32)
    )
    lamp: FloatArray | None = None
    lamp_strength: float = 1.0
    shadow_copy: int = 0


class Target:
    """A frame buffer and the array that its pixels are read into."""

    def __init__(self, context: Any, width: int, height: int, samples: int) -> None:
        """Make a buffer of width x height [px]."""
        self._context = context
        self._samples = samples
        self._made: list[Any] = []
        self.resize(width, height)

    def resize(self, width: int, height: int) -> None:
        """Change the size [px]; nothing happens where it is the same."""
        width, height = max(int(width), 1), max(int(height), 1)
        if self._made and (width, height) == (self.width, self.height):
            return
        self.release()
        self.width, self.height = width, height
        size = (width, height)
        color = self._context.renderbuffer(size, 4)
        self._resolved = self._context.framebuffer([color])
        self._made = [color, self._resolved]
        if self._samples > 1:
            many = self._context.renderbuffer(size, 4, samples=self._samples)
            depth = self._context.depth_renderbuffer(size, samples=self._samples)
            self._drawn = self._context.framebuffer([many], depth)
            self._made += [many, depth, self._drawn]
        else:
            depth = self._context.depth_renderbuffer(size)
            self._drawn = self._context.framebuffer([color], depth)
            self._made += [depth, self._drawn]
        self.pixels = np.zeros((height, width, 4), dtype=np.uint8)

    def use(self) -> None:
        """Make it the one that is drawn into."""
        self._drawn.use()

    def read(self) -> NDArray[np.uint8]:
        """Copy what was drawn into `pixels` and return that array."""
        if self._samples > 1:
            self._context.copy_framebuffer(self._resolved, self._drawn)
        self._resolved.read_into(self.pixels, components=4)
        return self.pixels

    def release(self) -> None:
        """Give the buffers back."""
        for thing in reversed(self._made):
            thing.release()
        self._made = []


class Renderer:
    """An OpenGL context with the scene's programs and meshes in it."""

    def __init__(
        self,
        hull: Mesh,
        site: Mesh,
        seabed: Mesh,
        skins: Sequence[LimbMesh],
        bare: Sequence[LimbMesh],
    ) -> None:
        """Open the context and hand over what never changes.

        Args:
            hull: the vehicle.
            site: obstacles.
            seabed: the sand.
            skins: one a limb.
            bare: sections, one a limb.

        Raises:
            DeviceError: this computer has no OpenGL 3.3.
        """
        self.context = _open_context()
        context = self.context
        self.software = any(
            word in str(context.info["GL_RENDERER"]).lower()
            for word in ("llvmpipe", "softpipe", "swrast", "software")
        )
        self._programs = {
            name: context.program(vertex, fragment)
            for name, (vertex, fragment) in PROGRAMS.items()
        }
        self._frame_block = context.buffer(reserve=_FRAME_WORDS.size)
        self._frame_block.bind_to_uniform_block(0)
        for program in self._programs.values():
            if "Frame" in program:
                program["Frame"].binding = 0
            for unit, name in enumerate(("patterns", "frames", "shadow")):
                if name in program:
                    program[name] = unit
            if "shadow_window" in program:
                program["shadow_window"] = _SHADOW_WINDOW
        self._patterns = context.texture(
            (PATTERN_SIZE, PATTERN_SIZE), 4, patterns().tobytes()
        )
        self._patterns.build_mipmaps()
        self._patterns.filter = (
            moderngl.LINEAR_MIPMAP_NEAREST,
            moderngl.LINEAR,
        )
        self._shadow = context.texture((_SHADOW_SIZE, _SHADOW_SIZE), 1)
        self._shadow.repeat_x = self._shadow.repeat_y = False
        self._shadow_frame = context.framebuffer([self._shadow])
        self._frames: Any = None
        self._lines = context.buffer(reserve=4 * LINE_FLOATS * 64, dynamic=True)
        self._make_arrays(hull, site, seabed, skins, bare)

    def target(self, width: int, height: int, samples: int = 1) -> Target:
        """Make somewhere to draw into, width x height [px]."""
        return Target(self.context, width, height, samples)

    def close(self) -> None:
        """Give everything back; safe to call again."""
        if self.context is not None:
            self.context.release()
            self.context = None

    def draw(self, picture: Picture, views: Sequence[tuple[View, Target, bool]]) -> None:
        """Draw one picture from one or more viewpoints.

        Args:
            picture: what to show.
            views: (viewpoint, where to, whether as a limb's own camera sees it: darker
                water, no marks, no ghosts).
        """
        self._load(picture)
        self._draw_shadow(picture)
        for view, target, natural in views:
            self._draw_view(picture, view, target, natural)

    def _make_arrays(
        self,
        hull: Mesh,
        site: Mesh,
        seabed: Mesh,
        skins: Sequence[LimbMesh],
        bare: Sequence[LimbMesh],
    ) -> None:
        self._hull = self._solid_arrays(hull, ("solid", "shadow_solid"))
        self._site = self._solid_arrays(site, ("solid",))
        self._sand = self._solid_arrays(seabed, ("sand",))
        names = ("limb", "ghost", "outline", "shadow_limb")
        self._limbs = {
            False: [self._limb_arrays(mesh, names) for mesh in skins],
            True: [self._limb_arrays(mesh, names) for mesh in bare],
        }
        columns, rows = 17, 13
        x, y = np.meshgrid(np.linspace(-1, 1, columns), np.linspace(-1, 1, rows))
        place = np.stack([x, y], axis=-1).reshape(-1, 2)
        lattice = np.arange(rows * columns).reshape(rows, columns)
        a, b = lattice[:-1, :-1].ravel(), lattice[:-1, 1:].ravel()
        c, d = lattice[1:, 1:].ravel(), lattice[1:, :-1].ravel()
        quads = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
        self._backdrop = self._array(
            "backdrop", [("2f", "place")], place, quads.astype(np.int32)
        )
        corner = np.array([[0, -1], [1, -1], [1, 1], [0, -1], [1, 1], [0, 1]], "f4")
        self._line_array = self.context.vertex_array(
            self._programs["line"],
            [
                (self.context.buffer(corner.tobytes()), "2f", "corner"),
                (
                    self._lines,
                    "3f 3f 4f 4f 1f/i",
                    "start",
                    "stop",
                    "start_color",
                    "stop_color",
                    "thickness",
                ),
            ],
        )

    def _array(
        self,
        name: str,
        layout: Sequence[tuple[str, str]],
        vertices: FloatArray,
        triangles: NDArray[np.int32],
    ) -> Any:
        """Bind a vertex list to a program; what the program does not use is skipped."""
        program = self._programs[name]
        formats, names = [], []
        for form, attribute in layout:
            if attribute in program:
                formats.append(form)
                names.append(attribute)
            else:
                formats.append(f"{4 * int(form[0])}x")
        buffer = self.context.buffer(np.asarray(vertices, dtype="f4").tobytes())
        index = self.context.buffer(np.ascontiguousarray(triangles, "i4").tobytes())
        return self.context.vertex_array(
            program, [(buffer, " ".join(formats), *names)], index_buffer=index
        )

    def _solid_arrays(self, mesh: Mesh, names: Sequence[str]) -> dict[str, Any]:
        vertices = np.concatenate([mesh.position, mesh.normal, mesh.color], axis=1)
        layout = (("3f", "position"), ("3f", "normal"), ("4f", "color"))
        return {
            name: self._array(name, layout, vertices, mesh.triangles) for name in names
        }

    def _limb_arrays(self, limb: LimbMesh, names: Sequence[str]) -> dict[str, Any]:
        mesh = limb.mesh
        vertices = np.concatenate(
            [
                limb.row[:, None],
                mesh.position,
                mesh.normal,
                limb.band[:, None],
                mesh.color,
            ],
            axis=1,
        )
        layout = (("1f", "row"), ("3f", "position"), ("4f", "normal"), ("4f", "color"))
        return {
            name: self._array(name, layout, vertices, mesh.triangles) for name in names
        }

    def _load(self, picture: Picture) -> None:
        """Hand over frames and lines."""
        copies, rows = picture.frames.shape[:2]
        texels = np.empty((copies * rows, 3, 4), dtype="f4")
        flat = picture.frames.reshape(-1, 4, 4)
        texels[:, :, :3] = flat[:, :3, :3].transpose(0, 2, 1)
        texels[:, :, 3] = flat[:, :3, 3]
        if self._frames is None or self._frames.size != (3, copies * rows):
            if self._frames is not None:
                self._frames.release()
            self._frames = self.context.texture((3, copies * rows), 4, dtype="f4")
            self._frames.filter = (moderngl.NEAREST, moderngl.NEAREST)
        self._frames.write(texels.tobytes())
        self._patterns.use(0)
        self._frames.use(1)
        self._shadow.use(2)
        if picture.lines.shape[0]:
            data = np.ascontiguousarray(picture.lines, dtype="f4").tobytes()
            if len(data) > self._lines.size:
                self._lines.orphan(2 * len(data))
            self._lines.write(data)

    def _write_frame_block(
        self, picture: Picture, view: View, width: int, height: int, natural: bool
    ) -> None:
        projection = view.projection_matrix()
        projection[0, 0] = projection[1, 1] * height / width
        projection[1] *= -1.0  # top line first
        clip = projection @ view.view_matrix()
        lamp = picture.lamp
        spot = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0]
        if lamp is not None:
            ahead = lamp[:3, 2]
            spot[:3] = (lamp[:3, 3] + 0.008 * ahead).tolist()
            spot[3] = 0.55 * picture.lamp_strength
            spot[4:7] = ahead.tolist()
        lamps = (0.42, 0.25, 0.0, 1.35) if natural else (1.0, 1.0, 0.16, 1.0)
        pixel = 2.0 / float(projection[1, 1] * -height)
        self._frame_block.write(
            _FRAME_WORDS.pack(
                *clip.T.ravel().tolist(),
                *view.position.tolist(),
                picture.time,
                *spot,
                *lamps,
                width,
                height,
                pixel,
                0.0,
            )
        )

    def _draw_shadow(self, picture: Picture) -> None:
        context = self.context
        self._shadow_frame.use()
        context.disable(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
        self._shadow_frame.clear(1.0, 1.0, 1.0, 1.0)
        self._programs["shadow_solid"]["left"] = 0.25
        self._programs["shadow_limb"]["left"] = 0.30
        self._programs["shadow_limb"]["first_row"] = (
            picture.shadow_copy * picture.frames.shape[1]
        )
        self._hull["shadow_solid"].render()
        for arrays in self._limbs[picture.bare]:
            arrays["shadow_limb"].render()

    def _draw_view(
        self, picture: Picture, view: View, target: Target, natural: bool
    ) -> None:
        context = self.context
        self._write_frame_block(picture, view, target.width, target.height, natural)
        target.use()
        context.viewport = (0, 0, target.width, target.height)
        context.clear(depth=1.0)
        context.enable_only(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
        context.front_face = "cw"  # the projection is flipped
        context.cull_face = "back"
        context.depth_func = "<="
        rows = picture.frames.shape[1]
        solids = [look for look in picture.limbs if not look.ghost]
        for look in solids:
            if look.opacity >= 1.0:
                self._draw_skin(picture, look, rows)
        self._hull["solid"].render()
        self._site["solid"].render()
        self._sand["sand"].render()
        self._draw_backdrop(view, target)
        context.enable(moderngl.BLEND)
        context.blend_func = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA
        for look in solids:
            if look.opacity < 1.0:
                self._draw_skin(picture, look, rows)
        if natural:
            return
        for look in solids:
            if look.outline > 0.0:
                self._draw_outline(picture, look, rows, 0.0)
        for look in picture.limbs:
            if look.ghost:
                self._draw_ghost(picture, look, rows)
        self._draw_lines(picture)

    def _draw_backdrop(self, view: View, target: Target) -> None:
        focal = float(view.projection_matrix()[1, 1])
        across = view.axes[0] * (target.width / target.height / focal)
        down = -view.axes[1] / focal
        matrix = np.stack([across, down, view.axes[2]])
        self._programs["backdrop"]["place_to_hull"] = matrix.ravel().tolist()
        self.context.disable(moderngl.CULL_FACE)
        self._backdrop.render()
        self.context.enable(moderngl.CULL_FACE)

    def _draw_skin(self, picture: Picture, look: LimbLook, rows: int) -> None:
        program = self._programs["limb"]
        program["first_row"] = look.copy * rows
        program["inflate"] = 0.0
        program["state"] = (
            look.saturation,
            look.brightness,
            look.opacity,
            look.highlight,
        )
        self._limbs[picture.bare][look.limb]["limb"].render()

    def _draw_outline(
        self, picture: Picture, look: LimbLook, rows: int, inflate: float
    ) -> None:
        program = self._programs["outline"]
        program["first_row"] = look.copy * rows
        program["inflate"] = inflate
        program["width"] = look.outline
        program["tone"] = look.tone
        self.context.cull_face = "front"
        self._limbs[picture.bare][look.limb]["outline"].render()
        self.context.cull_face = "back"

    def _draw_ghost(self, picture: Picture, look: LimbLook, rows: int) -> None:
        program = self._programs["ghost"]
        program["first_row"] = look.copy * rows
        program["inflate"] = 0.0012
        program["tone"] = (*look.tone[:3], look.opacity)
        program["edge"] = look.edge
        self._limbs[picture.bare][look.limb]["ghost"].render()
        if look.outline > 0.0:
            self._draw_outline(picture, look, rows, 0.0012)

    def _draw_lines(self, picture: Picture) -> None:
        count = picture.lines.shape[0]
        if not count:
            return
        context = self.context
        context.enable_only(moderngl.DEPTH_TEST | moderngl.BLEND)
        self._frame_line(1.0, "<=", count)
        self._frame_line(0.22, ">", count)
        context.depth_func = "<="

    def _frame_line(self, strength: float, depth_func: str, count: int) -> None:
        self._programs["line"]["strength"] = strength
        self.context.depth_func = depth_func
        self.context.depth_mask = False
        self._line_array.render(vertices=6, instances=count)
        self.context.depth_mask = True


def _open_context() -> Any:
    try:
        return moderngl.create_context(standalone=True, backend="egl", require=330)
    except Exception as problem:  # noqa: BLE001  glcontext raises a bare Exception
        raise DeviceError(
            f"OpenGL 3.3 could not be opened through EGL ({problem}); the scene needs "
            "it. Install the graphics driver, or Mesa's software one: "
            "apt-get install libegl1 libgl1 libgl1-mesa-dri"
        ) from problem
