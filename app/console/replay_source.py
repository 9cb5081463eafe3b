"""Everything that a window needs to show one recording."""

import tempfile
from collections.abc import Callable
from pathlib import Path

from app.config.robot import build_robot_model, load_robot
from app.config.scene import load_scene
from app.config.scene_world import build_scene_world
from app.console.replay_readings import ReplayReadings
from app.errors import ConfigError, LogError
from app.scene import Scene
from app.session import Player
from app.session.timeline import build_timeline
from models.robot import RobotModel

__all__ = ["ReplaySource"]


class ReplaySource:
    """One recording, its robot as it was recorded, and the readings of a moment.

    Attributes:
        path: the file.
        player: access to the recording.
        robot, model: of the robot, from the file that the recording carries.
        timeline: what happened when.
        readings: what the console knew at the moment that was sought last.
    """

    def __init__(
        self, path: Path, tell: Callable[[int, int], object] | None = None
    ) -> None:
        """Open a recording.

        Args:
            path: the file.
            tell: is told how much of a cut file was looked at.

        Raises:
            LogError: it cannot be read, or is not the recording of a drive.
            ConfigError: the robot's file in it is not understood by this version.
        """
        self.path = path
        self.player = Player(path, tell)
        self._folder = tempfile.TemporaryDirectory(prefix="limblink-replay-")
        try:
            if self.player.index.channel_of("/state") is None:
                raise LogError(
                    f"{path} holds no states of a station: it is no drive. Drives are "
                    "recorded by `limblink` and `limblink drive`."
                )
            self.robot = load_robot(self._file("robots", "robot"))
            self.model: RobotModel = build_robot_model(self.robot)
            player = self.player
            self.timeline = build_timeline(
                player.overview, player.start_ns, player.end_ns
            )
            blocks = Path(self._folder.name) / "blocks"
            blocks.mkdir()
            self.readings = ReplayReadings(player, self.model, blocks)
        except BaseException:
            self.close()
            raise

    def seek(self, time_ns: int) -> None:
        """Fill the readings with what was known at a moment [ns]."""
        self.readings.seek(time_ns)

    def close(self) -> None:
        """Close the file; idempotent."""
        self.player.close()
        self._folder.cleanup()

    @property
    def facts(self) -> str:
        """Name, link and strategy in one line."""
        known = self.player.recording.metadata
        parts = [self.path.name, known.get("link", ""), known.get("strategy", "")]
        return "  ·  ".join(Path(part).stem if part else "" for part in parts if part)

    def make_scene(self) -> Scene:
        """Build the picture's scene.

        Raises:
            DeviceError: no OpenGL.
        """
        world = None
        try:
            scene = load_scene(self._file("scenes", "scene"))
            if not scene.is_empty:
                world = build_scene_world(scene, self.robot, self.model)
        except (ConfigError, LogError):
            world = None  # the robot is shown in open water
        return Scene(self.robot, self.model, around=world)

    def _file(self, folder: str, fact: str) -> str:
        """Path of a file that the recording carries, or the name that it gives."""
        recording = self.player.recording
        for name, data in recording.attachments.items():
            if name.startswith(f"{folder}-") and name.endswith(".toml"):
                path = Path(self._folder.name) / name.removeprefix(f"{folder}-")
                path.write_bytes(data)
                return str(path)
        named = recording.metadata.get(fact, "")
        if not named:
            raise LogError(
                f"{self.path} does not say which {fact} it is of: another program "
                "wrote it, or its head is damaged."
            )
        return named
