"""Violations on purpose: legal tags spoilt in every way that a scheme can be malformed.

What was planted is counted, so that what finds or repairs violations can be held against it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random
from typing import Any, NamedTuple, TypeVar

from ..codes.scheme import OUTSIDE, Scheme
from ..codes.tag import join_tag, read_tag, split_tag, tag_names
from ..codes.tag_columns import code_tags
from ..codes.transitions import mask
from ..codes.violation import explain
from ..codes.write import write_spans
from ..corpus.sentences import Sentences
from ..errors import SpanError
from ..names import counted

_T = TypeVar("_T")
UNREADABLE = "unreadable"
SALT = 0x5EED  # planting has chances of its own: the sentences are the same with and without it


class Flaw(NamedTuple):
    """An illegal gap: its kind, and its tags with x and y for labels and ^ and $ for the edges."""

    kind: str
    tags: str


class Flaws:
    """Every illegal gap of the tags that some labels have in a scheme."""

    def __init__(self, scheme: Scheme, labels: Sequence[str]):
        self.scheme = scheme
        self.names = tag_names(tuple(labels), scheme)
        self.numbers = {name: number for number, name in enumerate(self.names)}
        legal = mask(self.names, scheme)
        steps, starts, stops = legal.step.tolist(), legal.start.tolist(), legal.stop.tolist()
        rows = [[*row, stop] for row, stop in zip(steps, stops)] + [[*starts, True]]
        tags = (*self.names, None)
        self.table = [
            [None if fine else self._flaw(p, c) for c, fine in zip(tags, row)]
            for p, row in zip(tags, rows)
        ]
        """`table[previous][current]`, by the numbers of tags; the last is the edge."""

    def _flaw(self, previous: str | None, current: str | None) -> Flaw:
        (p, first), (c, second) = (split_tag(tag or "") for tag in (previous, current))
        label = ("x" if second == first or not first else "y") if second else ""
        shown = join_tag(p, "x" if first else "") or "^", join_tag(c, label) or "$"
        return Flaw(explain(self.scheme, previous, current)[0], " ".join(shown))

    def every(self) -> set[Flaw]:
        """All there are."""
        return {flaw for row in self.table for flaw in row if flaw}


class Planter:
    """Spoils one tag each in a share of the sentences, and counts the violations.

    Of all ways to be malformed it chooses the one that has been planted least. Tags that cannot be
    read, which no policy repairs, have a share of their own.
    """

    def __init__(
        self,
        scheme: Scheme,
        labels: Sequence[str],
        share: float,
        unreadable: float = 0.0,
        seed: int = 0,
    ):
        if not 0 <= share <= share + unreadable <= 1:
            raise ValueError(f"Shares of sentences are from 0 to 1, not {share} and {unreadable}.")
        if share and scheme.silent:
            raise ValueError(
                f"In {scheme.name}, tags that are far apart make a span, but violations are "
                "planted between neighbours. Plant them in another scheme."
            )
        self.flaws = Flaws(scheme, labels)
        if share and not self.flaws.every():
            raise ValueError(f"Every sequence of tags is legal in {scheme.name}.")
        self.share, self.unreadable = share, unreadable
        self.draw = Random(seed ^ SALT).random
        self.sentences = 0
        self.planted: Counter[Flaw] = Counter()
        prefix = scheme.prefixes[0]
        strange = [t for x in labels for t in (f"X-{x}", x, f"{prefix}_{x}", f"{OUTSIDE}-{x}")]
        self.strange = [tag for tag in strange if read_tag(tag, scheme) is None]

    @property
    def kinds(self) -> dict[str, int]:
        """How many violations there are of each kind."""
        found: Counter[str] = Counter()
        for flaw, count in self.planted.items():
            found[flaw.kind] += count
        return dict(sorted(found.items()))

    def as_dict(self) -> dict[str, Any]:
        """Return what was planted as plain values."""
        ways = {flaw.tags: count for flaw, count in sorted(self.planted.items())}
        return {"spoilt": self.sentences, "violations": self.kinds, "ways": ways}

    def __str__(self) -> str:
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in self.kinds.items())
        count = counted(self.planted.total(), "violation")
        place = f"in {counted(self.sentences, 'sentence')}"
        return f"{count} planted {place}{f' ({kinds})' if kinds else ''}"

    def spoilt(self, source: Iterable[Sentences]) -> Iterator[Sentences]:
        """Yield sentences with two layers of tags: gold, and gold with violations.

        Their spans must be flat.
        """
        for part in source:
            try:
                gold = write_spans(
                    part.known(self.flaws.scheme).spans, part.offsets, self.flaws.scheme
                )
            except SpanError as error:
                raise part.locate(error) from error
            tags = code_tags([self.spoil(tags) for tags in gold])
            yield replace(part, tags=(gold, tags), scheme=self.flaws.scheme.name, given=None)

    def spoil(self, tags: list[str]) -> list[str]:
        """The tags of a sentence, which must be legal; in a share of sentences one is another."""
        chance = self.draw()
        if chance >= self.share + self.unreadable or not tags:
            return tags
        if chance < self.share:
            index, tag, flaws = self._edit([self.flaws.numbers[tag] for tag in tags])
        else:
            index, tag = self._any(range(len(tags))), self._any(self.strange)
            flaws = [Flaw(UNREADABLE, tag)]
        self.sentences += 1
        self.planted.update(flaws)
        return [*tags[:index], tag, *tags[index + 1 :]]

    def _edit(self, codes: list[int]) -> tuple[int, str, list[Flaw]]:
        """A tag to change, what it becomes, and what is wrong then."""
        table, planted = self.flaws.table, self.planted
        edge = len(table) - 1
        around = [edge, *codes, edge]
        best, fewest = list[tuple[int, int]](), -1
        for index in range(len(codes)):
            row, after = table[around[index]], around[index + 2]
            for code in range(edge):
                found = [planted[flaw] for flaw in (row[code], table[code][after]) if flaw]
                if not found:
                    continue
                rank = min(found)
                if rank < fewest or not best:
                    best, fewest = [], rank
                if rank == fewest:
                    best.append((index, code))
        index, code = self._any(best)
        flaws = [table[around[index]][code], table[code][around[index + 2]]]
        return index, self.flaws.names[code], [flaw for flaw in flaws if flaw]

    def _any(self, several: Sequence[_T]) -> _T:
        return several[int(self.draw() * len(several))]
