"""A study's runs on one degree of freedom, as jobs for workers.

| part            | jobs                                     | what is found           |
|-----------------|------------------------------------------|-------------------------|
| facts           | one a source of `app.study.teleop_facts` | the acceptance facts    |
| critical-delays | one a strategy that shows a force        | T_crit by wall and grip |
| probes          | the same                                 | ε_Z, E_port, E_net      |

Strategies are the plan's that show a force, each with its parameters; where the plan
has none, all with their defaults.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from app.config.teleop import TeleopParameters
from app.study.factorial.plan import HarnessName, StudyPlan
from app.study.factorial.store import write_whole
from app.study.harness.critical import measure_critical
from app.study.harness.probe import measure_probes
from app.study.teleop_facts import FACT_SOURCES
from app.teleop.strategy import Strategy, strategy_named

__all__ = ["HarnessJob", "harness_jobs"]

_MEASURES: dict[HarnessName, Callable[[TeleopParameters], Any]] = {
    "critical-delays": measure_critical,
    "probes": measure_probes,
}


@dataclass(frozen=True)
class HarnessJob:
    """One run.

    Attributes:
        part: of the harness.
        label: of the strategy, or the name of a source of facts.
        teleop: parameters of the strategy, as JSON; "" for facts.
        version: of the product.
    """

    part: HarnessName
    label: str
    teleop: str
    version: str

    @property
    def name(self) -> str:
        """Of its folder."""
        text = json.dumps(asdict(self), sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:10]
        words = self.label.replace(" ", "-").replace("_", "-")
        return f"one-dof-{self.part}_{words}_{digest}"

    @property
    def title(self) -> str:
        """What people are told."""
        return f"{self.part}, one degree of freedom, {self.label}"

    def run(self, folder: Path) -> None:
        """Work it out and write it down."""
        if self.part == "facts":
            (source,) = (item for item in FACT_SOURCES if item.__name__ == self.label)
            found: Any = [
                asdict(fact) | {"holds": bool(fact.holds)} for fact in source()
            ]
        else:
            parameters = TeleopParameters.model_validate_json(self.teleop)
            found = _MEASURES[self.part](parameters)
        whole = {"name": self.name, "part": self.part, "label": self.label}
        text = json.dumps(whole | {"finding": found}, sort_keys=True, allow_nan=False)
        write_whole(folder / "result.json", text.encode())


def harness_jobs(plan: StudyPlan) -> Iterator[HarnessJob]:
    """Return the jobs of all parts that a plan asks for."""
    own = version("limblink")
    for part in dict.fromkeys(plan.harness):
        if part == "facts":
            for source in FACT_SOURCES:
                yield HarnessJob(part, source.__name__, "", own)
            continue
        for label, teleop in _strategies(plan):
            yield HarnessJob(part, label, teleop.model_dump_json(), own)


def _strategies(plan: StudyPlan) -> Iterator[tuple[str, TeleopParameters]]:
    """Those that show a force, once each: a deadband changes nothing here."""
    seen: set[str] = set()
    for choice in plan.strategies:
        teleop = choice.teleop.model_copy(update={"strategy": choice.name})
        text = teleop.model_dump_json()
        if strategy_named(choice.name).feels and text not in seen:
            seen.add(text)
            yield choice.title, teleop
    if not seen:
        for strategy in Strategy:
            if strategy.feels:
                yield strategy.short, TeleopParameters(strategy=strategy.short)
