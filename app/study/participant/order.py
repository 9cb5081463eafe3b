"""Who does what when: strategies in a balanced Latin square, named by hidden letters.

In Williams' square every strategy stands in every place, and before every other,
equally often once n participants (2n where n is odd) have taken part. Within a strategy
the conditions, link by task, are shifted in the same way. Practice trials come first
and are not kept.
"""

import string
from dataclasses import dataclass

import numpy as np

from app.config.task import load_task
from app.study.participant.plan import ParticipantPlan

__all__ = ["Turn", "hidden_letters", "turns_of", "williams_row"]


@dataclass(frozen=True)
class Turn:
    """One trial of one participant.

    Attributes:
        letter: what the strategy is called before the participant.
        strategy: its index in the plan.
        link: index of the link.
        task: index of the task.
        variant: of the task.
        practice: whether it is not kept.
        repeat: how often the same was done before.
        last: whether it is the last of its strategy.
    """

    letter: str
    strategy: int
    link: int
    task: int
    variant: str
    practice: bool
    repeat: int
    last: bool


def williams_row(count: int, participant: int) -> list[int]:
    """Return a participant's row of a balanced Latin square of so many treatments."""
    first: list[int] = []
    low, high = 0, count - 1
    for place in range(count):
        if place == 0 or place % 2 == 1:
            first.append(low)
            low += 1
        else:
            first.append(high)
            high -= 1
    row = [(item + participant) % count for item in first]
    turned = count % 2 == 1 and participant // count % 2 == 1
    return row[::-1] if turned else row


def hidden_letters(plan: ParticipantPlan, participant: int) -> list[str]:
    """Return the letter of each strategy, drawn for one participant."""
    random = np.random.default_rng((plan.seed, participant))
    letters = string.ascii_uppercase[: len(plan.strategies)]
    return [letters[k] for k in random.permutation(len(letters)).tolist()]


def turns_of(plan: ParticipantPlan, participant: int) -> list[Turn]:
    """Return all trials of a participant, counted from 0, in their order.

    Raises:
        ConfigError: a task cannot be loaded.
    """
    letters = hidden_letters(plan, participant)
    conditions = [
        (link, task, variant)
        for task, choice in enumerate(plan.tasks)
        for variant in choice.variants or load_task(choice.name).variants[:1]
        for link in range(len(plan.links))
    ]
    turns: list[Turn] = []
    for strategy in williams_row(len(plan.strategies), participant):
        order = williams_row(len(conditions), participant)
        kept = [
            (*conditions[k], False, repeat)
            for repeat in range(plan.repeats)
            for k in order
        ]
        tried = [
            (*conditions[order[k % len(order)]], True, k) for k in range(plan.practice)
        ]
        own = tried + kept
        turns += [
            Turn(letters[strategy], strategy, *item, last=k == len(own) - 1)
            for k, item in enumerate(own)
        ]
    return turns
