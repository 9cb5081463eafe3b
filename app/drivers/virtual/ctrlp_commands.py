"""The commands that the virtual Ctrl-P controller keeps: how many values, how printed.

Names and counts as in command set 2.5; decimals and the tab at the end as firmware 2.x
prints them.
"""

from typing import NamedTuple

__all__ = ["SETTINGS", "WORDS", "Setting"]


class Setting(NamedTuple):
    """A command that keeps values.

    Attributes:
        first: its value after the first start, for each place.
        decimals: printed.
        places: number of values; 0: one for each channel.
        is_pressure: its values are pressures, in the unit in force.
        tab: a tab follows the last value.
    """

    first: float
    decimals: int
    places: int = 0
    is_pressure: bool = False
    tab: bool = False


SETTINGS: dict[str, Setting] = {
    "maxp": Setting(50.0, 4, is_pressure=True, tab=True),
    "minp": Setting(-50.0, 4, is_pressure=True, tab=True),
    "valve": Setting(0.0, 4, tab=True),
    "mode": Setting(1.0, 0, tab=True),
    "chan": Setting(1.0, 0, tab=True),
    "window": Setting(0.0, 4, is_pressure=True, tab=True),
    "intstart": Setting(0.5, 4, tab=True),
    "time": Setting(50.0, 0, places=1),
    "lcdtime": Setting(333.0, 0, places=1),
    "spike": Setting(300.0, 0, places=1),
    "masterp": Setting(0.0, 0, places=2),
    "mastermaxp": Setting(60.0, 2, places=2),
    "currtime": Setting(0.0, 0, places=1),
    "pid": Setting(0.0, 4, places=4),
    "voffset": Setting(0.0, 0, places=3),
    "trajconfig": Setting(0.0, 0, places=4),
    "trajwrap": Setting(0.0, 0, places=1),
    "trajloop": Setting(1.0, 0, places=1),
    "trajspeed": Setting(1.0, 4, places=1),
    "trajset": Setting(0.0, 2, places=18),
    "prefset": Setting(0.0, 2, places=18),
    "suffset": Setting(0.0, 2, places=18),
    "speed": Setting(0.0, 2),
    "torque": Setting(0.0, 2),
    "cont": Setting(0.0, 0),
}

WORDS: dict[str, str] = {
    "firmware": "2.5.0 virtual",
    "cmdspec": "2.5",
    "error": "0",
    "on": "Outputs On",
    "off": "Outputs Off",
    "reset": "Controllers Reset",
    "load": "Settings retrieved from onboard storage",
    "save": "Settings saved to onboard storage",
    "defload": "Settings retrieved from default",
    "defsave": "Settings saved as default",
    "trajstart": "Trajectory Started",
    "trajstop": "Trajectory Stopped",
    "trajpause": "Trajectory Paused",
    "trajresume": "Trajectory Resumed",
    "temp": "25",
    "volt": "12",
}
