"""The command `info`: schemes, policies and formats, and versions."""

from __future__ import annotations

from collections.abc import Callable
from itertools import zip_longest
from typing import Annotated, Any

import typer

from .. import kernels
from ..about import __version__
from ..codes.policy import BEST, POLICIES
from ..codes.scheme import SCHEMES, Pairs, Scheme
from ..codes.write import repair, write
from ..corpus.formats import FORMATS, Format, load_others
from ..names import known_name
from ..scoring.tables import aligned
from ..span import Span
from .application import command, echo
from .options import Json
from .output import print_json

TOKENS = ["Bank", "of", "Kenya", "Ltd", "Nairobi", ",", "Ada", "said"]
SPANS = [Span(0, 3, "ORG"), Span(3, 4, "ORG"), Span(4, 5, "LOC"), Span(6, 7, "PER")]
APART = [Span(0, 4, "ORG"), *SPANS[2:]]  # for io, in which the two ORGs cannot be told apart
BROKEN = {
    "bio": ["I-ORG", "I-ORG", "O", "B-PER", "I-LOC"],
    "iobes": ["B-ORG", "I-PER", "E-ORG", "O", "B-LOC"],
}


def example(scheme: Scheme) -> list[str]:
    """The tags of the example sentence."""
    return write(SPANS if scheme.split else APART, len(TOKENS), scheme)


def in_cells(cells: list[str]) -> str:
    """Cells of one width in a line."""
    return "".join(f"{cell:8}" for cell in cells).rstrip()


def pairs_in_words(pairs: Pairs) -> str:
    """`B>I I>I`."""
    return " ".join(f"{p}>{c}" for p, c in pairs)


def schemes_as_data() -> list[dict[str, Any]]:
    """Every scheme with its table and an example."""
    return [
        {"name": scheme.name, "aliases": scheme.aliases, "summary": scheme.summary}
        | {kind: getattr(scheme, kind) for kind in ("join", "split", "meet", "follow")}
        | {"silent": sorted(scheme.silent), "tokens": TOKENS, "example": example(scheme)}
        for scheme in SCHEMES.values()
    ]


def policies_as_data() -> list[dict[str, Any]]:
    """Every policy with what it makes of malformed tags."""
    rows = []
    for policy in POLICIES.values():
        made = {
            scheme: None if policy.refuses else repair(tags, scheme, policy).tags
            for scheme, tags in BROKEN.items()
        }
        row = {"name": policy.name, "aliases": policy.aliases, "summary": policy.summary}
        rows.append(row | {"broken": BROKEN, "repaired": made})
    return rows


def show_schemes(json: bool) -> None:
    """Print the schemes with their tables and an example of each."""
    if json:
        print_json(schemes_as_data())
        return
    echo("Two neighbours of one span join, of two spans of one label split, else meet;")
    echo("a token that names the span before it follows; $ is the end of a sentence;")
    echo("what is silent is written O.")
    echo(f"    {'':7} {in_cells(TOKENS)}")
    for scheme in SCHEMES.values():
        names = f"{scheme.name} ({', '.join(scheme.aliases)})" if scheme.aliases else scheme.name
        echo(f"\n{names}: {scheme.summary}")
        for kind in ("join", "split", "meet", "follow"):
            if pairs := getattr(scheme, kind):
                echo(f"    {kind:7} {pairs_in_words(pairs)}")
        if scheme.silent:
            echo(f"    silent  {' '.join(sorted(scheme.silent))}")
        echo(f"    example {in_cells(example(scheme))}")


def show_policies(json: bool) -> None:
    """Print what every policy makes of malformed tags."""
    if json:
        print_json(policies_as_data())
        return
    for number, row in enumerate(policies_as_data()):
        names = f"{row['name']} ({', '.join(row['aliases'])})" if row["aliases"] else row["name"]
        echo("\n" * bool(number) + f"{names}: {row['summary']}")
        for scheme_name, tags in row["repaired"].items():
            made = " ".join(tags) if tags else "an error that lists every violation"
            echo(f"    {scheme_name:6} {' '.join(BROKEN[scheme_name])}  =>  {made}")
    echo(f"\n{BEST.name}: {BEST.summary} (in Python and in iobes_repairer)")


NEEDS: dict[str, Callable[[Format], bool]] = {
    "read": lambda row: True,
    "tags": lambda row: row.tagged,
    "gold": lambda row: row.annotated,
    "write": lambda row: row.writable,
}
"""What a command may need of a format."""
TAKES = {
    "validate": "tags",
    "summarize": "read",
    "convert": "read",
    "convert --to": "write",
    "repair": "write",
    "score (gold)": "gold",
    "score (pred)": "read",
    "compare (gold)": "gold",
    "compare (a, b)": "read",
    "train": "gold",
    "predict": "read",
    "tune": "gold",
    "explain": "read",
    "annotate": "read",
    "select": "read",
    "simulate": "gold",
    "strategies": "gold",
    "predict --to": "write",
    "generate": "write",
}
"""What each command needs of the formats that it takes."""


def show_formats(json: bool) -> None:
    """Print the formats, and which commands take them."""
    load_others()
    if json:
        print_json(
            [
                {"name": row.name, "about": row.about, "endings": row.endings}
                | {"commands": {name: NEEDS[need](row) for name, need in TAKES.items()}}
                for row in FORMATS.values()
            ]
        )
        return
    for row in FORMATS.values():
        endings = f" ({' '.join(row.endings)})" if row.endings else ""
        echo(f"{row.name}: {row.about}{endings}")
    echo(f"\n{matrix()}")


def matrix() -> str:
    """Return a table that says which command takes which format.

    Commands that need the same of a format share a column, which begins with all of their names.
    """
    names = ([name for name, wanted in TAKES.items() if wanted == need] for need in NEEDS)
    first, *more = (("", *line) for line in zip_longest(*names, fillvalue=""))
    rows = [
        (row.name, *("yes" if holds(row) else "-" for holds in NEEDS.values()))
        for row in FORMATS.values()
    ]
    return aligned(first, [*more, *rows], "l" * len(first), (len(more),))


TOPICS = {"schemes": show_schemes, "policies": show_policies, "formats": show_formats}


@command("info")
def info_cli(
    topic: Annotated[
        str,
        typer.Argument(
            metavar="[TOPIC]",
            help=f"One of: versions, {', '.join(TOPICS)}.",
            show_default=False,
        ),
    ] = "versions",
    json: Json = False,
) -> None:
    """Show versions and kernels in use; or the schemes, the policies, or the formats."""
    if topic in TOPICS:
        TOPICS[topic](json)
    else:
        known_name("topic", topic, ("versions", *TOPICS))
        show_versions(json)


def show_versions(json: bool) -> None:
    """Print versions, and whether the compiled kernels are in use."""
    import platform  # here, since both take longer to load than a small file to score
    from importlib.metadata import version

    from ..kernels import separators

    in_use = {
        "kernels": kernels.IN_USE,
        "chain kernels": kernels.CHAIN_IN_USE,
        "separator kernels": separators.IN_USE,
    }
    facts = {
        "spacy-iobes": __version__,
        **in_use,
        "chain build": kernels.CHAIN_BUILD,
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{name: version(name) for name in ("spacy", "thinc", "numpy", "typer")},
    }
    if json:
        print_json(facts)
        return
    for name, value in facts.items():
        echo(f"{name:17} {value}")
    if kernels.SWITCHED_OFF:
        echo(f"The compiled kernels are switched off by {kernels.SWITCH}.")
