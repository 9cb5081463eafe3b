"""Consent, workload form and breaks, by keyboard alone."""

from PyQt6.QtCore import Qt, QTimer
from PyQt6.QtWidgets import QApplication

from app.console.questions import BreakDialog, ConsentDialog, WorkloadDialog
from app.study.participant.workload import SCALES


def test_nobody_takes_part_who_has_not_agreed(qtbot):
    dialog = ConsentDialog("Study", "Read this.")
    qtbot.addWidget(dialog)
    dialog.show()
    assert not dialog.go_on.isEnabled()
    dialog.agreed.setFocus()
    qtbot.keyClick(dialog.agreed, Qt.Key.Key_Space)
    assert dialog.go_on.isEnabled()
    qtbot.keyClick(dialog, Qt.Key.Key_Return)
    assert dialog.result() == 1


def test_a_form_goes_on_once_every_scale_was_answered(qtbot):
    form = WorkloadDialog("B")
    qtbot.addWidget(form)
    form.show()
    for scale in SCALES:
        assert not form.go_on.isEnabled()
        slider = form.scales[scale.key]
        qtbot.keyClick(slider, Qt.Key.Key_Right)
    assert form.go_on.isEnabled()
    assert form.answers == {scale.key: 55 for scale in SCALES}
    QTimer.singleShot(0, lambda: QApplication.activeModalWidget().reject())
    qtbot.keyClick(form, Qt.Key.Key_Escape)  # asks; the question is left by ESC again
    assert form.isVisible()
    form.go_on.click()
    assert form.result() == 1


def test_a_break_lasts_as_long_as_it_must(qtbot):
    pause = BreakDialog(2.0, 8, 4)
    qtbot.addWidget(pause)
    assert not pause.go_on.isEnabled()
    pause.count()
    assert not pause.go_on.isEnabled()
    pause.count()
    assert pause.go_on.isEnabled()
