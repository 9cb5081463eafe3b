"""The Qt desktop app: views of a session, and the wishes of the person before it."""

from app.console.run import run_console

__all__ = ["run_console"]
