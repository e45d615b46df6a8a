"""Whether two systems, or two sets of their runs, differ by more than chance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from ..errors import FileError
from ..names import counted
from .file_pairs import ScoreOptions
from .files import FileReport
from .resampling import bootstrap_difference, randomisation
from .runs import Runs, Test, rank_sum
from .tables import percent


@dataclass(frozen=True)
class Difference:
    """The difference of two scores and its tests: as plain values, in lines, and in `short`."""

    data: dict[str, Any]
    lines: list[str]
    short: list[tuple[str, str]] = field(default_factory=list)

    @classmethod
    def of(
        cls, first: Sequence[FileReport], second: Sequence[FileReport], how: ScoreOptions
    ) -> Difference:
        """Return the tests that go with so many reports of each system."""
        if not first[0].counts.sentences:
            raise FileError("Nothing to compare: there are no sentences.")
        try:
            if len(first) == len(second) == 1:
                return cls.over_sentences(first[0], second[0], how)
            return cls.over_runs(first, second)
        except ValueError as error:  # a score that is undefined cannot be compared
            raise FileError(f"Nothing to compare: {error}") from error

    @classmethod
    def over_sentences(cls, first: FileReport, second: FileReport, how: ScoreOptions) -> Difference:
        """Test one prediction of each system, resampled sentence by sentence."""
        a, b = first.by_sentence(), second.by_sentence()
        drawn: Any = how.metric, how.rounds, how.seed
        test = randomisation(a, b, *drawn)
        boot, interval = bootstrap_difference(a, b, *drawn)
        low, high = (f"{100 * end:+.2f}" for end in (interval.low, interval.high))
        level = f"{100 * interval.level:g} % interval of"
        return cls(
            {
                "difference": test.difference,
                "randomisation": asdict(test),
                "bootstrap": asdict(boot),
                "interval": asdict(interval),
            },
            [
                f"approximate randomisation over sentences: p = {test.p:.4f} ({recipe_of(test)})",
                f"paired bootstrap over sentences: p = {boot.p:.4f}, {level} the difference "
                f"{low} to {high} ({recipe_of(boot)})",
            ],
            [
                ("p of the difference (randomisation)", f"{test.p:.4f}"),
                (f"{level} it (bootstrap)", f"{low} to {high}"),
            ],
        )

    @classmethod
    def over_runs(cls, first: Sequence[FileReport], second: Sequence[FileReport]) -> Difference:
        """Test two sets of runs by their scores."""
        runs = [Runs(report.value for report in side) for side in (first, second)]
        test = rank_sum(runs[0], runs[1])
        lines = [
            f"{name}: {counted(run.n, 'run')}, mean {percent(run.mean)}, "
            f"standard deviation {percent(run.sd)}"
            for name, run in zip("AB", runs)
        ]
        lines.append(f"Wilcoxon rank-sum over runs: p = {test.p:.4f} ({recipe_of(test)})")
        return cls({"difference": test.difference, "rank_sum": asdict(test)}, lines)


def recipe_of(test: Test) -> str:
    """Return how a test was made: its method, and where numbers were drawn, how many and how."""
    drawn = "" if test.rounds is None else f", {test.rounds:,} rounds, seed {test.seed}"
    return f"{test.method}{drawn}"
