"""Feature templates: which attributes of which tokens, and which of them together."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from spacy.strings import get_string_id

from ..arrays import Ints, Values
from ..errors import UnknownNameError

TEMPLATES = (
    "bias",
    # the token
    "text",
    "lower",
    "digits",
    "shape",
    "kinds",
    "prefix1",
    "prefix2",
    "prefix3",
    "prefix4",
    "suffix1",
    "suffix2",
    "suffix3",
    "suffix4",
    # its neighbours
    "lower[-1]",
    "shape[-1]",
    "prefix3[-1]",
    "suffix3[-1]",
    "lower[+1]",
    "shape[+1]",
    "prefix3[+1]",
    "suffix3[+1]",
    "lower[-2]",
    "kinds[-2]",
    "lower[+2]",
    "kinds[+2]",
    # together
    "lower[-1] lower",
    "lower lower[+1]",
    "shape[-1] shape",
    "shape shape[+1]",
    "kinds[-1] kinds",
    "kinds kinds[+1]",
    "kinds[-1] kinds kinds[+1]",
    "kinds[-2] kinds[-1] kinds",
    "kinds kinds[+1] kinds[+2]",
    "kinds[-2] kinds[-1] kinds kinds[+1] kinds[+2]",
    "lower[-1] kinds",
    "kinds lower[+1]",
    "lower kinds[+1]",
    "kinds[-1] lower",
)
"""What is used unless a config says otherwise."""

GAPS = (
    "bias",
    *(
        f"{attribute}{place}"
        for place in ("[-1]", "")
        for attribute in (
            *("text", "lower", "digits", "shape", "kinds"),
            *(f"{affix}{length}" for affix in ("prefix", "suffix") for length in (1, 2, 3, 4)),
        )
    ),
    *(f"{attribute}[-2]" for attribute in ("lower", "shape", "suffix3", "prefix3")),
    *(f"{attribute}[+1]" for attribute in ("lower", "shape", "suffix3", "prefix3")),
    *("lower[-3]", "lower[+2]", "kinds[-3]", "kinds[+2]"),
    "lower[-1] lower",
    "lower[-2] lower[-1]",
    "lower lower[+1]",
    "lower[-2] lower[-1] lower",
    "lower[-1] lower lower[+1]",
    "lower[-1] suffix3",
    "suffix3[-1] lower",
    "suffix3[-1] suffix3",
    "suffix3[-2] suffix3[-1]",
    "suffix3 suffix3[+1]",
    "shape[-1] shape",
    "kinds[-1] kinds",
    "kinds[-2] kinds[-1] kinds",
    "kinds[-1] kinds kinds[+1]",
    "kinds[-2] kinds[-1] kinds kinds[+1]",
    "lower[-1] kinds",
    "kinds[-1] lower",
)
"""What is used for the gaps between tokens: the token before one is at -1, that behind it at 0."""

DOCUMENT = (
    "place",
    "place casing",
    "capitals",
    "capitals lower",
    "capitals kinds",
    "seen",
    "seen casing",
    "before_first",
    "after_first",
    "before_earlier",
    "after_earlier",
    "before_later",
    "after_later",
)
"""What is added where Docs are documents."""

GAPS_DOCUMENT = (
    "seen[-1]",
    "seen",
    "capitals",
    "before_first",
    "after_first[-1]",
    "before_earlier",
    "after_earlier[-1]",
    "before_later",
    "after_later[-1]",
)
"""What is added for gaps where Docs are documents: other places of the words on both sides."""

BIAS = "bias"


def both_sides(templates: Sequence[str]) -> list[str]:
    """The same templates for the token before a gap, at -1, and for the one behind it, at 0."""
    every = (sided for template in templates for sided in (_before(template), template))
    return list(dict.fromkeys(" ".join(template.split()) for template in every))


def _before(template: str) -> str:
    """A template that sees from one token to the left of where it saw from."""
    if template == BIAS:
        return BIAS
    found = (PART.fullmatch(text) for text in template.split())
    moved = [(part[1], int(part[2] or 0) - 1) for part in found if part is not None]
    return " ".join(f"{name}[{distance:+d}]" if distance else name for name, distance in moved)


PART = re.compile(r"(\w+?)(?:\[([+-]?\d+)\])?")


class Templates(NamedTuple):
    """Templates as the kernel takes them; see `features_numpy.mix`."""

    names: tuple[str, ...]
    attributes: tuple[str, ...]
    seeds: Values
    parts: Ints
    bounds: Ints


def read_templates(templates: Sequence[str], known: Sequence[str]) -> Templates:
    """Read templates such as `lower`, `shape[-1]` or `lower[-1] lower`; every token has `bias`.

    The attributes are numbered in the order of those that are known.
    """
    names = tuple(dict.fromkeys(" ".join(template.split()) for template in templates))
    if "" in names:
        raise ValueError("An empty template is none: name an attribute, or several.")
    every = [[_part(text, name, known) for text in name.split() if name != BIAS] for name in names]
    used = {attribute for parts in every for attribute, _ in parts}
    attributes = tuple(name for name in known if name in used)
    parts = [(attributes.index(name), distance) for parts in every for name, distance in parts]
    return Templates(
        names,
        attributes,
        np.array([get_string_id(name) for name in names], dtype=np.uint64),
        np.array(parts, dtype=np.int32).reshape(-1, 2),
        np.cumsum([0, *map(len, every)], dtype=np.int32),
    )


def _part(text: str, template: str, known: Sequence[str]) -> tuple[str, int]:
    found = PART.fullmatch(text)
    if found is None:
        raise ValueError(
            f"{template!r} is no template. A template is an attribute, or several with spaces "
            "between them, each with a distance if it is not the token's own: lower shape[-1]."
        )
    if found[1] not in known:
        listed = ", ".join(known)
        raise UnknownNameError(
            f"Unknown attribute {found[1]!r} in the template {template!r}. Known: {listed}; "
            f"{BIAS} alone in a template; those of clusters and lists where the config has these.",
            found[1],
            known,
        )
    return found[1], int(found[2] or 0)
