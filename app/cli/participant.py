"""Human studies: one participant at a time."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from app.cli.drive import check_display
from app.cli.options import application, err, out
from app.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.config.loader import Parameters
    from app.console.guide import TaskGuide
    from app.study.factorial.cells import TrialSpec
    from app.study.factorial.store import Store
    from app.study.participant.order import Turn
    from app.study.participant.plan import ParticipantPlan

__all__ = ["participant"]


@application.command()
def participant(
    plan: Annotated[str, typer.Argument(help="A TOML file, or a shipped plan.")],
    number: Annotated[
        int | None,
        typer.Option(min=1, max=9999, help="Participant; else the next one."),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--out", help="The study's folder; else participants-NAME here."),
    ] = None,
    order: Annotated[
        bool, typer.Option("--order", help="Only print the order of their trials.")
    ] = False,
    report: Annotated[
        bool, typer.Option("--report", help="Only report what has been recorded.")
    ] = False,
) -> None:
    """Lead a person through a study: consent, practice, trials, forms, breaks.

    Strategies are named by letters; their order is balanced over participants. Each
    trial is a live session. A participant who was interrupted goes on where they were.

    [bold]Examples[/]

      limblink participant reach-by-hand --order --number 1

      limblink participant mine.toml --number 7 --out results

      limblink participant mine.toml --out results --report
    """
    from app.study.factorial.store import Store
    from app.study.participant.plan import load_participant_plan, read_consent

    loaded = load_participant_plan(plan)
    read_consent(loaded)
    if order:
        _show_order(loaded, number or 1)
        return
    with Store(folder or Path(f"participants-{loaded.name}")) as store:
        if not report:
            _lead(loaded, number or _next(loaded, store), store)
        if report or store.finished:
            _report(loaded, store)


def _show_order(plan: "ParticipantPlan", number: int) -> None:
    from app.study.participant.order import turns_of

    table = Table(title=f"Participant {number} (the letters are all that they see)")
    for head in ("#", "letter", "strategy", "link", "task", "variant", "kind"):
        table.add_column(head)
    for k, turn in enumerate(turns_of(plan, number - 1), start=1):
        table.add_row(
            str(k),
            turn.letter,
            plan.strategies[turn.strategy].title,
            plan.links[turn.link].title,
            plan.tasks[turn.task].name,
            turn.variant,
            "practice" if turn.practice else f"counts, {turn.repeat + 1}",
        )
    out.print(table)


def _next(plan: "ParticipantPlan", store: "Store") -> int:
    """First participant of whom not everything is there, forms included."""
    from app.study.participant.order import hidden_letters
    from app.study.participant.people import workload_path
    from app.study.participant.specs import specs_of

    number = 1
    while all(
        store.has(item.name) for item in specs_of(plan, range(number, number + 1))
    ) and all(
        workload_path(store, number, letter).exists()
        for letter in hidden_letters(plan, number - 1)
    ):
        number += 1
    return number


def _lead(plan: "ParticipantPlan", number: int, store: "Store") -> None:
    from functools import partial

    from app.console.participant import Led, lead_participant
    from app.station.session import check_operator
    from app.station.warmup import warm_up

    check_operator(plan.operator)
    check_display()
    warm_up(err, contact=True)
    err.print(f"Participant {number}.")
    led = lead_participant(plan, number, store, partial(_drive, plan))
    err.print(f"Participant {number}: {led.value}.")
    if led is Led.STOPPED:
        again = f"limblink participant PLAN --number {number} --out {store.folder}"
        err.print(f"To go on: {again}", highlight=False, soft_wrap=True)


def _drive(
    plan: "ParticipantPlan",
    spec: "TrialSpec",
    turn: "Turn",
    log: Path,
    guide: "TaskGuide",
    seen: "Callable[[], None]",
) -> None:
    """One live session with a console, until it is closed or its time is over."""
    from app.config.robot import load_robot
    from app.config.task import load_task
    from app.config.task_place import place_task
    from app.console.run import run_console
    from app.station.processes import Supervisor
    from app.station.session import create_session
    from app.study.factorial.surroundings import scene_of

    folder = log.parent
    task = place_task(load_task(spec.task), load_robot(spec.robot), turn.variant)
    scene = scene_of(task)
    session = create_session(
        spec.robot,
        str(_toml(folder / "link.toml", spec.link)),
        operator=plan.operator,
        seed=spec.seed,
        log=log.absolute(),
        strategy=spec.teleop.strategy,
        scene=None if scene is None else str(_toml(folder / "scene.toml", scene)),
    )
    supervisor = Supervisor(session)
    try:
        supervisor.start()
        run_console(session, supervisor, guide=guide, seen=seen)
    finally:
        supervisor.stop()
        session.close()


def _toml(path: Path, parameters: "Parameters") -> Path:
    """Write parameters to a file that every process of a session can read."""
    import tomlkit

    from app.errors import LogError

    values: dict[str, Any] = parameters.model_dump(mode="json", exclude_none=True)
    try:
        path.write_text(tomlkit.dumps(values), encoding="utf-8")
    except OSError as error:
        raise LogError(f"{path}: cannot be written: {error.strerror}.") from error
    return path.absolute()


def _report(plan: "ParticipantPlan", store: "Store") -> None:
    from app.study.factorial.trial_job import TrialJob
    from app.study.participant.people import add_people
    from app.study.participant.specs import specs_of
    from app.study.report.write import write_report

    found = []
    seeds: list[int] = []
    number = 1
    while number <= _last(store):
        own = [
            s for s in specs_of(plan, range(number, number + 1)) if store.has(s.name)
        ]
        found += [TrialJob(spec) for spec in own]
        seeds += [seed for seed in {spec.seed for spec in own} if seed not in seeds]
        number += 1
    if not found:
        raise ConfigError(f"{store.folder}: no trial of this plan is finished yet.")
    study = plan.study(tuple(sorted(seeds)))
    base = study.reference or ""
    page = write_report(
        study, tuple(found), store, lambda page: add_people(page, store, base)
    )
    out.print(f"Report: {page}", highlight=False, soft_wrap=True)


def _last(store: "Store") -> int:
    """Greatest number of a participant that has anything in the folder."""
    numbers = [
        int(name.rpartition("_s")[2].partition("_")[0]) for name in store.finished
    ]
    return max((number // 100 for number in numbers), default=0)
