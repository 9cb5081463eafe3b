"""A participant's turn as a trial of a study: so it is named, stored and reported."""

from app.config.task import load_task
from app.robot.plant import PlantMismatch
from app.study.factorial.cells import Cell, TrialSpec, named
from app.study.participant.order import Turn, turns_of
from app.study.participant.plan import ParticipantPlan

__all__ = ["seed_of", "spec_of", "specs_of"]

_REPEATS = 100


def seed_of(participant: int, repeat: int) -> int:
    """Number by which trials of different strategies are paired."""
    return _REPEATS * participant + repeat


def spec_of(plan: ParticipantPlan, turn: Turn, participant: int) -> TrialSpec:
    """Make the trial of a turn.

    Args:
        plan: the study.
        turn: of the participant.
        participant: number, from 1.

    Raises:
        ConfigError: link or task cannot be loaded.
    """
    strategy, link = plan.strategies[turn.strategy], plan.links[turn.link]
    choice = plan.tasks[turn.task]
    cell = Cell(
        strategy.title,
        link.title,
        load_task(choice.name).name,
        turn.variant,
        "person",
        "nominal",
    )
    return named(
        TrialSpec(
            "",
            cell,
            choice.robot or plan.robot,
            link.build(),
            strategy.teleop.model_copy(update={"strategy": strategy.name}),
            strategy.deadband,
            choice.name,
            PlantMismatch(),
            seed_of(participant, turn.repeat),
            0.0,
            plan.longest_s,
            True,
        )
    )


def specs_of(plan: ParticipantPlan, participants: range) -> list[TrialSpec]:
    """Return all counted trials of participants, numbered from 1."""
    return [
        spec_of(plan, turn, participant)
        for participant in participants
        for turn in turns_of(plan, participant - 1)
        if not turn.practice
    ]
