"""Under which schemes is a corpus legal: a report for a person, never a guess to act upon."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from .parse import validate_many
from .scheme import SCHEMES
from .tag_columns import CodedTags, Tags, ViolationColumns, code_tags
from .violation import Violation

Locate = Callable[[ViolationColumns], Iterator[Violation]]


def _unlocated(violations: ViolationColumns) -> Iterator[Violation]:
    return (violation for _, violation in violations.rows())


@dataclass
class SchemeCheck:
    """What one scheme says of a corpus: how many violations, and the first of them."""

    scheme: str
    violations: int = 0
    first: Violation | None = None
    sentence: int | None = None

    @property
    def legal(self) -> bool:
        """Whether the corpus is legal under this scheme."""
        return not self.violations

    def add(self, found: ViolationColumns, locate: Locate, before: int) -> None:
        """Count the violations of one more part, which begins at sentence `before`."""
        self.violations += found.total
        if self.first is None and found.total:
            self.first, self.sentence = next(locate(found)), before + int(found.sentence[0])


@dataclass
class Check:
    """What every scheme says of a corpus. Grows part by part with `add`."""

    schemes: dict[str, SchemeCheck] = field(
        default_factory=lambda: {name: SchemeCheck(name) for name in SCHEMES}
    )
    sentences: int = 0
    tokens: int = 0

    @property
    def legal(self) -> list[str]:
        """The names of the schemes under which the corpus is legal."""
        return [name for name, scheme in self.schemes.items() if scheme.legal]

    def add(self, sequences: Tags, locate: Locate = _unlocated) -> None:
        """Look at more sentences; `locate` turns violation columns into violations."""
        coded = code_tags(sequences)
        for name, scheme in self.schemes.items():
            scheme.add(validate_many(coded, name), locate, self.sentences)
        self.sentences += len(coded)
        self.tokens += len(coded.codes)


def check(tags: Tags | Sequence[str]) -> Check:
    """Report under which schemes these sentences (or this one sentence) are legal."""
    report = Check()
    if isinstance(tags, (CodedTags, str)):
        report.add(tags)
    else:
        rows = list(tags)
        one = [row for row in rows if isinstance(row, str)]
        report.add([one] if one and len(one) == len(rows) else rows)
    return report
