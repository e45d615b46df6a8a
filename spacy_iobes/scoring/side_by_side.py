"""Several scores in one table: the same predictions under every policy, or several runs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..codes.policy import POLICIES
from .files import PairScorer
from .report import Report
from .runs import Runs
from .signature import Signature, known
from .tables import RENDERERS, Cell, Table

FORMS = ("json", *RENDERERS)
REFUSED = ("refused", "", "", "")
FIGURES = ("precision", "recall", "f1")


def _written(form: str, data: Any, table: Table) -> str:
    if known("format for several scores:", form, FORMS) == "json":
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    return RENDERERS[form](table)


def under_policies(signature: Signature) -> list[Signature]:
    """The same recipe under every policy for malformed predictions."""
    return [replace(signature, policy=name) for name in POLICIES]


@dataclass(frozen=True)
class PolicyScore:
    """What one policy makes of one prediction; the report is None if it refuses."""

    file: str
    signature: Signature
    violations: int
    report: Report | None

    @classmethod
    def of(cls, file: str, scorer: PairScorer) -> PolicyScore:
        """The outcome of a scorer; raises if it is the gold that is refused."""
        if scorer.refused.total and not scorer.refused_gold.total:
            return cls(file, scorer.signature, scorer.refused.total, None)
        report = scorer.report()
        return cls(file, scorer.signature, report.counts.violations, report)

    def cells(self) -> tuple[Cell, ...]:
        """A row of the table."""
        figures = REFUSED if self.report is None else (*self.report.figures, self.report.value)
        return self.file, self.signature.policy, self.violations, *figures

    def data(self) -> dict[str, Any]:
        """The same for a program."""
        figures = dict.fromkeys(("value", *FIGURES))
        if self.report is not None:
            figures = {"value": self.report.value, **self.report.figures._asdict()}
        return {
            "file": self.file,
            "policy": self.signature.policy,
            "signature": str(self.signature),
            "violations": self.violations,
            "refused": self.report is None,
            **figures,
        }


def policies(scores: Sequence[PolicyScore], form: str) -> str:
    """How far the choice of a policy moves a score."""
    recipe = str(replace(scores[0].signature, policy="raise"))
    table = Table(
        ("file", "policy", "violations", *FIGURES, "score"),
        [score.cells() for score in scores],
        remarks=(f"signature {recipe} with policy as listed",),
        more=[("signature",), *((str(score.signature),) for score in scores)],
        names=2,
    )
    return _written(form, [score.data() for score in scores], table)


def runs(named: Iterable[tuple[str, Report]], form: str) -> str:
    """Several runs: each, then their mean, standard deviation and standard error."""
    found = list(named)
    values = [report.value for _, report in found]
    spread = {} if None in values else _spread(Runs(values))
    signature = str(found[0][1].signature)
    rows: list[tuple[Cell, ...]] = [(name, *run.figures, run.value) for name, run in found]
    rows += [(name, "", "", "", value) for name, value in spread.items()]
    table = Table(
        ("run", *FIGURES, "score"),
        rows,
        (len(found),) if spread else (),
        (f"signature {signature}",),
        [("signature",), *[(signature,)] * len(rows)],
    )
    listed = [{"file": name, **report.as_dict()} for name, report in found]
    return _written(form, {"signature": signature, "runs": listed, **spread}, table)


def _spread(runs: Runs) -> dict[str, float | None]:
    return {"mean": runs.mean, "sd": runs.sd, "se": runs.se}
