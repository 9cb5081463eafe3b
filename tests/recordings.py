"""Recordings that are not as they were written."""

from mcap.records import Attachment, Channel, Header, Message, Metadata, Schema
from mcap.writer import Writer

from app.session import open_log

__all__ = ["rewritten"]


def rewritten(source, target, change):
    """Copy a recording, each message's (topic, number, data) put through `change`."""
    schemas, channels, counts = {0: 0}, {}, {}
    with target.open("wb") as file:
        writer = Writer(file)
        for item in open_log(source).records():
            match item:
                case Header():
                    writer.start(item.profile, item.library)
                case Metadata():
                    writer.add_metadata(item.name, item.metadata)
                case Attachment():
                    writer.add_attachment(0, 0, item.name, item.media_type, item.data)
                case Schema() if item.id not in schemas:
                    schemas[item.id] = writer.register_schema(
                        item.name, item.encoding, item.data
                    )
                case Channel() if item.id not in channels:
                    channels[item.id] = (
                        item.topic,
                        writer.register_channel(
                            item.topic,
                            item.message_encoding,
                            schemas[item.schema_id],
                            item.metadata,
                        ),
                    )
                case Message():
                    topic, channel = channels[item.channel_id]
                    number = counts[topic] = counts.get(topic, -1) + 1
                    data = change(topic, number, item.data)
                    writer.add_message(channel, item.log_time, data, item.publish_time)
        writer.finish()
    return target
