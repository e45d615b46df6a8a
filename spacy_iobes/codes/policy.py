"""Policies as data: what a malformed tag sequence becomes.

A policy judges one gap at a time: does a span end here, does one start, is one of them lost. On a
legal sequence every policy finds the same spans; they differ only where the scheme is broken.

In be, `B-x` and the next tag belong together if that is `E-x`; what they enclose is one span under
every policy. Of the rest, `begin` makes spans of one token, `discard` none; `stanza` takes `B-x`
and an `E-y` after it for a span y, `ncrfpp` for a span x, which lasts to the next tag if that is no
`E` and is one token if there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from ..errors import UnknownNameError
from ..kernels import bits
from ..names import find
from .scheme import EDGE, Gap, Scheme

Rule = Callable[[Scheme, str, str, bool], int]
"""(scheme, previous prefix, current prefix, same label) -> the bits of the gap between the two."""


@dataclass(frozen=True, eq=False)
class Policy:
    """A named rule for malformed tags.

    `first_label`: a span takes the label of its first token, not its last. `refuses`: violations
    are an error. `searches`: the tags are replaced by the nearest legal ones before they are read.
    `weighs`: they are replaced by the most probable legal ones, for which `repair` takes scores.
    `across`: in a scheme that writes nothing but the first and last tags of a span, as be does, the
    two belong together even if their labels differ.
    """

    name: str
    summary: str
    rule: Rule
    first_label: bool = False
    refuses: bool = False
    searches: bool = False
    weighs: bool = False
    across: bool = False
    aliases: tuple[str, ...] = ()


def begin(scheme: Scheme, previous: str, current: str, same: bool) -> int:
    """What does not legally continue a span ends it; what is inside then starts a new one."""
    if scheme.relation(previous, current, same) is Gap.JOIN:
        return 0
    ends = bits.END if previous in scheme.inside else 0
    starts = bits.START if current in scheme.inside else 0
    return ends | starts


def discard(scheme: Scheme, previous: str, current: str, same: bool) -> int:
    """Like `begin`, but a span is lost if its own first or last tag cannot be at a boundary."""
    found = begin(scheme, previous, current, same)
    gap = scheme.boundary(previous, current, same)
    if found & bits.END and previous not in scheme.before(gap):
        found |= bits.LOSE_LEFT
    if found & bits.START and current not in scheme.behind(gap):
        found |= bits.LOSE_RIGHT
    return found


def stanza(scheme: Scheme, previous: str, current: str, same: bool) -> int:
    """Like `begin`, but a tag whose prefix continues a span does so whatever its label says."""
    if scheme.relation(previous, current, same) is None and (previous, current) in scheme.join:
        return 0
    return begin(scheme, previous, current, same)


def ncrfpp(scheme: Scheme, previous: str, current: str, same: bool) -> int:
    """Begin and end tags decide; what lies between them is ignored, an unclosed begin stands alone.

    Where a scheme does not mark both ends of a span there is nothing to ignore: this is `discard`.
    """
    if not scheme.bounded:
        return discard(scheme, previous, current, same)
    opens = bits.START if current in scheme.openers else 0
    if current == EDGE:
        return bits.END if previous in scheme.closers else bits.END | bits.CUT
    return opens | (bits.END if opens or previous in scheme.closers else 0)


_POLICIES = (
    Policy(
        "raise",
        "refuse, and list every violation",
        rule=begin,
        refuses=True,
        aliases=("none",),
    ),
    Policy(
        "begin",
        "a tag that cannot continue the open span begins a new one; nothing is lost",
        rule=begin,
        aliases=("conlleval",),
    ),
    Policy(
        "discard",
        "a span counts only if its own first and last tags may stand where they do",
        rule=discard,
        aliases=("strict",),
    ),
    Policy(
        "ncrfpp",
        "begin and end tags decide, what lies between is ignored, the first label wins",
        rule=ncrfpp,
        first_label=True,
    ),
    Policy(
        "stanza",
        "prefixes decide where spans begin and end, the last label wins",
        rule=stanza,
        across=True,
    ),
    Policy(
        "nearest",
        "the legal sequence with the fewest changed tags",
        rule=begin,
        searches=True,
    ),
)

POLICIES: Mapping[str, Policy] = MappingProxyType({policy.name: policy for policy in _POLICIES})
"""Every policy that needs nothing but tags, by name."""

BEST = Policy(
    "best",
    "the most probable legal sequence, where scores for each tag are at hand",
    rule=begin,
    weighs=True,
)
_EVERY = {**POLICIES, BEST.name: BEST}


def get_policy(name: str | Policy) -> Policy:
    """Find a policy by name or alias, without regard to case."""
    return find(_EVERY, Policy, name)


def get_tag_policy(name: str | Policy) -> Policy:
    """Find a policy that needs nothing but tags."""
    policy = get_policy(name)
    if policy.weighs:
        known = ", ".join(POLICIES)
        message = f"The policy {policy.name!r} needs scores beside the tags. Known for tags alone: "
        raise UnknownNameError(f"{message}{known}.", policy.name, POLICIES)
    return policy
