"""A scene is drawn: limbs are seen through obstacles, surfaces show their age."""

from collections.abc import Iterator

import numpy as np
import pytest

from app.config.robot import RobotParameters
from app.config.scene import load_scene
from app.config.scene_world import SceneWorld, Solid, build_scene_world
from app.scene.cameras import OrbitCamera
from app.scene.meshes import Mesh
from app.scene.scene import Scene, SceneFrame
from app.scene.things import (
    SurfaceMark,
    ThingLooks,
    age_color,
    as_obstacle,
    surface_mesh,
    thing_mesh,
)
from models.contact_law import ContactLaw
from models.robot import RobotModel


def solid(kind: str, size: tuple[float, ...], place: tuple[float, ...]) -> Solid:
    pose = np.eye(4)
    pose[:3, 3] = place
    return Solid(kind, kind, pose, np.array(size), ContactLaw(), "#8f9aa3")


@pytest.fixture(scope="module")
def around(robot: RobotParameters, model: RobotModel) -> SceneWorld:
    return build_scene_world(load_scene("grasp"), robot, model)


@pytest.fixture(scope="module")
def drawn(
    robot: RobotParameters, model: RobotModel, around: SceneWorld
) -> Iterator[Scene]:
    with Scene(robot, model, 320, 200, around) as scene:
        yield scene


def frame(model: RobotModel, time_ns: int = 0, **more: object) -> SceneFrame:
    rest = model.rest_coordinates
    return SceneFrame(
        time_ns=time_ns,
        coordinates_model=rest,
        coordinates_confirmed=rest,
        trail=False,
        ghosts=False,
        **more,  # type: ignore[arg-type]
    )


def camera(focus: tuple[float, float, float]) -> OrbitCamera:
    view = OrbitCamera(320, 200, focus, 0.6)
    view.orbit(0.0, 0.0)
    return view


@pytest.mark.parametrize(
    ("kind", "size"),
    [("sphere", (0.02,)), ("cylinder", (0.02, 0.05)), ("box", (0.02, 0.03, 0.04)),
     ("plane", ())],
)  # fmt: skip
def test_a_mesh_is_the_shape_that_is_touched(
    kind: str, size: tuple[float, ...]
) -> None:
    item = solid(kind, size, (0.0, 0.0, 0.0))
    mesh = thing_mesh(item)
    reach = np.abs(mesh.position).max(axis=0)
    if kind == "plane":
        assert mesh.position[:, 2].max() == 0.0
    else:
        half = {"sphere": [0.02] * 3, "cylinder": [0.02, 0.02, 0.05]}.get(kind, size)
        assert reach == pytest.approx(half, rel=0.02)
    assert np.linalg.norm(mesh.normal, axis=1) == pytest.approx(1.0)
    _winds_outwards(mesh)
    near = as_obstacle(item)
    assert near.kind == {"plane": "box"}.get(kind, kind)


def _winds_outwards(mesh: Mesh) -> None:
    corner = mesh.position[mesh.triangles]
    face = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    normal = mesh.normal[mesh.triangles].mean(axis=1)
    real = np.linalg.norm(face, axis=1) > 1e-12
    assert np.all(np.einsum("ij,ij->i", face, normal)[real] >= -1e-12)


def test_what_is_between_eye_and_limb_is_seen_through() -> None:
    walls = [
        solid("box", (0.01, 0.5, 0.5), (x, 0.0, 0.0))._replace(name=f"wall {x}")
        for x in (0.5, 1.5)
    ]
    looks = ThingLooks(walls, [])
    points = np.array([[1.0, 0.0, 0.0]])
    poses = np.array([item.pose for item in walls])
    eye = np.zeros(3)
    assert looks.hides(eye, points, poses).tolist() == [True, False]
    aside = np.array([[1.0, 2.0, 0.0]])
    assert looks.hides(eye, aside, poses).tolist() == [False, False]
    none = np.zeros((0, 4, 4))
    at_once = looks.looks(eye, points, poses, none, (), at_once=True)
    assert at_once[0].opacity < 0.5
    assert at_once[1].opacity == 1.0
    fading = [looks.looks(eye, aside, poses, none, ())[0].opacity for _ in range(30)]
    assert fading == sorted(fading)
    assert fading[0] < 0.6 < fading[-1] == 1.0


def test_what_has_one_name_fades_as_one() -> None:
    walls = [
        solid("box", (0.01, 0.1, 0.1), (0.5, y, 0.0))._replace(name="basket")
        for y in (0.0, 1.0)
    ]
    looks = ThingLooks(walls, [])
    poses = np.array([item.pose for item in walls])
    assert looks.hides(np.zeros(3), np.array([[1.0, 0.0, 0.0]]), poses).all()


def test_an_object_is_drawn_where_it_is(
    drawn: Scene, model: RobotModel, around: SceneWorld
) -> None:
    start = around.objects[0].pose
    view = camera(tuple(start[:3, 3].tolist()))
    drawn.update(frame(model))
    before = drawn.image(view).copy()
    moved = start.copy()
    moved[:3, 3] += (0.0, 0.0, 0.08)
    drawn.update(frame(model, 10**9, object_poses=moved[None]))
    assert drawn.world.object_poses()[0] == pytest.approx(moved, abs=1e-6)
    after = drawn.image(view).copy()
    red = [int((image[..., 2] > image[..., 1] + 40).sum()) for image in (before, after)]
    assert min(red) > 30
    assert np.abs(before.astype(int) - after).max() > 60
    lost = np.full((1, 4, 4), np.nan)
    drawn.update(frame(model, 2 * 10**9, object_poses=lost))
    assert drawn.world.object_poses()[0] == pytest.approx(moved, abs=1e-6)


def test_a_learned_surface_is_a_disc_coloured_by_its_age(
    drawn: Scene, model: RobotModel
) -> None:
    place = np.array([0.35, 0.35, 0.1])
    view = camera(tuple(place.tolist()))
    images = []
    for age in (0.0, 40.0):
        mark = SurfaceMark(place, np.array([0.2, -0.4, 1.0]), age)
        drawn.update(frame(model, 3 * 10**9, surfaces=[mark]))
        images.append(drawn.image(view).astype(int))
    drawn.update(frame(model, 4 * 10**9))
    empty = drawn.image(view).astype(int)
    disc = np.abs(images[0] - empty).max(axis=2) > 20
    assert disc.sum() > 300
    green = [image[disc][:, 1] - image[disc][:, 2] for image in images]
    assert green[0].mean() > 40 > green[1].mean() + 20
    assert age_color(0.0)[1] > 0.9
    assert age_color(1e6) == pytest.approx((0.4, 0.4, 0.4))
    _winds_outwards(surface_mesh())


def test_limbs_are_kept_clear_of_the_scene_in_place_of_the_site(
    drawn: Scene, around: SceneWorld
) -> None:
    names = {item.name for item in drawn.world.obstacles}
    assert names == {"table", "basket"} == {item.name for item in around.obstacles}
