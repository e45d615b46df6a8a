"""The command `info`: schemes, policies and formats, and versions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from .. import kernels
from ..about import __version__
from ..codes.reference import policies_as_data, policy_lines, scheme_lines, schemes_as_data
from ..corpus.format_table import format_rows, formats_as_data
from ..corpus.formats import FORMATS, load_others
from ..names import known_name
from ..scoring.tables import aligned
from .application import command, echo
from .options import Json
from .output import print_json

TOPICS = ("schemes", "policies", "formats")


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
    known_name("topic", topic, ("versions", *TOPICS))
    if topic == "schemes":
        show(schemes_as_data(), scheme_lines(), json)
    elif topic == "policies":
        show(policies_as_data(), policy_lines(), json)
    elif topic == "formats":
        load_others()
        show(list(formats_as_data()), format_lines(), json)
    else:
        found = versions()
        show(found, version_lines(found), json)


def show(data: Any, lines: Iterable[str], json: bool) -> None:
    """Print data as JSON, or lines that say the same."""
    if json:
        print_json(data)
    else:
        echo("\n".join(lines))


def format_lines() -> Iterable[str]:
    """Yield the formats, and which commands take them."""
    for row in FORMATS.values():
        yield f"{row.name}: {row.about}{f' ({x})' if (x := ' '.join(row.endings)) else ''}"
    (first, *rows), header = format_rows()
    yield f"\n{aligned(first, rows, 'l' * len(first), (header - 1,))}"


def versions() -> dict[str, str]:
    """Return versions, and whether the compiled kernels are in use."""
    import platform  # here, since both take longer to load than a small file to score
    from importlib.metadata import version

    from ..kernels import separators

    return {
        "spacy-iobes": __version__,
        "kernels": kernels.IN_USE,
        "chain kernels": kernels.CHAIN_IN_USE,
        "separator kernels": separators.IN_USE,
        "chain build": kernels.CHAIN_BUILD,
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{name: version(name) for name in ("spacy", "thinc", "numpy", "typer")},
    }


def version_lines(found: dict[str, str]) -> Iterable[str]:
    """Yield versions in words."""
    for name, value in found.items():
        yield f"{name:17} {value}"
    if kernels.SWITCHED_OFF:
        yield f"The compiled kernels are switched off by {kernels.SWITCH}."
