"""The scene as one thing: give it a SceneFrame, take a picture from it."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from app.clock import NS_PER_MS
from app.config.robot import RobotParameters
from app.config.scene_world import SceneWorld
from app.scene import marks
from app.scene.cameras import LimbView, OrbitCamera
from app.scene.hulls import robot_mesh
from app.scene.marks import GoalMark
from app.scene.picture import LINE_FLOATS, Bodies, LimbLook, Picture, Shot
from app.scene.renderer import Renderer
from app.scene.site import Ground, far_rocks_mesh, seabed_mesh, site_mesh
from app.scene.skin import section_meshes, shell_meshes, skin_meshes
from app.scene.things import SurfaceMark, ThingLooks, as_obstacle
from app.scene.world import World
from models.numerics import FloatArray
from models.robot import RobotModel

__all__ = ["Scene", "SceneFrame"]

_FRESH_S = 0.3  # a confirmed pose younger than this is drawn in full colour
_STALE_S = 6.0  # and older than this as faded as it gets
_TRAIL_STEP_NS = 40 * NS_PER_MS
_TRAIL_POINTS = 75  # 3 s
_TRAIL_BREAK_NS = 1000 * NS_PER_MS  # after such a jump a trail begins anew
_RUNNING_NS = 60 * NS_PER_MS  # frames closer than this are a moving picture
_TOGETHER_M = 0.001  # a ghost nearer than this everywhere is not drawn
_AHEAD_M = 0.06  # from a tip to what its gripper holds
_SIGHT_M = 6.0
_LEAST_TUBE_M = 2e-3
_WIDEST_TUBE_M = 0.5
_MODEL, _CONFIRMED = 0, 1


@dataclass(frozen=True, eq=False)
class SceneFrame:
    """What to draw.

    Attributes:
        time_ns: now [ns].
        coordinates_model: (S, 3) of the local model [rad, rad, m].
        coordinates_confirmed: (S, 3) as the robot last measured; None before its first
            telemetry.
        confirmed_age_s: (L,) age of each limb's confirmed pose [s].
        target: (3,) the operator's tip target for the selected limb [m], hull frame;
            None draws none.
        selected_limb: index of the limb the operator has.
        driving: the operator moves the target now (armed, deadman held).
        reached: False where the target is out of the limb's reach.
        skin: smooth skin; False shows the bare RRP sections.
        trail: draw where the model's tip has been.
        ghosts: draw the local model beside the confirmed robot.
        object_poses: (B, 4, 4) of the scene's objects [m], hull frame; None, or rows
            that are not finite: where they were.
        obstacle_poses: (K, 4, 4) of its obstacles, likewise.
        surfaces: what the station has learned to be touchable.
        tube: (L,) how far the robot's tips may be from the model's [m]; drawn where it
            is more than 2 mm, None: nowhere.
        goal: what a limb is to reach; None: nothing.
        aim: (3,) the place that is marked [m], hull frame; None: none.
        guide: what a participant is to do; None: nothing.
    """

    time_ns: int
    coordinates_model: FloatArray
    coordinates_confirmed: FloatArray | None = None
    confirmed_age_s: FloatArray | None = None
    target: FloatArray | None = None
    selected_limb: int = 0
    driving: bool = False
    reached: bool = True
    skin: bool = True
    trail: bool = True
    ghosts: bool = True
    object_poses: FloatArray | None = None
    obstacle_poses: FloatArray | None = None
    surfaces: Sequence[SurfaceMark] = ()
    tube: FloatArray | None = None
    goal: GoalMark | None = None
    aim: FloatArray | None = None
    guide: marks.GuideMark | None = None


class Scene:
    """World and renderer of one robot. One thread uses it."""

    def __init__(
        self,
        robot: RobotParameters,
        model: RobotModel,
        width: int = 1280,
        height: int = 720,
        around: SceneWorld | None = None,
    ) -> None:
        """Build the bodies and open the graphics.

        Args:
            robot: its parameters.
            model: the same robot's model.
            width: of the picture [px].
            height: of the picture [px].
            around: what is about the robot, in place of the site of every day.

        Raises:
            DeviceError: no OpenGL, or PyBullet cannot start.
        """
        self._robot = robot
        self._model = model
        self._ground = Ground.under(robot)
        obstacles = () if around is None else around.obstacles
        objects = () if around is None else around.objects
        self._looks_of_things = ThingLooks(obstacles, objects)
        self.object_names = tuple(item.name for item in objects)
        """Of the movable objects, in the order of their poses."""
        self._obstacle_poses = np.array([item.pose for item in obstacles])
        self._obstacle_poses = self._obstacle_poses.reshape(-1, 4, 4)
        self.world = World(
            robot,
            model,
            None if around is None else [as_obstacle(item) for item in obstacles],
            [as_obstacle(item) for item in objects],
        )
        try:
            self.renderer = Renderer(
                _bodies(robot, model, self.world, self._looks_of_things, around)
            )
        except BaseException:
            self.world.close()
            raise
        self._samples = 1 if self.renderer.software else 4
        self._main = self.renderer.target(width, height, self._samples)
        self._inset = self.renderer.target(320, 240, self._samples)
        roles = [limb.role for limb in robot.limbs]
        self.camera_limb = roles.index("camera") if "camera" in roles else 0
        self.light_limb = roles.index("light") if "light" in roles else None
        self._limb_view = LimbView()
        self._trail: deque[FloatArray] = deque(maxlen=_TRAIL_POINTS)
        self._trail_limb = -1
        self._trail_ns = 0
        self._frame = SceneFrame(0, model.rest_coordinates)
        self._turn = 0
        self._frames = np.zeros((2, 1, 4, 4))
        self.update(self._frame)

    def __enter__(self) -> "Scene":
        """Return self."""
        return self

    def __exit__(self, *_: object) -> None:
        """Give graphics and bodies back."""
        self.close()

    def close(self) -> None:
        """Give graphics and bodies back; safe to call again."""
        self.renderer.close()
        self.world.close()

    def resize(self, width: int, height: int) -> None:
        """Change the size of `image`'s picture [px]; cheap where it is the same."""
        self._main.resize(width, height)

    def update(self, frame: SceneFrame) -> None:
        """Pose everything for a frame.

        Args:
            frame: what to draw from now on.
        """
        since_ns = frame.time_ns - self._frame.time_ns
        self._since_ns = since_ns
        self._frame = frame
        self.world.pose("model", frame.coordinates_model)
        if frame.coordinates_confirmed is not None:
            self.world.pose(
                "confirmed",
                frame.coordinates_confirmed,
                self._due_limbs(frame) if 0 < since_ns < _RUNNING_NS else None,
            )
        if frame.object_poses is not None:
            self.world.pose_objects(frame.object_poses)
        if frame.obstacle_poses is not None:
            self._obstacle_poses = frame.obstacle_poses
        kind = self.world.skin_frames if frame.skin else self.world.link_frames
        self._frames = np.stack([kind("model"), kind("confirmed")]).reshape(2, -1, 4, 4)
        self._extend_trail(frame)

    def _due_limbs(self, frame: SceneFrame) -> set[int]:
        """Limbs whose confirmed pose is renewed: the selected, and another in turn.

        Sensor noise moves every limb in every frame; to pose all costs 2 ms of 20.
        """
        self._turn = (self._turn + 1) % len(self._robot.limbs)
        return {frame.selected_limb, self._turn}

    def image(self, camera: OrbitCamera) -> NDArray[np.uint8]:
        """Draw the scene.

        Args:
            camera: the viewpoint.

        Returns:
            (height, width, 4) blue, green, red, 255 from the top line down, as a
            QImage of Format_RGB32 takes it. The array is used again by the next call.
        """
        return self.renderer.draw(self._picture(camera), Shot(camera, self._main))

    def place_under(
        self, camera: OrbitCamera, x: float, y: float, near: FloatArray
    ) -> tuple[FloatArray, int]:
        """Find the place that a pixel shows.

        Args:
            camera: the viewpoint.
            x: [px] from the left edge.
            y: [px] from the top edge.
            near: (3,) a place whose depth is taken where nothing is hit [m].

        Returns:
            (3,) on an obstacle or object, else in the picture's plane through `near`
            [m], hull frame; and the object's index, -1 = none.
        """
        start, along = camera.ray(x, y)
        hit = self.world.hit(start, start + _SIGHT_M * along)
        if hit is not None:
            return hit[1], hit[0]
        return camera.point_at(x, y, near), -1

    @property
    def objects(self) -> FloatArray:
        """(B, 4, 4) poses of the objects as they are drawn [m], hull frame."""
        return self.world.object_poses()

    @property
    def redrew(self) -> bool:
        """Whether the last `image` drew what stands still as well, and so took long."""
        return self._main.kept_for == 0

    def inset(self, width: int, height: int) -> NDArray[np.uint8]:
        """Draw what the camera limb sees, by the light limb's lamp.

        Args:
            width: [px].
            height: [px].

        Returns:
            (height, width, 4) as `image` gives; used again by the next call.
        """
        self._inset.resize(width, height)
        pose = self._tips()[self.camera_limb]
        view = self._limb_view.place(pose, width, height)
        return self.renderer.draw(
            self._picture(None), Shot(view, self._inset, natural=True)
        )

    def _tips(self) -> FloatArray:
        """Tips of the pose that is nearest the truth."""
        known = self._frame.coordinates_confirmed is not None
        return self.world.tip_poses("confirmed" if known else "model")

    def _extend_trail(self, frame: SceneFrame) -> None:
        since_ns = frame.time_ns - self._trail_ns
        begun_again = not 0 <= since_ns <= _TRAIL_BREAK_NS
        if frame.selected_limb != self._trail_limb or begun_again:
            self._trail.clear()
            self._trail_limb = frame.selected_limb
            self._trail_ns = 0
        if frame.time_ns - self._trail_ns >= _TRAIL_STEP_NS:
            self._trail_ns = frame.time_ns
            tip = self.world.tip_poses("model")[frame.selected_limb, :3, 3].copy()
            self._trail.append(tip)

    def _picture(self, camera: OrbitCamera | None) -> Picture:
        frame = self._frame
        known = frame.coordinates_confirmed is not None
        lamp = None if self.light_limb is None else self._tips()[self.light_limb]
        return Picture(
            frames=self._frames,
            bare=not frame.skin,
            limbs=self._looks(),
            lines=self._lines(camera),
            lamp=lamp,
            shadow_copy=_CONFIRMED if known else _MODEL,
            things=self._looks_of_things.looks(
                None if camera is None else camera.position,
                self._seen_points(_CONFIRMED if known else _MODEL),
                self._obstacle_poses,
                self.objects,
                frame.surfaces if camera is not None else (),
                at_once=not 0 < self._since_ns < _RUNNING_NS,
            ),
        )

    def _seen_points(self, copy: int) -> FloatArray:
        """(n, 3) what shall stay in sight: limbs, what tips hold, objects [m]."""
        tips = self._tips()
        return np.concatenate(
            [
                self._frames[copy, :, :3, 3],
                tips[:, :3, 3] + _AHEAD_M * tips[:, :3, 2],
                self.objects[:, :3, 3],
            ]
        )

    def _looks(self) -> list[LimbLook]:
        frame = self._frame
        looks = []
        limbs = len(self._robot.limbs)
        if frame.coordinates_confirmed is not None:
            ages = (
                np.zeros(limbs)
                if frame.confirmed_age_s is None
                else np.asarray(frame.confirmed_age_s, dtype=float)
            )
            old = np.clip((ages - _FRESH_S) / (_STALE_S - _FRESH_S), 0.0, 1.0) ** 0.6
            for limb in range(limbs):
                faded = float(old[limb])
                selected = limb == frame.selected_limb
                looks.append(
                    LimbLook(
                        limb,
                        _CONFIRMED,
                        saturation=1.0 - 0.85 * faded,
                        brightness=1.0 - 0.30 * faded,
                        opacity=1.0 - 0.30 * faded if faded > 0.2 else 1.0,
                        highlight=1.0 if selected else 0.0,
                        tone=(1.0, 1.0, 1.0, 0.9),
                        outline=1.6 if selected and frame.skin else 0.0,
                    )
                )
        if not frame.ghosts:
            return looks
        beside = None if frame.coordinates_confirmed is None else _CONFIRMED
        apart = self._apart()
        outlines = (2.0, 1.3) if frame.skin else (1.0, 0.0)  # selected, others
        for limb in range(limbs):
            selected = limb == frame.selected_limb
            looks.append(
                LimbLook(
                    limb,
                    _MODEL,
                    ghost=True,
                    tone=(*marks.MODEL_COLOR, 0.95 if selected else 0.75),
                    opacity=(0.24 if selected else 0.16) if apart[limb] else 0.0,
                    edge=0.80 if apart[limb] else 0.0,
                    outline=outlines[0] if selected else outlines[1],
                    beside=beside,
                    tube=self._tube(limb),
                )
            )
        return looks

    def _tube(self, limb: int) -> tuple[float, float, float] | None:
        """Rows of a limb's base and tip and the radius of the tube about the tip."""
        tube = self._frame.tube
        if tube is None or not tube[limb] > _LEAST_TUBE_M:
            return None
        starts = self._model.limb_segment_start
        rows = self._frames.shape[1] // int(starts[-1])
        radius = min(float(tube[limb]), _WIDEST_TUBE_M)
        return rows * float(starts[limb]), rows * float(starts[limb + 1]) - 1, radius

    def _apart(self) -> NDArray[np.bool_]:
        """(L,) whether a limb of the model has left the confirmed one anywhere."""
        starts = self._model.limb_segment_start
        if self._frame.coordinates_confirmed is None:
            return np.ones(starts.size - 1, dtype=bool)
        model, confirmed = self._frames[..., :3, 3]
        gap = np.abs(model - confirmed).max(axis=1)
        rows = gap.size // int(starts[-1])
        return np.maximum.reduceat(gap, starts[:-1] * rows) > _TOGETHER_M

    def _lines(self, camera: OrbitCamera | None) -> marks.Lines:
        frame = self._frame
        if camera is None:
            return np.zeros((0, LINE_FLOATS), dtype=np.float32)
        parts = []
        tip = self.world.tip_poses("model")[frame.selected_limb, :3, 3]
        if frame.trail and len(self._trail) > 1:
            points = np.stack([*self._trail, tip])
            parts.append(marks.trail(points, marks.MODEL_COLOR, 0.8))
        if frame.target is not None and np.isfinite(frame.target).all():
            target = np.asarray(frame.target, dtype=float)
            bright = 1.0 if frame.driving else 0.6
            size = max(0.022, 14.0 * camera.pixel_size(target))
            mark = marks.target_mark(
                target,
                camera.axes,
                size,
                bright,
                reached=frame.reached,
                ground=self._ground,
            )
            parts.append(mark)
            if float(np.linalg.norm(target - tip)) > 0.002:
                parts.append(marks.dashes(tip, target, marks.TARGET_COLOR, bright, 2.0))
        if frame.goal is not None:
            parts.append(marks.goal_mark(frame.goal, camera.axes, camera.pixel_size))
        if frame.aim is not None and np.isfinite(frame.aim).all():
            parts.append(marks.aim_mark(frame.aim, 12.0 * camera.pixel_size(frame.aim)))
        if frame.guide is not None:
            parts.append(marks.guide_mark(frame.guide, self._ground))
        if not parts:
            return np.zeros((0, LINE_FLOATS), dtype=np.float32)
        return np.concatenate(parts)


def _bodies(
    robot: RobotParameters,
    model: RobotModel,
    world: World,
    things: ThingLooks,
    around: SceneWorld | None,
) -> Bodies:
    ground = Ground.under(robot)
    near_sand, far_sand = seabed_mesh(ground)
    return Bodies(
        hull=robot_mesh(robot, world.leg_frames()),
        site=site_mesh(ground) if around is None else far_rocks_mesh(ground),
        near_sand=near_sand,
        far_sand=far_sand,
        skins=skin_meshes(robot, model),
        shells=shell_meshes(robot, model),
        bare=section_meshes(robot, model),
        things=things.meshes,
    )
