"""Schemes as data: how two neighbouring tokens may be tagged, and nothing else.

A pair of prefixes can JOIN two tokens (same label, one span), SPLIT them (same label, two spans)
or let them MEET (the labels differ, or one side is outside). A scheme is those three sets of pairs.
Parsing, writing, validation, conversion, repair and transition masks are all derived from them.
One scheme, bia, needs a fourth: an outside prefix may FOLLOW a span and name its label. There a
sentence may also end (`$`) where no `O` may stand. Another, be, asks two questions of each token in
place of one: a scheme may name the letters that are CHOICES of their own. What its table calls `I`
answers neither of them, so it is silent: the text has `O` there, and `B-x O E-x` is one span.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cached_property
from types import MappingProxyType

from ..names import find

OUTSIDE = "O"
EDGE = "$"  # the start or end of a sentence; counts as O unless a pair names it


class Gap(IntEnum):
    """What lies between two neighbouring tokens."""

    JOIN = 0
    SPLIT = 1
    MEET = 2


Pairs = tuple[tuple[str, str], ...]


def pairs(text: str) -> Pairs:
    """Read `"BI II"` as the pairs (B, I) and (I, I)."""
    return tuple((pair[0], pair[1]) for pair in text.split())


@dataclass(frozen=True, eq=False)
class Scheme:
    """A tag encoding; `follow` are the pairs in which an outside prefix names the span before.

    With `choices`, each of these letters is chosen for itself, and a prefix is all that were; one
    that has none of them is not written, so its token looks like one outside.
    """

    name: str
    summary: str
    join: Pairs
    split: Pairs
    meet: Pairs
    follow: Pairs = ()
    choices: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()

    @cached_property
    def inside(self) -> tuple[str, ...]:
        """The prefixes of tokens that belong to a span, in the order of the table."""
        return tuple(dict.fromkeys(prefix for pair in self.join + self.split for prefix in pair))

    @cached_property
    def after(self) -> str | None:
        """The prefix of an outside token that names the span it follows, where there is one."""
        return self.follow[0][1] if self.follow else None

    @cached_property
    def silent(self) -> frozenset[str]:
        """The prefixes inside a span that are written as `O`."""
        if not self.choices:
            return frozenset()
        return frozenset(p for p in self.inside if not any(c in p for c in self.choices))

    @cached_property
    def prefixes(self) -> tuple[str, ...]:
        """Every prefix that takes a label."""
        return self.inside + ((self.after,) if self.after else ())

    @cached_property
    def written(self) -> tuple[str, ...]:
        """Every prefix that stands in text: all but the silent ones."""
        return tuple(prefix for prefix in self.prefixes if prefix not in self.silent)

    @cached_property
    def openers(self) -> frozenset[str]:
        """The prefixes that can never continue a span."""
        return frozenset(self.inside) - {current for _, current in self.join}

    @cached_property
    def closers(self) -> frozenset[str]:
        """The prefixes that can never be continued."""
        return frozenset(self.inside) - {previous for previous, _ in self.join}

    @cached_property
    def bounded(self) -> bool:
        """Whether every span has a first and a last tag that can be nothing else."""
        boundaries = (Gap.SPLIT, Gap.MEET)
        firsts = frozenset().union(*(self.behind(gap) for gap in boundaries))
        lasts = frozenset().union(*(self.before(gap) for gap in boundaries))
        return firsts <= self.openers and lasts <= self.closers

    def pairs_of(self, gap: Gap) -> Pairs:
        """The pairs of prefixes that stand for `gap`."""
        return (self.join, self.split, self.meet + self.follow)[gap]

    def before(self, gap: Gap) -> frozenset[str]:
        """The prefixes inside a span that may stand before `gap`."""
        return frozenset(p for p, _ in self.pairs_of(gap)) & frozenset(self.inside)

    def behind(self, gap: Gap) -> frozenset[str]:
        """The prefixes inside a span that may stand behind `gap`."""
        return frozenset(c for _, c in self.pairs_of(gap)) & frozenset(self.inside)

    def boundary(self, previous: str, current: str, same: bool) -> Gap:
        """The kind of gap that these two form if they do not belong to one span."""
        both = previous in self.inside and current in self.inside
        return Gap.SPLIT if same and both else Gap.MEET

    def relation(self, previous: str, current: str, same: bool) -> Gap | None:
        """What the scheme makes of two neighbours with the same label or not; None if illegal."""
        pair = (OUTSIDE if previous == EDGE else previous, current)
        if self.boundary(previous, current, same) is Gap.SPLIT:
            return Gap.JOIN if pair in self.join else Gap.SPLIT if pair in self.split else None
        if pair in self.meet or (same and pair in self.follow):
            return Gap.MEET
        return Gap.MEET if current == EDGE and (pair[0], OUTSIDE) in self.meet else None

    def prefix(self, left: Gap, right: Gap) -> str | None:
        """The one prefix of a token in a span between two gaps; None if the scheme has none."""
        fitting = [p for p in self.inside if p in self.behind(left) and p in self.before(right)]
        if len(fitting) > 1:
            raise ValueError(
                f"Scheme {self.name!r} is ambiguous: {fitting} all fit {left}, {right}."
            )
        return fitting[0] if fitting else None

    def renamed(self, name: str, letters: Mapping[str, str], summary: str, *aliases: str) -> Scheme:
        """The same scheme with other letters."""

        def rename(old: Pairs) -> Pairs:
            return tuple((letters.get(p, p), letters.get(c, c)) for p, c in old)

        return replace(
            self,
            name=name,
            summary=summary,
            aliases=aliases,
            join=rename(self.join),
            split=rename(self.split),
            meet=rename(self.meet),
            follow=rename(self.follow),
            choices=tuple(letters.get(letter, letter) for letter in self.choices),
        )


def _schemes() -> Iterator[Scheme]:
    yield Scheme(
        "io",
        "every token of a span is I; spans of one label cannot touch",
        join=pairs("II"),
        split=pairs(""),
        meet=pairs("OO OI IO II"),
        aliases=("triv",),
    )
    yield Scheme(
        "iob1",
        "I, but B where a span touches the one before it and has its label",
        join=pairs("BI II"),
        split=pairs("BB IB"),
        meet=pairs("OO OI IO BO II BI"),
    )
    yield Scheme(
        "bio",
        "B begins every span",
        join=pairs("BI II"),
        split=pairs("BB IB"),
        meet=pairs("OO OB BO IO BB IB"),
        aliases=("iob2",),
    )
    yield Scheme(
        "ioe1",
        "I, but E where a span touches the next one and has its label",
        join=pairs("II IE"),
        split=pairs("EI EE"),
        meet=pairs("OO OI OE IO II IE"),
    )
    yield Scheme(
        "ioe2",
        "E ends every span",
        join=pairs("II IE"),
        split=pairs("EI EE"),
        meet=pairs("OO OI OE EO EI EE"),
    )
    iobes = Scheme(
        "iobes",
        "B begins, E ends, S is a span of one token",
        join=pairs("BI BE II IE"),
        split=pairs("EB ES SB SS"),
        meet=pairs("OO OB OS EO SO EB ES SB SS"),
        aliases=("bioes",),
    )
    yield iobes
    yield iobes.renamed("bilou", {"E": "L", "S": "U"}, "iobes with L (last) and U (unit)", "biluo")
    yield iobes.renamed(
        "bmewo", {"I": "M", "S": "W"}, "iobes with M (middle) and W (whole)", "bmeow"
    )
    yield iobes.renamed("bmes", {"I": "M"}, "iobes with M (middle)", "bmeso")
    bie = iobes.renamed("bie", {"S": "BE"}, "iobes with BE for a span of one token")
    yield bie
    yield Scheme(
        "bia",
        "B begins every span, A marks the token after it",
        join=pairs("BI II"),
        split=pairs("BB IB"),
        meet=pairs("OO OB AO AB BB IB B$ I$"),
        follow=pairs("BA IA"),
    )
    yield replace(
        bie,
        name="be",
        summary="B begins, E ends, each chosen for itself; I is silent: what lies between is O",
        choices=("B", "E"),
    )


ROWS: dict[str, Scheme] = {scheme.name: scheme for scheme in _schemes()}
"""What `add_scheme` adds to."""

SCHEMES: Mapping[str, Scheme] = MappingProxyType(ROWS)
"""Every scheme by name."""


def get_scheme(name: str | Scheme) -> Scheme:
    """Find a scheme by name or alias, without regard to case."""
    vague = isinstance(name, str) and name.strip().lower() == "iob"
    hint = (
        " Two schemes have been called so: say 'iob1' or 'iob2' (that is 'bio')." if vague else ""
    )
    return find(SCHEMES, Scheme, name, hint)
