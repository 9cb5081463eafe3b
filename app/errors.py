"""The one exception tree.

    LimblinkError
    ├── ConfigError      a TOML file or an option is wrong: file, key, value, cure
    ├── DeviceError      a controller, serial port or display is missing or failed
    ├── LinkError        a socket cannot be opened, or a peer is refused
    │   └── FrameError   bytes that are not a valid frame
    ├── ProcessError     a child process could not be started or has ended
    ├── LogError         a recording cannot be written or read
    └── ModelError       a model parameter or state is outside its range

A message says what happened, with which value, which values are allowed, and what to
do. The command line prints it without a traceback and ends with exit status 2.
"""

__all__ = [
    "ConfigError",
    "DeviceError",
    "FrameError",
    "LimblinkError",
    "LinkError",
    "LogError",
    "ModelError",
    "ProcessError",
]


class LimblinkError(Exception):
    """Anything that limblink reports to a person."""


class ConfigError(LimblinkError):
    """A configuration file or an option cannot be used."""


class DeviceError(LimblinkError):
    """A device is missing, busy or failed."""


class LinkError(LimblinkError):
    """A link endpoint cannot be opened or a peer is refused."""


class FrameError(LinkError):
    """Bytes do not form a valid frame."""


class ProcessError(LimblinkError):
    """A process could not be started, or ended when it should not."""


class LogError(LimblinkError):
    """A recording cannot be written or read."""


class ModelError(LimblinkError):
    """A model parameter or state lies outside its range of validity."""
