"""The recipe of a score, in one line that can be read back."""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace

from ..about import __version__
from ..codes.policy import get_policy
from ..codes.scheme import get_scheme
from ..errors import UnknownNameError

METRICS = ("f1", "precision", "recall")
AVERAGES = ("micro", "macro", "weighted")
MATCHES = ("exact", "muc-strict", "muc-exact", "muc-partial", "muc-type")
OFFSETS = ("tokens", "characters")
SPANS = "spans"  # in place of a scheme: the spans were given as such


def known(kind: str, name: str, names: tuple[str, ...]) -> str:
    """The name, if it is one of those; else an error that lists them."""
    if name not in names:
        raise UnknownNameError(f"Unknown {kind} {name!r}. Known: {', '.join(names)}.", name, names)
    return name


@dataclass(frozen=True)
class Signature:
    """What a score depends on beside the data: known before scoring, printed with the score.

    `f1:micro|match:exact|scheme:bio|policy:begin|gold_policy:raise|version:0.2.0`: the
    micro-averaged F1 of spans that match exactly, malformed predictions repaired by `begin`,
    malformed gold refused. Spans of characters are marked `offsets:characters`; all others are
    spans of tokens.
    """

    metric: str = "f1"
    average: str = "micro"
    match: str = "exact"
    scheme: str = SPANS
    policy: str = "raise"
    gold_policy: str = "raise"
    version: str = field(default=__version__)
    offsets: str = OFFSETS[0]

    def __post_init__(self) -> None:
        known("metric", self.metric, METRICS)
        known("average", self.average, AVERAGES)
        known("match", self.match, MATCHES)
        known("offsets", self.offsets, OFFSETS)
        if self.match != MATCHES[0]:
            known(f"average for the match {self.match}:", self.average, AVERAGES[:1])
        names = [x if x == SPANS else get_scheme(x).name for x in self.scheme.split("/")]
        object.__setattr__(self, "scheme", "/".join(names))
        for key in ("policy", "gold_policy"):
            object.__setattr__(self, key, get_policy(getattr(self, key)).name)

    def of_schemes(self, gold: str, predicted: str) -> Signature:
        """Return the same recipe for sources whose tags are in these schemes, or that have none."""
        return replace(self, scheme=gold if gold == predicted else f"{gold}/{predicted}")

    @property
    def muc(self) -> str | None:
        """The kind of MUC-style match, if it is one."""
        return None if self.match == MATCHES[0] else self.match.removeprefix("muc-")

    def __str__(self) -> str:
        names = [key.name for key in fields(self)[2:-1]]
        names += ["offsets"] * (self.offsets != OFFSETS[0])
        rest = "|".join(f"{name}:{getattr(self, name)}" for name in names)
        return f"{self.metric}:{self.average}|{rest}"

    @classmethod
    def parse(cls, text: str) -> Signature:
        """Read a signature back."""
        pairs = [part.partition(":") for part in text.strip().split("|")]
        names = [key.name for key in fields(cls)[2:]]
        if [name for name, _, _ in pairs[1:]] not in (names, names[:-1]):
            form = str(cls())
            raise UnknownNameError(f"{text!r} is not a signature, which looks like {form!r}.", text)
        metric, _, average = pairs[0]
        return cls(metric, average, *(value for _, _, value in pairs[1:]))
