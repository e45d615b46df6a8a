"""Schemes and policies as data and in words, each with an example."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..span import Span
from .policy import BEST, POLICIES
from .scheme import SCHEMES, Scheme
from .write import repair, write

TABLES = ("join", "split", "meet", "follow")
TOKENS = ["Bank", "of", "Kenya", "Ltd", "Nairobi", ",", "Ada", "said"]
SPANS = [Span(0, 3, "ORG"), Span(3, 4, "ORG"), Span(4, 5, "LOC"), Span(6, 7, "PER")]
APART = [Span(0, 4, "ORG"), *SPANS[2:]]  # for io, in which the two ORGs cannot be told apart
BROKEN = {
    "bio": ["I-ORG", "I-ORG", "O", "B-PER", "I-LOC"],
    "iobes": ["B-ORG", "I-PER", "E-ORG", "O", "B-LOC"],
}


def example(scheme: Scheme) -> list[str]:
    """Return the tags of the example sentence."""
    return write(SPANS if scheme.split else APART, len(TOKENS), scheme)


def schemes_as_data() -> list[dict[str, Any]]:
    """Return every scheme with its tables and an example."""
    return [
        {"name": scheme.name, "aliases": scheme.aliases, "summary": scheme.summary}
        | {kind: getattr(scheme, kind) for kind in TABLES}
        | {"silent": sorted(scheme.silent), "tokens": TOKENS, "example": example(scheme)}
        for scheme in SCHEMES.values()
    ]


def policies_as_data() -> list[dict[str, Any]]:
    """Return every policy with what it makes of malformed tags."""
    return [
        {"name": policy.name, "aliases": policy.aliases, "summary": policy.summary}
        | {"broken": BROKEN}
        | {
            "repaired": {
                scheme: None if policy.refuses else repair(tags, scheme, policy).tags
                for scheme, tags in BROKEN.items()
            }
        }
        for policy in POLICIES.values()
    ]


def scheme_lines() -> Iterator[str]:
    """Yield the schemes with their tables and an example of each."""
    yield "Two neighbours of one span join, of two spans of one label split, else meet;"
    yield "a token that names the span before it follows; $ is the end of a sentence;"
    yield "what is silent is written O."
    yield f"    {'':7} {_in_cells(TOKENS)}"
    for row in schemes_as_data():
        yield f"\n{_title(row)}"
        for kind in TABLES:
            if pairs := row[kind]:
                yield f"    {kind:7} {' '.join(f'{p}>{c}' for p, c in pairs)}"
        if row["silent"]:
            yield f"    silent  {' '.join(row['silent'])}"
        yield f"    example {_in_cells(row['example'])}"


def policy_lines() -> Iterator[str]:
    """Yield what every policy makes of malformed tags."""
    for row in policies_as_data():
        yield _title(row)
        for scheme, tags in row["repaired"].items():
            made = " ".join(tags) if tags else "an error that lists every violation"
            yield f"    {scheme:6} {' '.join(BROKEN[scheme])}  =>  {made}"
        yield ""
    yield f"{BEST.name}: {BEST.summary} (in Python and in iobes_repairer)"


def _title(row: dict[str, Any]) -> str:
    aliases = f" ({', '.join(row['aliases'])})" if row["aliases"] else ""
    return f"{row['name']}{aliases}: {row['summary']}"


def _in_cells(cells: list[str]) -> str:
    return "".join(f"{cell:8}" for cell in cells).rstrip()
