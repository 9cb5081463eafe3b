"""Drawing a Picture with OpenGL 3.3.

What stands still (backdrop, sand, site, hull) is drawn when the viewpoint moves, and
every tenth frame while only the lamp or a shadow moves; every frame draws the limbs,
ghosts and lines over a copy of it. One thread owns a Renderer.
"""

import struct
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from app.scene.buffers import Arrays
from app.scene.cameras import View
from app.scene.meshes import Mesh, lathe
from app.scene.patterns import coarser, sand_pattern
from app.scene.picture import LINE_FLOATS, Bodies, LimbLook, Picture, Shot
from app.scene.shaders import PROGRAMS
from app.scene.target import Target, is_software, open_context
from models.numerics import FloatArray

__all__ = ["Renderer"]

_SHADOW_SIZE = 128
_SHADOW_WINDOW = (-0.15, 0.0, 1.35, 0.95)  # centre and half widths on the flat [m]
_LIGHT_FRAMES = 10  # frames that a backdrop may stand in an old light
_TUBE_FACING, _TUBE_RIM = 0.07, 0.45  # opacities of a tube
_BEAM_LENGTH, _BEAM_SLOPE = 0.9, 0.42  # the lamp's visible cone [m], radius over length
# how colours mix; alpha stays 1, as the picture is opaque
_OVER = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA, moderngl.ZERO, moderngl.ONE
_ADD = moderngl.SRC_ALPHA, moderngl.ONE, moderngl.ZERO, moderngl.ONE
_FRAME_WORDS = struct.Struct("36f")
_DRY = (1.0, 1.0, 0.16, 1.0)  # lamps of the console's view, see shaders
_NATURAL = (0.55, 0.34, 0.0, 1.2)  # of a limb's own camera: dim, so its lamp tells


class Renderer:
    """An OpenGL context with the scene's programs and meshes in it."""

    def __init__(self, bodies: Bodies) -> None:
        """Open the context and hand over what never changes.

        Args:
            bodies: the meshes.

        Raises:
            DeviceError: this computer has no OpenGL 3.3.
        """
        self.context: Any = open_context()
        self.software = is_software(self.context)
        self._programs = {
            name: self.context.program(vertex, fragment)
            for name, (vertex, fragment) in PROGRAMS.items()
        }
        self._frame_block = self.context.buffer(reserve=_FRAME_WORDS.size)
        self._frame_block.bind_to_uniform_block(0)
        for program in self._programs.values():
            if "Frame" in program:
                program["Frame"].binding = 0
            for unit, name in enumerate(("sand", "frames", "shadow")):
                if name in program:
                    program[name] = unit
            if "shadow_window" in program:
                program["shadow_window"] = _SHADOW_WINDOW
        self._make_textures()
        self._lines = self.context.buffer(reserve=4 * LINE_FLOATS * 256, dynamic=True)
        self._make_arrays(bodies)

    def target(self, width: int, height: int, samples: int = 1) -> Target:
        """Make somewhere to draw into, width x height [px]."""
        with self.context:
            return Target(self.context, width, height, samples)

    def close(self) -> None:
        """Give everything back; safe to call again."""
        if self.context is not None:
            self.context.release()
            self.context = None

    def draw(self, picture: Picture, shot: Shot) -> NDArray[np.uint8]:
        """Draw one picture.

        Args:
            picture: what to show.
            shot: from where, into what.

        Returns:
            The target's (height, width, 4) array.
        """
        with self.context:  # another context of this thread may be the current one
            return self._draw(picture, shot)

    def _draw(self, picture: Picture, shot: Shot) -> NDArray[np.uint8]:
        self._load(picture)
        self._write_frame_block(picture, shot)
        context = self.context
        context.enable_only(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
        context.front_face = "cw"  # the projection is flipped
        context.cull_face = "back"
        context.depth_func = "<="
        self._draw_still(picture, shot)
        self._draw_things(picture, shot, solid=True)
        self._draw_limbs(picture, shot.natural)
        self._draw_things(picture, shot, solid=False)
        if not shot.natural:
            self._draw_beam(picture)
            self._draw_ghosts(picture)
            self._draw_lines(picture)
        return shot.target.read()

    def _make_textures(self) -> None:
        near = sand_pattern()
        self._sand_textures = [
            self.context.texture(look.shape[:2], 4, look.tobytes())
            for look in (near, coarser(near, 4))
        ]
        shadow_size = (_SHADOW_SIZE, _SHADOW_SIZE)
        # four channels: a lookup in one costs 2 ms a full picture more
        self._shadows = [self.context.texture(shadow_size, 4) for _ in range(2)]
        for texture in self._shadows:
            texture.repeat_x = texture.repeat_y = False
        self._shadow_frames = [
            self.context.framebuffer([texture]) for texture in self._shadows
        ]
        self._shadow_key: bytes | None = None
        self._frames: Any = None

    def _make_arrays(self, bodies: Bodies) -> None:
        arrays = Arrays(self.context, self._programs)
        self._hull = arrays.solid("solid", bodies.hull)
        self._hull_ball = _ball_around(bodies.hull)
        self._site = arrays.solid("solid", bodies.site)
        self._things = [arrays.solid("thing", mesh) for mesh in bodies.things]
        self._sand = [
            arrays.solid("sand", mesh) for mesh in (bodies.near_sand, bodies.far_sand)
        ]
        self._hull_shadow = arrays.solid("shadow_solid", bodies.hull)
        beam = lathe(
            [
                (t, (0.012 + _BEAM_SLOPE * t * _BEAM_LENGTH) / _BEAM_LENGTH)
                for t in (0.0, 0.03, 0.1, 0.25, 0.5, 0.75, 1.0)
            ],
            (1.0, 1.0, 1.0, 0.0),
            40,
        )
        self._beam = arrays.solid("beam", beam)
        self._skins = {
            bare: [arrays.limb("limb", mesh) for mesh in meshes]
            for bare, meshes in ((False, bodies.skins), (True, bodies.bare))
        }
        self._shells = {
            (name, bare): [arrays.limb(name, mesh) for mesh in meshes]
            for name in ("ghost", "outline", "shadow_limb")
            for bare, meshes in ((False, bodies.shells), (True, bodies.bare))
        }
        self._backdrop = arrays.screen("backdrop", 16, 12)
        self._blur = arrays.screen("blur", 1, 1)
        self._line_array = arrays.lines("line", self._lines)

    def _load(self, picture: Picture) -> None:
        """Hand over frames and lines."""
        copies, rows = picture.frames.shape[:2]
        columns = picture.frames.reshape(-1, 4, 4).transpose(0, 2, 1)
        if self._frames is None or self._frames.size != (4, copies * rows):
            if self._frames is not None:
                self._frames.release()
            self._frames = self.context.texture((4, copies * rows), 4, dtype="f4")
            self._frames.filter = (moderngl.NEAREST, moderngl.NEAREST)
        self._frames.write(columns.astype("f4").tobytes())
        self._frames.use(1)
        self._shadows[0].use(2)
        if picture.lines.shape[0]:
            data = np.ascontiguousarray(picture.lines, dtype="f4").tobytes()
            if len(data) > self._lines.size:
                self._lines.orphan(2 * len(data))
            self._lines.write(data)

    def _write_frame_block(self, picture: Picture, shot: Shot) -> None:
        view, width, height = shot.view, shot.target.width, shot.target.height
        projection = view.projection_matrix()
        focal = float(projection[1, 1])
        projection[0, 0] = focal * height / width
        projection[1] *= -1.0  # top line first
        clip = projection @ view.view_matrix()
        spot = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, -1.0, 0.0]
        if picture.lamp is not None:
            ahead = picture.lamp[:3, 2]
            spot[:3] = (picture.lamp[:3, 3] + 0.008 * ahead).tolist()
            spot[3] = 0.55
            spot[4:7] = ahead.tolist()
        self._frame_block.write(
            _FRAME_WORDS.pack(
                *clip.T.ravel().tolist(),
                *view.position.tolist(),
                0.0,
                *spot,
                *(_NATURAL if shot.natural else _DRY),
                width,
                height,
                2.0 / (focal * height),
                0.0,
            )
        )

    def _draw_still(self, picture: Picture, shot: Shot) -> None:
        """Begin the target with all that stands still, kept or drawn anew."""
        target = shot.target
        seen = np.concatenate([shot.view.position, shot.view.axes.ravel()])
        view_key = seen.round(5).tobytes()
        lamp = np.zeros(1) if picture.lamp is None else picture.lamp
        places = picture.frames[picture.shadow_copy, :, :3, 3]
        # 4 mm and 0.2 degrees: below that no eye sees light or shadow move
        lit_by = np.concatenate([lamp.ravel(), places.ravel()])
        light_key = (250.0 * lit_by).round().tobytes()
        moved = view_key != target.kept_view
        dimmed = light_key != target.kept_light
        # new light is spread over two frames: the sand first, then the solids
        sand_due = moved or (dimmed and target.kept_for >= _LIGHT_FRAMES)
        solids_due = moved or target.solids_due
        if not moved:
            target.restore()
        if not (sand_due or solids_due):
            target.use()
            return
        new_shadow = sand_due and light_key != self._shadow_key
        if new_shadow and not (shot.natural and self._shadow_key):
            self._draw_shadow(picture)
            self._shadow_key = light_key
        target.use()
        if moved:
            self.context.clear(depth=1.0)
        if solids_due:
            if shot.view.may_see(*self._hull_ball):
                self._hull.render()
            self._site.render()
        if sand_due:
            near, far = zip(self._sand_textures, self._sand, strict=True)
            # lamp and shadow reach no farther than the near sand
            for texture, array in (near, far) if moved else (near,):
                texture.use(0)
                array.render()
            target.kept_view, target.kept_light = view_key, light_key
        if moved:
            self._draw_backdrop(shot.view, target)
        target.solids_due = sand_due and not solids_due
        target.keep()
        target.use()

    def _draw_shadow(self, picture: Picture) -> None:
        context = self.context
        context.disable(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
        first, second = self._shadow_frames
        first.use()
        first.clear(1.0, 1.0, 1.0, 1.0)
        program = self._programs["shadow_limb"]
        program["first_row"] = picture.shadow_copy * picture.frames.shape[1]
        self._hull_shadow.render()
        for array in self._shells["shadow_limb", picture.bare]:
            array.render()
        blur = self._programs["blur"]
        step = 0.8 / _SHADOW_SIZE
        for frame, texture, tap in (
            (second, self._shadows[0], (step, 0.0)),
            (first, self._shadows[1], (0.0, step * 1.4)),
        ):
            frame.use()
            texture.use(2)
            blur["tap"] = tap
            self._blur.render()
        self._shadows[0].use(2)
        context.enable(moderngl.DEPTH_TEST | moderngl.CULL_FACE)

    def _draw_backdrop(self, view: View, target: Target) -> None:
        focal = float(view.projection_matrix()[1, 1])
        across = view.axes[0] * (target.width / target.height / focal)
        down = -view.axes[1] / focal
        matrix = np.stack([across, down, view.axes[2]])
        self._programs["backdrop"]["place_to_hull"] = matrix.ravel().tolist()
        self.context.disable(moderngl.CULL_FACE)
        self._backdrop.render()
        self.context.enable(moderngl.CULL_FACE)

    def _draw_limbs(self, picture: Picture, natural: bool) -> None:
        context, rows = self.context, picture.frames.shape[1]
        solids = [look for look in picture.limbs if not look.ghost]
        solids.sort(key=lambda look: -look.opacity)
        program = self._programs["limb"]
        arrays = self._skins[picture.bare]
        context.blend_func = _OVER
        for look in solids:
            opaque = natural or look.opacity >= 1.0
            if not opaque:
                context.enable(moderngl.BLEND)
            program["first_row"] = look.copy * rows
            program["state"] = (
                look.saturation,
                look.brightness,
                1.0 if opaque else look.opacity,
                look.highlight,
            )
            arrays[look.limb].render()
        context.enable(moderngl.BLEND)
        if not natural:
            for look in solids:
                self._draw_outline(picture, look, 0.0)

    def _draw_things(self, picture: Picture, shot: Shot, *, solid: bool) -> None:
        """Draw the solid things, or those that are seen through, farthest first."""
        looks = [look for look in picture.things if (look.opacity >= 1.0) == solid]
        if not looks:
            return
        eye = np.asarray(shot.view.position)
        looks.sort(key=lambda look: -float(np.linalg.norm(look.pose[:3, 3] - eye)))
        if not solid:
            self.context.enable(moderngl.BLEND)
            self.context.blend_func = _OVER
            self._write_depth(False)
        program = self._programs["thing"]
        for look in looks:
            program["thing_to_hull"] = look.pose.T.ravel().tolist()
            program["tone"] = (*look.tone, look.opacity)
            self._things[look.thing].render()
        self._write_depth(True)

    def _draw_ghosts(self, picture: Picture) -> None:
        rows = picture.frames.shape[1]
        program = self._programs["ghost"]
        inflate = 0.0012  # clear of a solid that lies in the same place
        for look in picture.limbs:
            if not look.ghost:
                continue
            if look.opacity > 0.0 or look.edge > 0.0:
                program["first_row"] = look.copy * rows
                program["inflate"] = inflate
                program["swell"] = (0.0, 1.0, 0.0)
                program["tone"] = (*look.tone[:3], look.opacity)
                program["edge"] = look.edge
                program["other_row"] = -1 if look.beside is None else look.beside * rows
                self._shells["ghost", picture.bare][look.limb].render()
            self._draw_outline(picture, look, inflate)
        self._draw_tubes(picture, inflate)

    def _draw_tubes(self, picture: Picture, inflate: float) -> None:
        """Draw the tubes about ghosts: seen through, they hide nothing."""
        program = self._programs["ghost"]
        self._write_depth(False)
        for look in picture.limbs:
            if look.tube is None:
                continue
            program["first_row"] = look.copy * picture.frames.shape[1]
            program["inflate"] = inflate
            program["swell"] = look.tube
            program["tone"] = (*look.tone[:3], _TUBE_FACING)
            program["edge"] = _TUBE_RIM
            program["other_row"] = -1
            self._shells["ghost", picture.bare][look.limb].render()
        self._write_depth(True)

    def _draw_outline(self, picture: Picture, look: LimbLook, inflate: float) -> None:
        """Draw the inside of a slightly larger limb: what shows past it is a line."""
        if look.outline <= 0.0:
            return
        program, rows = self._programs["outline"], picture.frames.shape[1]
        program["first_row"] = look.copy * rows
        program["inflate"] = inflate
        program["other_row"] = -1 if look.beside is None else look.beside * rows
        program["width"] = look.outline
        program["tone"] = look.tone
        self.context.cull_face = "front"
        self._shells["outline", picture.bare][look.limb].render()
        self.context.cull_face = "back"

    def _draw_beam(self, picture: Picture) -> None:
        if picture.lamp is None:
            return
        pose = picture.lamp.copy()
        pose[:3, 3] += 0.010 * pose[:3, 2]
        pose[:3, :3] *= _BEAM_LENGTH
        self._programs["beam"]["lamp_to_hull"] = pose.T.ravel().tolist()
        context = self.context
        context.enable(moderngl.BLEND)
        context.blend_func = _ADD
        self._write_depth(False)
        self._beam.render()
        self._write_depth(True)
        context.blend_func = _OVER

    def _draw_lines(self, picture: Picture) -> None:
        count = picture.lines.shape[0]
        if not count:
            return
        context = self.context
        context.enable_only(moderngl.DEPTH_TEST | moderngl.BLEND)
        self._write_depth(False)
        for strength, depth_func in ((1.0, "<="), (0.22, ">")):  # seen, and behind
            self._programs["line"]["strength"] = strength
            context.depth_func = depth_func
            self._line_array.render(vertices=6, instances=count)
        context.depth_func = "<="
        self._write_depth(True)

    def _write_depth(self, wanted: bool) -> None:
        self.context.fbo.depth_mask = wanted


def _ball_around(mesh: Mesh) -> tuple[FloatArray, float]:
    """Centre and radius of a sphere that holds a mesh [m]."""
    middle = 0.5 * (mesh.position.min(axis=0) + mesh.position.max(axis=0))
    reach = np.linalg.norm(mesh.position - middle, axis=1).max()
    return middle, float(reach)
