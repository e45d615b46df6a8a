"""A new scheme is one row of data: it is looked at here, and then works like all the others.

add_scheme(Scheme("bo", "B begins every span, C continues it", join=pairs("BC CC"),
                  split=pairs("BB CB"), meet=pairs("OO OB BO CO BB CB")))
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise, product

import numpy as np

from ..errors import SchemeError
from ..kernels import bits
from ..span import Span
from .parse import parse_many, validate_many
from .scheme import EDGE, OUTSIDE, ROWS, Gap, Scheme
from .tag import join_tag, split_tag
from .tag_columns import CodedTags
from .write import write_many

LABELS = ("x", "y")
TOKENS = 4  # of the sentences that are tried: what a table says of two neighbours shows in these


def add_scheme(scheme: Scheme) -> Scheme:
    """Add a scheme to SCHEMES, if its tags and sets of disjoint spans correspond one to one.

    All that takes the name of a scheme knows it then, in this process; what it trains is loaded
    where it was added, too. Only spans of one label that touch may have no tags, as in io.
    """
    if not isinstance(scheme, Scheme):
        raise TypeError(f"A scheme is a Scheme, not {scheme!r:.60}.")
    _require_name(scheme)
    _require_prefixes(scheme)
    _require_choices(scheme)
    _require_round_trip(scheme)
    ROWS[scheme.name] = scheme
    return scheme


def _require_name(scheme: Scheme) -> None:
    taken = {name for row in ROWS.values() for name in (row.name, *row.aliases)}
    for name in (scheme.name, *scheme.aliases):
        if not name or name != name.strip().lower():
            raise SchemeError(
                f"The name of a scheme is in lower case without spaces, not {name!r}."
            )
        if name in taken:
            raise SchemeError(f"There is a scheme called {name!r} already: take another name.")


def _require_prefixes(scheme: Scheme) -> None:
    """Every prefix can be read and packed, and a token of a span between two gaps has just one."""
    prefixes, most = scheme.prefixes, bits.UNREADABLE - bits.FIRST
    if not 0 < len(scheme.inside) <= len(prefixes) <= most:
        raise SchemeError(f"{scheme.name} has {len(prefixes)} prefixes, not from 1 to {most}.")
    for prefix in prefixes:
        if not prefix or "-" in prefix or prefix.split() != [prefix] or prefix in (OUTSIDE, EDGE):
            raise SchemeError(f"{scheme.name}: {prefix!r} cannot be a prefix.")
    named = {p for gap in Gap for pair in scheme.pairs_of(gap) for p in pair}
    for prefix in sorted(named - {*prefixes, OUTSIDE, EDGE}):
        raise SchemeError(f"{scheme.name}: {prefix!r} may meet others, but is never in a span.")
    if len({current for _, current in scheme.follow}) > 1:
        raise SchemeError(f"{scheme.name}: one prefix at most can follow a span.")
    gaps = tuple(Gap) if scheme.split else (Gap.JOIN, Gap.MEET)
    for left, right in product(gaps, gaps):
        try:
            fitting = scheme.prefix(left, right)
        except ValueError as error:
            raise SchemeError(str(error)) from error
        if fitting is None:
            raise SchemeError(
                f"{scheme.name} has no prefix for a token of a span that has {left.name} before it "
                f"and {right.name} behind it."
            )


def _require_choices(scheme: Scheme) -> None:
    """What is chosen says which prefix is written."""
    if not scheme.choices:
        return
    if scheme.follow:
        raise SchemeError(
            f"{scheme.name}: a scheme with choices has no prefix that follows a span."
        )
    for letter in scheme.choices:
        if not any(letter in prefix for prefix in scheme.written):
            raise SchemeError(f"{scheme.name}: no prefix has the letter {letter!r} of its choices.")
    chosen = [tuple(letter in p for letter in scheme.choices) for p in scheme.prefixes]
    if len(set(chosen)) < len(chosen):
        raise SchemeError(
            f"{scheme.name}: two prefixes have the same letters of the choices "
            f"{', '.join(scheme.choices)}, so that these do not say which it is."
        )


def _require_round_trip(scheme: Scheme) -> None:
    """Spans come back as they were, and no other tags are legal."""
    said = [
        (length, spans)
        for length, spans in _sets()
        if scheme.split
        or not any((a.end, a.label) == (b.start, b.label) for a, b in pairwise(spans))
    ]
    written = write_many([spans for _, spans in said], [length for length, _ in said], scheme)
    wrong = validate_many(written, scheme)
    for sentence, violation in wrong.rows():
        raise SchemeError(
            f"{scheme.name} writes {_shown(said[sentence][1])} as {' '.join(written[sentence])}, "
            f"which is not legal: {violation.message}."
        )
    for (_, spans), tags, found in zip(said, written, parse_many(written, scheme)):
        if found != list(spans):
            raise SchemeError(
                f"{scheme.name} writes {_shown(spans)} as {' '.join(tags)}, and reads "
                f"{_shown(found)} from that."
            )
    used = {split_tag(tag)[0] for tags in written for tag in tags}
    for prefix in scheme.written:
        if prefix not in used:
            raise SchemeError(f"{scheme.name}: no tag of any sentence has the prefix {prefix!r}.")
    _require_no_more(scheme, {tuple(tags) for tags in written})


def _require_no_more(scheme: Scheme, written: set[tuple[str, ...]]) -> None:
    """All legal tags are those of some spans."""
    names = (OUTSIDE, *(join_tag(prefix, label) for label in LABELS for prefix in scheme.written))
    for length in range(1, TOKENS + 1):
        rows = np.indices((len(names),) * length, dtype=np.int32).reshape(length, -1).T
        every = CodedTags.from_lengths(rows.ravel(), np.full(len(rows), length), names)
        legal = np.ones(len(rows), dtype=bool)
        legal[validate_many(every, scheme).sentence] = False
        for row in rows[legal].tolist():
            tags = tuple(names[code] for code in row)
            if tags not in written:
                raise SchemeError(
                    f"{' '.join(tags)} would be legal in {scheme.name}, but no spans are written "
                    "so: its table allows too much."
                )


def _sets() -> Iterator[tuple[int, tuple[Span, ...]]]:
    """Every set of disjoint spans in every short sentence."""

    def behind(start: int, length: int) -> Iterator[tuple[Span, ...]]:
        yield ()
        for a in range(start, length):
            for b, label in product(range(a + 1, length + 1), LABELS):
                for rest in behind(b, length):
                    yield (Span(a, b, label), *rest)

    return ((length, spans) for length in range(1, TOKENS + 1) for spans in behind(0, length))


def _shown(spans: tuple[Span, ...] | list[Span]) -> str:
    return ", ".join(str(tuple(span)) for span in spans) or "no spans"
