"""What recordings there are, and what is in one, told without reading all of it."""

import datetime
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from app.clock import NS_PER_S
from app.errors import LogError
from app.session.index import FileIndex
from app.session.reader import Recording

__all__ = ["Entry", "TopicFacts", "list_recordings", "topic_facts"]


class Entry(NamedTuple):
    """One file of a folder."""

    path: Path
    changed: datetime.datetime
    size_bytes: int
    seconds: float
    metadata: dict[str, str]
    marks: int
    events: int
    complete: bool
    trouble: str
    """Why it cannot be read, "" where it can."""


class TopicFacts(NamedTuple):
    """One topic of a recording."""

    topic: str
    schema: str
    messages: int
    rate_hz: float
    units: dict[str, str]


def list_recordings(folder: Path) -> Iterable[Entry]:
    """Look at every recording in a folder, oldest first.

    Args:
        folder: where; a single recording is listed alone.

    Raises:
        LogError: there is no such folder, or it may not be read.
    """
    try:
        if folder.is_dir():
            paths = [path for path in folder.iterdir() if path.suffix == ".mcap"]
        elif folder.exists():
            paths = [folder]
        else:
            raise LogError(f"No folder {folder}. Recordings are made by `limblink`.")
        paths.sort(key=lambda path: path.stat().st_mtime_ns)
    except OSError as error:
        raise LogError(
            f"{folder} cannot be looked into: {error.strerror}. Check its rights, or "
            "give another folder."
        ) from error
    for path in paths:
        yield _look(path)


def _look(path: Path) -> Entry:
    try:
        told = path.stat()
        changed = datetime.datetime.fromtimestamp(told.st_mtime, datetime.UTC)
        size = told.st_size
    except OSError:
        changed, size = datetime.datetime.fromtimestamp(0, datetime.UTC), 0
    try:
        index = FileIndex(path)
        metadata = Recording(path).metadata
    except LogError as error:
        return Entry(path, changed, size, 0.0, {}, 0, 0, False, str(error))
    seconds = (index.end_ns - index.start_ns) / NS_PER_S
    marks, events = index.count("/mark"), index.count("/event")
    return Entry(
        path, changed, size, seconds, metadata, marks, events, index.complete, ""
    )


def topic_facts(index: FileIndex) -> list[TopicFacts]:
    """Say what topics a recording has, by name."""
    seconds = max((index.end_ns - index.start_ns) / NS_PER_S, 1e-9)
    facts = []
    for channel in sorted(index.channels.values(), key=lambda c: c.topic):
        schema = index.schemas.get(channel.schema_id)
        count = index.counts.get(channel.id, 0)
        facts.append(
            TopicFacts(
                channel.topic,
                schema.name if schema is not None else "",
                count,
                count / seconds,
                {
                    name.removeprefix("unit."): unit
                    for name, unit in channel.metadata.items()
                    if name.startswith("unit.")
                },
            )
        )
    return facts
