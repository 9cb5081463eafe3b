"""Pictures of the console beside a recording, `NAME.video.mcap`, for Foxglove too.

The console writes them, not the station: pictures must never cost the control loop
anything. Both files have times of the same clock.
"""

from pathlib import Path
from typing import Any

from google.protobuf import (
    descriptor_pb2,
    descriptor_pool,
    message_factory,
    timestamp_pb2,
)

from app.clock import NS_PER_S
from app.session.container import LogFile
from app.session.schema import Schema

__all__ = ["VIDEO_TOPIC", "VideoRecorder", "video_path"]

VIDEO_TOPIC = "/video/console"
_NAME = "foxglove.CompressedImage"


def _image_schema() -> Schema:
    """Foxglove's well-known message of a picture."""
    kinds = descriptor_pb2.FieldDescriptorProto
    clock = descriptor_pb2.FileDescriptorProto()
    timestamp_pb2.DESCRIPTOR.CopyToProto(clock)
    file = descriptor_pb2.FileDescriptorProto(
        name="foxglove/CompressedImage.proto",
        package="foxglove",
        syntax="proto3",
        dependency=[clock.name],
    )
    message = file.message_type.add(name="CompressedImage")
    message.field.add(
        name="timestamp",
        number=1,
        type="TYPE_MESSAGE",
        type_name=".google.protobuf.Timestamp",
        label="LABEL_OPTIONAL",
    )
    for name, number, kind in (
        ("data", 2, kinds.TYPE_BYTES),
        ("format", 3, kinds.TYPE_STRING),
        ("frame_id", 4, kinds.TYPE_STRING),
    ):
        message.field.add(
            name=name,
            number=number,
            type=kinds.Type.Name(kind),
            label="LABEL_OPTIONAL",
        )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(clock)
    pool.Add(file)
    made = message_factory.GetMessageClass(pool.FindMessageTypeByName(_NAME))
    whole = descriptor_pb2.FileDescriptorSet(file=[clock, file])
    return Schema(_NAME, (), whole.SerializeToString(deterministic=True), made)


def video_path(recording: Path) -> Path:
    """Name the pictures of a recording; numbered where that file exists."""
    path, number = recording.with_suffix(".video.mcap"), 2
    while path.exists():
        path = recording.with_suffix(f".video-{number}.mcap")
        number += 1
    return path


class VideoRecorder:
    """Writes pictures, each kept at once."""

    def __init__(self, path: Path, facts: dict[str, str]) -> None:
        """Make the file.

        Raises:
            LogError: it exists or cannot be made.
        """
        self._schema = _image_schema()
        self._log = LogFile(path, facts, {})

    def write(self, time_ns: int, jpeg: bytes) -> None:
        """Keep a picture.

        Args:
            time_ns: when it was taken [ns], monotonic.
            jpeg: its bytes.

        Raises:
            LogError: the disk refused it.
        """
        message: Any = self._schema.message()
        message.data, message.format, message.frame_id = jpeg, "jpeg", "console"
        message.timestamp.seconds, message.timestamp.nanos = divmod(time_ns, NS_PER_S)
        data = message.SerializeToString(deterministic=True)
        self._log.add(VIDEO_TOPIC, self._schema, {}, time_ns, data)
        self._log.flush()

    def close(self) -> None:
        """Close the file; idempotent.

        Raises:
            LogError: the disk refused it.
        """
        self._log.close()
