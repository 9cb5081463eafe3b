"""What is on the picture, by colour at the pixel where geometry says it must be."""

from dataclasses import replace
from typing import Any

import moderngl
import numpy as np
import pytest

from app.config.robot import RobotParameters
from app.errors import DeviceError
from app.scene import OrbitCamera, Scene, SceneFrame, target
from app.scene.marks import GoalMark, dashes, target_mark, trail
from app.scene.picture import LINE_FLOATS
from models.numerics import FloatArray
from models.robot import RobotModel

WIDTH, HEIGHT = 640, 360
NAVIGATION_LIGHT = np.array([-0.234, -0.1125, 0.0375])  # starboard: green


def frame_of(model: RobotModel, **changes: Any) -> SceneFrame:
    rest = model.rest_coordinates
    base = SceneFrame(
        time_ns=1_000_000_000,
        coordinates_model=rest,
        coordinates_confirmed=rest,
        confirmed_age_s=np.zeros(4),
        trail=False,
    )
    return replace(base, **changes)


def picture(scene: Scene, camera: OrbitCamera, frame: SceneFrame) -> FloatArray:
    """Red, green, blue 0..1, with the backdrop drawn anew."""
    scene.resize(WIDTH, HEIGHT)
    scene.update(frame)
    camera.orbit(500, 0)
    scene.image(camera)
    camera.orbit(-500, 0)
    return scene.image(camera)[..., 2::-1].astype(float) / 255.0


def around(image: FloatArray, camera: OrbitCamera, point: FloatArray) -> FloatArray:
    """(n, 3) colours of the pixels next to a point of the scene."""
    x, y, _ = camera.project(point)
    column, row = int(x), int(y)
    return image[row - 1 : row + 3, column - 1 : column + 3].reshape(-1, 3)


def middle_of_limb(scene: Scene, which: str, limb: int, segment: int) -> FloatArray:
    return scene.world.section_frames(which)[segment, 5, :3, 3]


@pytest.fixture
def camera() -> OrbitCamera:
    side = OrbitCamera(WIDTH, HEIGHT)
    side.view("side")
    return side


def test_array_is_what_a_qimage_takes(
    scene: Scene, camera: OrbitCamera, model: RobotModel
) -> None:
    scene.resize(WIDTH, HEIGHT)
    scene.update(frame_of(model))
    image = scene.image(camera)
    assert image.shape == (HEIGHT, WIDTH, 4)
    assert image.dtype == np.uint8
    assert image.flags.c_contiguous
    assert (image[..., 3] == 255).all()
    assert scene.image(camera) is image


def test_colors_and_pixels_are_where_the_camera_says(
    scene: Scene, model: RobotModel
) -> None:
    camera = OrbitCamera(WIDTH, HEIGHT)
    camera.view("side")
    camera.pan(140, 0)
    image = picture(scene, camera, frame_of(model))
    green = around(image, camera, NAVIGATION_LIGHT)
    assert (green[:, 1] > green[:, 0] + 0.3).any()  # red and blue are not swapped:
    camera.orbit(np.pi / 0.006, 0)  # from port
    image = picture(scene, camera, frame_of(model))
    red = around(image, camera, NAVIGATION_LIGHT * np.array([1, -1, 1]))
    assert (red[:, 0] > red[:, 2] + 0.3).any()
    assert image[:10].mean() != image[-10:].mean()  # water above, sand below


def test_confirmed_limb_has_its_colour_and_greys_with_age(
    scene: Scene, camera: OrbitCamera, model: RobotModel
) -> None:
    fresh = picture(scene, camera, frame_of(model))
    place = middle_of_limb(scene, "confirmed", 0, 0)
    skin = around(fresh, camera, place).mean(axis=0)
    assert skin[0] > 1.25 * skin[2]  # the grasper is orange
    stale = picture(scene, camera, frame_of(model, confirmed_age_s=np.full(4, 9.0)))
    old = around(stale, camera, place).mean(axis=0)

    def warmth(color: FloatArray) -> float:
        return float((color[0] - color[2]) / color.sum())

    assert warmth(old) < 0.3 * warmth(skin)


def test_ghost_shows_where_the_model_has_left_the_robot(
    scene: Scene, camera: OrbitCamera, model: RobotModel
) -> None:
    ahead = model.rest_coordinates.copy()
    ahead[0, :2] = 1.2, 0.0
    frame = frame_of(model, coordinates_model=ahead)
    image = picture(scene, camera, frame)
    tip = scene.world.tip_poses("model")[0, :3, 3]
    ghost = around(image, camera, tip).mean(axis=0)
    assert ghost[1] > ghost[0] + 0.1
    assert ghost[2] > ghost[0] + 0.1  # cyan
    together = picture(scene, camera, frame_of(model))
    before = around(together, camera, tip).mean(axis=0)
    assert np.abs(ghost - before).max() > 0.1
    # where both lie together no film hides the limb's own colour
    alone = picture(scene, camera, frame_of(model, coordinates_confirmed=None))
    place = middle_of_limb(scene, "model", 1, 2)
    skin = around(together, camera, middle_of_limb(scene, "confirmed", 0, 0))
    assert skin[:, 0].mean() > skin[:, 2].mean()
    assert not np.array_equal(alone, together)
    assert np.isfinite(place).all()


def test_the_tube_stands_about_the_limb_and_grows_towards_its_tip(
    scene: Scene, camera: OrbitCamera, model: RobotModel
) -> None:
    radius = 0.10
    plain = picture(scene, camera, frame_of(model))
    tube = np.array([radius, 0.0, 0.0, 0.0])
    image = picture(scene, camera, frame_of(model, tube=tube))
    changed = np.abs(image - plain).max(axis=2) > 0.02
    tip = scene.world.tip_poses("model")[0, :3, 3]
    x, y, _ = camera.project(tip)
    reach = radius / camera.pixel_size(tip)
    rows, columns = np.nonzero(changed)
    assert np.hypot(columns - x, rows - y).min() < 0.3 * reach
    near = np.abs(columns - x) < 0.4 * reach
    assert 1.4 * reach < np.ptp(rows[near]) < 2.8 * reach
    base = middle_of_limb(scene, "model", 0, 0)
    u, v, _ = camera.project(base)
    at_base = np.abs(columns - u) < 6
    if at_base.any():
        assert np.abs(rows[at_base] - v).max() < 0.7 * reach
    thin = picture(scene, camera, frame_of(model, tube=np.full(4, 1e-3)))
    assert np.array_equal(thin, plain), "a tube as thin as noise is not drawn"


@pytest.mark.parametrize("along", [None, np.array([0.0, 0.0, -1.0])])
@pytest.mark.parametrize("outcome", [0, 1, 2])
def test_goal_mark_is_where_it_goes_in_the_colour_of_its_outcome(
    scene: Scene,
    camera: OrbitCamera,
    model: RobotModel,
    along: FloatArray | None,
    outcome: int,
) -> None:
    scene.update(frame_of(model))
    tip = scene.world.tip_poses("model")[0, :3, 3]
    place = tip + np.array([0.0, 0.0, 0.25])
    mark = GoalMark(place, tip[None], along, 0.02, outcome)
    plain = picture(scene, camera, frame_of(model))
    image = picture(scene, camera, frame_of(model, goal=mark, aim=place + 0.1))
    x, y, _ = camera.project(place)
    changed = np.abs(image - plain).max(axis=2) > 0.15
    rows, columns = np.nonzero(changed)
    near = np.hypot(columns - x, rows - y) < 22
    marked = image[rows[near], columns[near]].mean(axis=0)
    assert near.sum() > 20
    strongest = int(np.argmax(marked))
    assert strongest == (1 if outcome == 1 else 0)


def test_a_click_finds_the_thing_or_the_depth_of_the_tip(
    scene: Scene, camera: OrbitCamera, model: RobotModel
) -> None:
    scene.update(frame_of(model))
    rock = scene.world.obstacles[0]
    x, y, _ = camera.project(rock.pose[:3, 3])
    place, item = scene.place_under(camera, x, y, np.zeros(3))
    assert item == -1
    assert np.linalg.norm(place - rock.pose[:3, 3]) < 1.0
    near = np.array([0.3, 0.0, 0.6])
    x, y, _ = camera.project(near)
    place, item = scene.place_under(camera, x, y, near)
    assert place == pytest.approx(near, abs=5e-3)


def test_target_mark_and_its_line_are_magenta(
    scene: Scene, camera: OrbitCamera, model: RobotModel
) -> None:
    scene.update(frame_of(model))
    tip = scene.world.tip_poses("model")[0, :3, 3]
    goal = tip + np.array([0.05, 0.0, 0.25])
    image = picture(scene, camera, frame_of(model, target=goal, driving=True))
    plain = picture(scene, camera, frame_of(model))
    changed = np.abs(image - plain).max(axis=2) > 0.15
    marked = image[changed]
    magenta = (marked[:, 0] > marked[:, 1] + 0.2) & (marked[:, 2] > marked[:, 1])
    assert magenta.sum() > 60
    rows, columns = np.nonzero(changed)
    x, y, _ = camera.project(goal)
    assert abs(columns[rows < y + 5].mean() - x) < 4
    assert rows.min() == pytest.approx(y - 22, abs=8)


def test_selected_limb_stands_out(
    scene: Scene, camera: OrbitCamera, model: RobotModel
) -> None:
    pictures = [
        picture(scene, camera, frame_of(model, selected_limb=limb)) for limb in (0, 2)
    ]
    for limb, segment, (mine, other) in ((0, 0, pictures), (2, 4, pictures[::-1])):
        place = middle_of_limb(scene, "confirmed", limb, segment)
        chosen = around(mine, camera, place).mean()
        assert chosen > around(other, camera, place).mean() + 0.01
        white = (mine.min(axis=2) > 0.75) & (other.min(axis=2) < 0.6)
        assert white.sum() > 50  # its outline


def test_bare_sections_in_place_of_skin(
    scene: Scene, camera: OrbitCamera, model: RobotModel
) -> None:
    smooth = picture(scene, camera, frame_of(model))
    bare = picture(scene, camera, frame_of(model, skin=False))
    differs = np.abs(smooth - bare).max(axis=2) > 0.1
    assert 500 < differs.sum() < 0.2 * differs.size


def test_a_kept_backdrop_equals_a_new_one(
    scene: Scene, camera: OrbitCamera, model: RobotModel
) -> None:
    bent = model.rest_coordinates.copy()
    bent[:, 1] += 0.5
    new = picture(scene, camera, frame_of(model, coordinates_confirmed=bent))
    picture(scene, camera, frame_of(model))
    scene.update(frame_of(model, coordinates_confirmed=bent))
    for _ in range(15):  # longer than light and shadow may lag
        image = scene.image(camera)
    np.testing.assert_array_equal(image[..., 2::-1].astype(float) / 255.0, new)


def test_lamp_lights_what_it_points_at(
    scene: Scene, camera: OrbitCamera, model: RobotModel
) -> None:
    camera.view("top")
    down = model.rest_coordinates.copy()
    down[5] = -1.2, -0.7, 0.0
    scene.update(frame_of(model, coordinates_confirmed=down))
    lamp = scene.world.tip_poses("confirmed")[3]
    reach = (-0.62 - lamp[2, 3]) / lamp[2, 2]
    spot = lamp[:3, 3] + reach * lamp[:3, 2]
    lit = picture(scene, camera, frame_of(model, coordinates_confirmed=down))
    dark = picture(scene, camera, frame_of(model))
    there = around(lit, camera, spot).mean()
    assert there > around(dark, camera, spot).mean() + 0.1


def test_inset_follows_the_camera_limb_and_the_lamp(
    scene: Scene, model: RobotModel
) -> None:
    down = model.rest_coordinates.copy()
    down[4] = -1.2, 0.0, 0.0
    scene.update(frame_of(model, coordinates_confirmed=down))
    without = scene.inset(160, 120).copy()
    assert without.shape == (120, 160, 4)
    down = down.copy()
    down[5] = -1.2, 0.35, 0.0
    scene.update(frame_of(model, coordinates_confirmed=down))
    for _ in range(12):
        lit = scene.inset(160, 120)
    assert (lit.astype(int) - without).max() > 40
    assert scene.inset(200, 100).shape == (100, 200, 4)


def test_resize_changes_the_array(
    scene: Scene, camera: OrbitCamera, model: RobotModel
) -> None:
    scene.update(frame_of(model))
    scene.resize(321, 123)
    assert scene.image(camera).shape == (123, 321, 4)
    scene.resize(0, 0)
    assert scene.image(camera).shape == (1, 1, 4)


def test_two_scenes_do_not_mix(
    robot: RobotParameters, model: RobotModel, scene: Scene, camera: OrbitCamera
) -> None:
    before = picture(scene, camera, frame_of(model))
    with Scene(robot, model, 64, 48) as other:
        assert other.image(camera).shape == (48, 64, 4)
        np.testing.assert_array_equal(picture(scene, camera, frame_of(model)), before)
    np.testing.assert_array_equal(picture(scene, camera, frame_of(model)), before)
    other.close()


def test_odd_numbers_do_no_harm(
    scene: Scene, camera: OrbitCamera, model: RobotModel
) -> None:
    broken = np.full_like(model.rest_coordinates, np.nan)
    frame = frame_of(
        model,
        coordinates_model=broken,
        coordinates_confirmed=broken,
        target=np.array([np.nan, 0.0, 0.0]),
        confirmed_age_s=np.full(4, np.inf),
    )
    assert picture(scene, camera, frame).std() > 0.01


def test_without_opengl_the_cure_is_told(
    robot: RobotParameters, model: RobotModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_: object) -> None:
        raise Exception("no display")  # noqa: TRY002  as glcontext does

    monkeypatch.setattr(moderngl, "create_context", refuse)
    with pytest.raises(DeviceError, match=r"(?s)no display.*apt-get install"):
        target.open_context()
    with pytest.raises(DeviceError):
        Scene(robot, model)


def test_marks_have_the_length_they_should() -> None:
    start, stop = np.zeros(3), np.array([0.3, 0.0, 0.0])
    rows = dashes(start, stop, (1.0, 0.0, 0.0), 1.0, 2.0, pitch=0.02)
    assert rows.shape == (15, LINE_FLOATS)
    assert rows[:, 3].max() < 0.3
    assert dashes(start, start, (1.0, 0.0, 0.0), 1.0, 2.0).shape == (1, LINE_FLOATS)
    whole = target_mark(stop, np.eye(3), 0.02, 1.0)
    broken = target_mark(stop, np.eye(3), 0.02, 1.0, reached=False)
    assert len(whole) - len(broken) == 20
    assert trail(np.zeros((1, 3)), (1.0, 1.0, 1.0), 1.0).shape == (0, LINE_FLOATS)
    faded = trail(np.random.default_rng(0).normal(size=(9, 3)), (1.0, 1.0, 1.0), 0.8)
    assert (np.diff(faded[:, 9]) > 0).all()
    assert faded[-1, 13] == pytest.approx(0.8)
