"""Studies: many trials in virtual time, and their report."""

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from app.cli.options import application, err, out
from app.errors import ConfigError

if TYPE_CHECKING:
    from app.study.factorial.carry_out import Executor
    from app.study.factorial.jobs import Job
    from app.study.factorial.progress import Note
    from app.study.factorial.store import Store

__all__ = ["study"]


@application.command()
def study(
    plan: Annotated[
        str | None,
        typer.Argument(help="A shipped plan (see --list) or a TOML file."),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--out", help="The study's folder; else study-NAME here."),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=512, help="Processes here; else one a processor."),
    ] = None,
    scheduler: Annotated[
        str | None,
        typer.Option(
            help="Dask in place of processes here: tcp://HOST:PORT of a scheduler, or "
            "a TOML or YAML file of a SLURM cluster."
        ),
    ] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Run nothing: report what is finished.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Run nothing: check the plan, list trials.")
    ] = False,
    show: Annotated[
        bool, typer.Option("--show", help="Print the plan, to begin your own from it.")
    ] = False,
    list_plans: Annotated[
        bool, typer.Option("--list", help="List the shipped plans.")
    ] = False,
) -> None:
    """Run a factorial study in virtual time and report it.

    Call it again to go on where it was ended: finished trials are kept. To
    add seeds or strategies, change the plan: only what is new is run.

    A plan has name, title, question, measure, baseline, seeds, and tables of
    strategies, links, tasks and mismatches, every one with every other;
    "reproduce" adds published results, "harness" acceptance facts, critical
    delays and impedances.

    [bold]Examples[/]

      limblink study quick                      an answer in two minutes

      limblink study quick --show > mine.toml   a plan to begin yours from

      limblink study mine.toml --check          what would be run

      limblink study mine.toml --workers 2 --out results

      limblink study mine.toml --report --out results

      limblink study reproduce                  published results, facts

      limblink study full --scheduler tcp://10.0.0.5:8786

    Ends with status 1 where a trial had to be given up.
    """
    if list_plans or plan is None:
        _list()
        return
    from app.station.warmup import warm_up
    from app.study.factorial.carry_out import state_of
    from app.study.factorial.plan import load_plan, plan_text
    from app.study.factorial.store import Store
    from app.study.factorial.study import plan_jobs

    if show:
        typer.echo(plan_text(plan), nl=False)
        return
    if workers is not None and scheduler is not None:
        raise ConfigError(
            "--workers is for processes here, --scheduler for Dask: give one of them."
        )
    loaded = load_plan(plan)
    jobs = plan_jobs(loaded)
    if check:
        _show(jobs)
        return
    failed = 0
    with Store(folder or Path(f"study-{loaded.name}")) as store:
        state = state_of(jobs, store)
        if state.strange:
            err.print(
                f"{state.strange} finished trials in {store.folder} are not of this "
                "plan as it is now; they are left alone and not reported."
            )
        if not report:
            warm_up(err, contact=True)
            failed = _run(jobs, store, _executor(workers, scheduler), state.done)
        _report(plan, jobs, store)
    if failed:
        raise typer.Exit(1)


def _list() -> None:
    from app.study.factorial.plan import load_plan, plan_names

    table = Table(title="Plans (limblink study NAME)")
    for head in ("name", "question", "jobs"):
        table.add_column(head)
    from app.study.factorial.study import plan_jobs

    for name in plan_names():
        loaded = load_plan(name)
        table.add_row(name, loaded.question, str(len(plan_jobs(loaded))))
    out.print(table)


def _show(jobs: "tuple[Job, ...]") -> None:
    for job in jobs:
        out.print(f"{job.name}  [dim]{job.title}[/]", highlight=False, soft_wrap=True)
    out.print(f"{len(jobs)} jobs; the plan is right.")


def _executor(workers: int | None, scheduler: str | None) -> "Executor":
    from functools import partial

    if scheduler is not None:
        from app.study.factorial.cluster import run_on_dask

        return partial(run_on_dask, address=scheduler)
    from app.study.factorial.pool import run_locally

    return partial(run_locally, workers=workers or os.cpu_count() or 1)


def _run(
    jobs: "tuple[Job, ...]", store: "Store", execute: "Executor", done: int
) -> int:
    """Do what is left, with a bar and the time left; how many were given up."""
    from rich.progress import BarColumn, Progress, TextColumn

    from app.study.factorial.carry_out import run_jobs
    from app.study.factorial.progress import time_left_s

    if done:
        err.print(f"{done} of {len(jobs)} were finished before and are kept.")
    started = time.monotonic()
    progress = Progress(
        TextColumn("{task.completed:.0f} of {task.total:.0f}"),
        BarColumn(),
        TextColumn("{task.fields[left]}  [dim]{task.description}[/]"),
        console=err,
    )
    bar = progress.add_task("starting", total=len(jobs), completed=done, left="")

    def tell(note: "Note") -> None:
        if note.kind in {"lost", "failed"}:
            color = "yellow" if note.kind == "lost" else "red"
            err.print(f"[{color}]{note.title}[/]: {note.words}", highlight=False)
        if note.kind in {"done", "failed"}:
            progress.advance(bar)
        now = int(progress.tasks[0].completed)
        left = time_left_s(time.monotonic() - started, now - done, len(jobs) - now)
        progress.update(bar, description=note.title, left=_clock(left))
        if note.kind == "done" and not err.is_terminal:
            err.print(
                f"{now} of {len(jobs)}, {_clock(left)}: {note.title}",
                highlight=False,
                soft_wrap=True,
            )

    with progress:
        return run_jobs(jobs, store, execute, tell)


def _clock(left_s: float | None) -> str:
    if left_s is None:
        return "time left: not known yet"
    minutes, seconds = divmod(round(left_s), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d} left"


def _report(plan: str, jobs: "tuple[Job, ...]", store: "Store") -> None:
    from app.study.factorial.plan import load_plan
    from app.study.report.write import write_report

    page = write_report(load_plan(plan), jobs, store)
    out.print(f"Report: {page}", highlight=False, soft_wrap=True)
