"""The recording of a session: one MCAP file, its schemas, its writer and its reader."""

from app.session.player import Player
from app.session.reader import Recording, open_log
from app.session.recorder import Journal, Recorder
from app.session.repair import recover, trim, verify
from app.session.thread import RecorderThread

__all__ = [
    "Journal",
    "Player",
    "Recorder",
    "RecorderThread",
    "Recording",
    "open_log",
    "recover",
    "trim",
    "verify",
]
