"""Jobs for workers under test: in a module that imports little, as each loads it."""

import json
import os
import signal
from dataclasses import dataclass
from pathlib import Path

from app.errors import ConfigError, LogError
from app.study.factorial.store import RESULT


@dataclass(frozen=True)
class Errand:
    """A job that does what its name says, in a process of its own."""

    name: str
    deaths: int = 0

    @property
    def title(self) -> str:
        return f"errand {self.name}"

    def run(self, folder: Path) -> None:
        if self.name.startswith("full"):
            raise LogError("No space left on device.")
        if self.name.startswith("wrong"):
            raise ConfigError("No such thing.")
        (folder / "half.txt").write_text("half")
        attempt = int(folder.suffix.removeprefix("."))
        if attempt <= self.deaths:
            os.kill(os.getpid(), signal.SIGKILL)
        (folder / RESULT).write_text(json.dumps({"name": self.name}))
