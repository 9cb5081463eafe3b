"""Colours, sizes and the style sheet: dark, with text at 7:1 contrast or better.

State is never told by colour alone: every lamp carries words, and alarms are filled.
"""

import os
from functools import lru_cache

from PyQt6.QtGui import QColor, QFont, QGuiApplication

__all__ = [
    "ALARM",
    "AMBER",
    "CURVE_COLORS",
    "FELT_COLOR",
    "GOOD",
    "LINE",
    "MODEL_COLOR",
    "MUTED",
    "PANEL",
    "SURFACE",
    "TARGET_COLOR",
    "TEXT",
    "WINDOW",
    "base_pixel_size",
    "color",
    "font",
    "style_sheet",
]

WINDOW = "#0a1016"
SURFACE = "#0f1720"
PANEL = "#15202b"
LINE = "#2a3b4c"
TEXT = "#e8eff5"
MUTED = "#a3b4c4"
GOOD = "#4ade80"
AMBER = "#fbbf24"
ALARM = "#ff5c5c"
MODEL_COLOR = "#6ff5ff"  # the local model's ghost, as app.scene.marks has it
TARGET_COLOR = "#ff65c2"  # the operator's target, likewise
CURVE_COLORS = ("#4fe3ff", "#ffb454")
FELT_COLOR = "#ffb454"  # what the robot felt, as the plots have it

_FAMILIES = ["Inter", "Noto Sans", "Ubuntu", "DejaVu Sans", "sans-serif"]


@lru_cache(maxsize=256)
def color(name: str, alpha: float = 1.0) -> QColor:
    """Return a colour of the theme with an opacity 0..1; shared, do not change it."""
    value = QColor(name)
    value.setAlphaF(alpha)
    return value


def base_pixel_size() -> int:
    """Size of ordinary text [px]: 12 on a laptop's screen, 16 on 1440 lines.

    LIMBLINK_TEXT_PX sets another, 9 to 24, for eyes or screens that want it.
    """
    wanted = os.environ.get("LIMBLINK_TEXT_PX", "")
    if wanted.isdigit():
        return max(9, min(24, int(wanted)))
    screen = QGuiApplication.primaryScreen()
    lines = screen.availableGeometry().height() if screen is not None else 768
    return max(12, min(17, round(12 + (lines - 768) * 4 / 672)))


@lru_cache(maxsize=64)
def font(pixel_size: float, *, bold: bool = False) -> QFont:
    """Return the text font, digits of equal width; shared, do not change it."""
    made = QFont()
    made.setFamilies(_FAMILIES)
    made.setPixelSize(max(8, round(pixel_size)))
    made.setBold(bold)
    return made


def style_sheet(size: int) -> str:
    """Return the application's style sheet for a base text size [px]."""
    return f"""
    * {{ color: {TEXT}; font-size: {size}px; outline: none; }}
    QMainWindow, QDialog {{ background: {WINDOW}; }}
    QWidget#column, QWidget#strip {{ background: {WINDOW}; }}
    QFrame#panel {{ background: {PANEL}; border: 1px solid {LINE};
        border-radius: 5px; }}
    QFrame#bar {{ background: {SURFACE}; border-bottom: 1px solid {LINE}; }}
    QLabel {{ background: transparent; }}
    QLabel#title {{ color: {MUTED}; font-size: {size - 1}px; font-weight: bold; }}
    QLabel#muted {{ color: {MUTED}; }}
    QLabel#heading {{ font-size: {size + 5}px; font-weight: bold; }}
    QLabel#brand {{ font-size: {size + 4}px; font-weight: bold; }}
    QPushButton, QToolButton {{ background: #203040; border: 1px solid #3b5168;
        border-radius: 4px; padding: 3px 9px; }}
    QPushButton:hover, QToolButton:hover {{ background: #2a3f54; }}
    QPushButton:pressed, QToolButton:pressed {{ background: #35506b; }}
    QPushButton:checked, QToolButton:checked {{ background: #1c5266;
        border-color: {MODEL_COLOR}; }}
    QPushButton:focus, QToolButton:focus, QComboBox:focus {{
        border: 2px solid {MODEL_COLOR}; }}
    QDialog QPushButton {{ padding: 5px 12px; }}
    QDialog QPushButton:focus {{ padding: 4px 11px; }}
    QPushButton:disabled, QToolButton:disabled {{ color: #71839a;
        background: #16212c; border-color: #26323f; }}
    QPushButton#cut:checked {{ background: #a3202c; border-color: {ALARM};
        font-weight: bold; }}
    QComboBox {{ background: #203040; border: 1px solid #3b5168; border-radius: 4px;
        padding: 3px 8px; }}
    QComboBox::drop-down {{ border: none; width: {size + 6}px; }}
    QComboBox::down-arrow {{ image: none; width: 0; height: 0; }}
    QComboBox QAbstractItemView {{ background: #1a2836; border: 1px solid #3b5168;
        selection-background-color: #1c5266; }}
    QDoubleSpinBox {{ background: #111b25; border: 1px solid #3b5168;
        border-radius: 4px; padding: 2px 3px; selection-background-color: #1c5266; }}
    QDoubleSpinBox:focus {{ border: 2px solid {MODEL_COLOR}; }}
    QDoubleSpinBox:disabled {{ color: #71839a; background: #16212c;
        border-color: #26323f; }}
    QPlainTextEdit {{ background: #111b25; border: 1px solid #3b5168;
        border-radius: 4px; padding: 6px; }}
    QPlainTextEdit:focus {{ border: 2px solid {MODEL_COLOR}; }}
    QCheckBox {{ spacing: 8px; padding: 3px; border: 2px solid transparent;
        border-radius: 4px; }}
    QCheckBox:focus {{ border-color: {MODEL_COLOR}; }}
    QCheckBox::indicator {{ width: {size}px; height: {size}px; background: #111b25;
        border: 2px solid {MUTED}; border-radius: 3px; }}
    QCheckBox::indicator:checked {{ background: {MODEL_COLOR};
        border-color: {MODEL_COLOR}; }}
    QProgressBar {{ background: #0d1620; border: 1px solid {LINE};
        border-radius: 3px; }}
    QProgressBar::chunk {{ background: #47809a; border-radius: 2px; }}
    QSlider::groove:horizontal {{ height: 4px; background: #304357;
        border-radius: 2px; }}
    QSlider::sub-page:horizontal {{ background: #47809a; border-radius: 2px; }}
    QSlider::handle:horizontal {{ width: {size}px; margin: -{size // 2 - 2}px 0;
        border-radius: {size // 2}px; background: #cfe3ee; }}
    QSlider#unanswered::sub-page:horizontal {{ background: #304357; }}
    QSlider#unanswered::handle:horizontal {{ background: {WINDOW};
        border: 2px solid #71839a; }}
    QSlider#unanswered::handle:horizontal:focus {{ border-color: {MODEL_COLOR}; }}
    QSlider::handle:horizontal:focus {{ background: {MODEL_COLOR}; }}
    QSlider::handle:horizontal:disabled {{ background: #526374; }}
    QListWidget {{ background: transparent; border: none; }}
    QListWidget::item {{ padding: 1px 2px; }}
    QScrollBar:vertical {{ background: transparent; width: 10px; }}
    QScrollBar::handle:vertical {{ background: #3b5168; border-radius: 4px;
        min-height: 24px; }}
    QScrollBar::add-line, QScrollBar::sub-line {{ height: 0; }}
    QToolTip {{ background: #1a2836; color: {TEXT}; border: 1px solid #3b5168; }}
    """
