"""Under which schemes is a corpus legal: a report for a person, never a guess that is acted upon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .columns import CodedTags, Tags, ViolationColumns, code_tags
from .parse import validate_many
from .scheme import SCHEMES
from .violation import Violation


@dataclass
class SchemeCheck:
    """What one scheme says of a corpus: how many violations, and the first of them."""

    scheme: str
    violations: int = 0
    unreadable: int = 0
    first: Violation | None = None
    sentence: int | None = None

    @property
    def legal(self) -> bool:
        """Whether the corpus is legal under this scheme."""
        return not self.violations

    def add(self, found: ViolationColumns, before: int) -> None:
        """Count the violations of one more part of the corpus, which begins at sentence `before`."""
        self.violations += found.total
        for sentence, violation in found.rows():
            if self.first is None:
                self.first, self.sentence = violation, before + sentence
            self.unreadable += violation.kind == "unreadable"


@dataclass
class Check:
    """What every scheme says of a corpus. Grows part by part with `add`."""

    schemes: dict[str, SchemeCheck] = field(
        default_factory=lambda: {name: SchemeCheck(name) for name in SCHEMES}
    )
    sentences: int = 0
    tokens: int = 0
    tags: dict[str, int] = field(default_factory=dict)

    @property
    def legal(self) -> list[str]:
        """The names of the schemes under which the corpus is legal."""
        return [name for name, scheme in self.schemes.items() if scheme.legal]

    def add(self, sequences: Tags) -> list[ViolationColumns]:
        """Look at more sentences."""
        coded = code_tags(sequences)
        found = [validate_many(coded, name) for name in self.schemes]
        for scheme, violations in zip(self.schemes.values(), found):
            scheme.add(violations, self.sentences)
        self.sentences += len(coded)
        self.tokens += len(coded.codes)
        return found


def check(tags: Tags | Sequence[str]) -> Check:
    """Report under which schemes these sentences (or this one sentence) are legal."""
    if not isinstance(tags, CodedTags):
        tags = list(tags)
        if tags and all(isinstance(tag, str) for tag in tags):
            tags = [tags]
    report = Check()
    report.add(tags)
    return report
