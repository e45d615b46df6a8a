"""Random input for Hypothesis: schemes, policies, tags, and spans with a sentence length."""

from __future__ import annotations

from hypothesis import strategies as st

from spacy_iobes import POLICIES, Span

from . import by_hand

LABELS = ("X", "Y", "creative-work", "B-side", "O", "")

schemes = st.sampled_from(sorted(by_hand.PREFIXES))
repairs = st.sampled_from([name for name in POLICIES if name != "raise"])


def tags(scheme: str) -> st.SearchStrategy[str]:
    """Tags of a scheme, most of them with one of two labels."""
    common = by_hand.all_tags(scheme, LABELS[:2])
    return st.sampled_from(common) | st.sampled_from(by_hand.all_tags(scheme, LABELS))


def sentences(scheme: str) -> st.SearchStrategy[list[str]]:
    return st.lists(tags(scheme), max_size=12)


def corpora(scheme: str) -> st.SearchStrategy[list[list[str]]]:
    return st.lists(sentences(scheme), max_size=6)


@st.composite
def spans(draw: st.DrawFn, scheme: str = "") -> tuple[list[Span], int]:
    """Disjoint spans, sorted, that the scheme has tags for; and the length of their sentence."""
    steps = draw(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4), st.sampled_from(LABELS))))
    found: list[Span] = []
    for gap, length, label in steps:
        end = found[-1].end if found else 0
        if not by_hand.expressible([*found[-1:], Span(end + gap, end + gap + 1, label)], scheme):
            gap += 1
        found.append(Span(end + gap, end + gap + length, label))
    return found, (found[-1].end if found else 0) + draw(st.integers(0, 2))
