#!/usr/bin/env python3
"""Draw the pictures of assets/images from the scene itself.

An example of the scene's public interface: load a robot, say what to draw in a
SceneFrame, choose a camera, take an array. Needs no window and no display.

    .venv/bin/python scripts/make_assets.py [FOLDER]
"""

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from app.config.robot import build_robot_model, load_robot  # noqa: E402
from app.scene import OrbitCamera, Scene, SceneFrame  # noqa: E402
from app.scene.png import write_png  # noqa: E402

WIDTH, HEIGHT = 1280, 720
FRAME_NS = 40_000_000


def main(folder: Path) -> None:
    """Draw every picture into `folder`."""
    robot = load_robot("ursula")
    model = build_robot_model(robot)
    confirmed = model.rest_coordinates.copy()
    confirmed[0:2] = (0.10, 0.30, 0.0), (0.45, 0.25, 0.0)  # grasper
    confirmed[2:4] = (0.45, -0.25, 0.0), (0.20, 0.10, 0.0)  # palpation
    confirmed[4] = -0.45, 0.10, -0.004  # camera looks down at the work
    confirmed[5] = -0.75, 0.15, -0.004  # light
    ahead = confirmed.copy()
    ahead[0:2] = (-0.15, 0.65, 0.0), (-0.05, 0.60, 0.0)

    with Scene(robot, model, WIDTH, HEIGHT) as scene:
        camera = OrbitCamera(WIDTH, HEIGHT)
        still = SceneFrame(
            time_ns=0,
            coordinates_model=confirmed,
            coordinates_confirmed=confirmed,
            selected_limb=0,
        )
        scene.update(replace(still, coordinates_model=ahead))
        target = scene.world.tip_poses("model")[0, :3, 3]
        driven = replace(still, target=target, driving=True)

        def drive(look: SceneFrame) -> None:
            """Let the model run ahead of the robot, so that it leaves a trail."""
            for k in range(26):
                share = 0.7 * k / 25
                pose = confirmed + share * (ahead - confirmed)
                scene.update(
                    replace(look, time_ns=(k + 1) * FRAME_NS, coordinates_model=pose)
                )

        def overview() -> NDArray[np.uint8]:
            scene.update(still)
            camera.reset()
            camera.orbit(-260, 30)
            camera.focus = np.array([-0.25, 0.0, -0.05])
            camera.zoom(-1.5)
            return scene.image(camera)

        def three_poses() -> NDArray[np.uint8]:
            drive(driven)
            camera.reset()
            camera.zoom(2)
            return scene.image(camera)

        def sections() -> NDArray[np.uint8]:
            drive(replace(driven, skin=False))
            camera.view("side")
            camera.zoom(3)
            return scene.image(camera)

        def limb_camera() -> NDArray[np.uint8]:
            scene.update(still)
            return scene.inset(640, 420)

        pictures: dict[str, Callable[[], NDArray[np.uint8]]] = {
            "overview": overview,
            "three-poses": three_poses,
            "sections": sections,
            "limb-camera": limb_camera,
        }
        folder.mkdir(parents=True, exist_ok=True)
        for name, draw in pictures.items():
            path = folder / f"{name}.png"
            write_png(path, draw())
            print(path)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "assets" / "images")
