"""The recording of a session: one MCAP file, its schemas, its writer and its reader."""

from app.session.reader import Recording, open_log, recover
from app.session.recorder import Journal, Recorder
from app.session.thread import RecorderThread

__all__ = [
    "Journal",
    "Recorder",
    "RecorderThread",
    "Recording",
    "open_log",
    "recover",
]
