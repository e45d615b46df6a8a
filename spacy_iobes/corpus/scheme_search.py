"""The scheme of a file that names none: found where all that it may be read the same spans."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..codes.parse import read_spans, validate_many
from ..codes.policy import get_policy
from ..codes.scheme import SCHEMES
from ..codes.span_columns import SpanColumns
from ..codes.tag import read_tag
from ..codes.tag_columns import CodedTags
from ..codes.violation import BLOCKED, MISSING
from ..errors import FileError, IobesError
from ..span import Span
from .corpus import Corpus
from .sentences import Sentences

ORDER = ("bio", "iobes", "bilou", "iob1", "io")
"""Of several schemes that read the same spans, the first of these is named."""
ONLY_NAMED = ("be", "bia")
"""Schemes that are never found: nearly every file has all of their prefixes."""
BEGIN = get_policy("begin")


class SchemeSearch:
    """The schemes that the tags of a source may be in. Grows part by part with `add`.

    `candidates` have every prefix of its tags, with the number of violations of each; those in one
    of the `groups` read the same spans, if what is malformed begins a span. `apart` has the first
    place where two groups part: the sentence, and what each reads there. `named` are those of
    `ONLY_NAMED` that have every prefix, with their violations.
    """

    def __init__(self) -> None:
        every = [name for name in (*ORDER, *SCHEMES) if name not in ONLY_NAMED]
        self.candidates = dict.fromkeys(every, 0)
        self.named = dict.fromkeys(ONLY_NAMED, 0)
        self.groups = [every]
        self.apart: dict[tuple[str, str], str] = {}
        self._seen = dict[str, str]()  # every tag, and the place of the first one

    @property
    def legal(self) -> list[str]:
        """The candidates under which nothing is malformed."""
        return [name for name, violations in self.candidates.items() if not violations]

    @property
    def told(self) -> bool:
        """Whether there are tags of spans, legal ones, that can be read in but one way."""
        return bool(self.legal) and len(self.groups) == 1 and bool(self._seen.keys() - {"O"})

    def add(self, part: Sentences) -> None:
        """Look at the tags of more sentences."""
        for layer in part.tags:
            self._drop(part, layer)
            for name in self.named:
                self.named[name] += validate_many(layer, SCHEMES[name]).total
            readings = dict[str, SpanColumns]()
            for name in self.candidates:
                scheme = SCHEMES[name]
                self.candidates[name] += validate_many(layer, scheme).total
                readings[name] = read_spans(layer, scheme, BEGIN)
            self._split(part, readings)

    def _drop(self, part: Sentences, layer: CodedTags) -> None:
        """Leave out the schemes that lack one of the tags."""
        used, first = np.unique(layer.codes, return_index=True)
        met = sorted((at, layer.tags[code]) for code, at in zip(used.tolist(), first.tolist()))
        new = {tag: at for at, tag in met if tag not in (*self._seen, MISSING, BLOCKED)}
        self._seen |= {tag: part.place(at) for tag, at in new.items()}
        every = (*self.candidates, *self.named)
        gone = [x for x in every if not all(read_tag(tag, SCHEMES[x]) for tag in new)]
        for name in gone:
            self.candidates.pop(name, None)
            self.named.pop(name, None)
        left = ([name for name in group if name not in gone] for group in self.groups)
        self.groups = [group for group in left if group]

    def _split(self, part: Sentences, readings: dict[str, SpanColumns]) -> None:
        """Part the groups whose schemes read different spans."""
        groups = list[list[str]]()
        for group in self.groups:
            kinds = list[list[str]]()
            for name in group:
                same = (kind for kind in kinds if _equal(readings[kind[0]], readings[name]))
                kind = next(same, None)
                if kind is None:
                    for other in kinds:
                        self.apart[other[0], name] = _difference(part, readings, other[0], name)
                    kinds.append([name])
                else:
                    kind.append(name)
            groups += kinds
        self.groups = groups

    def found(self, name: str) -> str:
        """Return the scheme of the file of this name; raise if there is more than one reading."""
        asked = "name the scheme of its tags (--scheme)"
        if not (self.candidates or self.named):
            tag = min(self._seen, key=_owners)
            raise FileError(
                f"{self._seen[tag]}: no scheme has the tag {tag!r} beside the others. Is this the "
                "right column (--tag)?",
                name,
            )
        if self.legal and len(self.groups) == 1:
            return self.legal[0]
        if not self.legal:
            raise FileError(f"{name}: {asked}: it is {self._malformed()}.", name)
        first, second = self.groups[0][0], self.groups[1][0]
        said = self.apart.get((first, second)) or next(iter(self.apart.values()), "")
        raise FileError(f"{name}: {asked}: {said}", name)

    def _malformed(self) -> str:
        """Return what is wrong with a file that no candidate finds legal."""
        if legal := [scheme for scheme, violations in self.named.items() if not violations]:
            return f"legal only in {legal[0]}, which has to be named (--scheme {legal[0]})"
        every = self.candidates or self.named
        few = sorted(every.items(), key=lambda each: each[1])[:3]
        listed = ", ".join(f"{scheme} ({violations:,})" for scheme, violations in few)
        return (
            "malformed in every scheme that has its tags; the fewest violations are those of "
            f"{listed}"
        )


def _owners(tag: str) -> int:
    """Return how many schemes have a tag."""
    return sum(read_tag(tag, scheme) is not None for scheme in SCHEMES.values())


def told_scheme(source: Iterable[Sentences]) -> str:
    """Return the scheme that the tags of a source tell; empty if they do not, or are all `O`."""
    search = SchemeSearch()
    try:
        for part in source:
            search.add(part)
            if not search.candidates:
                return ""
    except IobesError:  # whoever needs the tags says what is wrong
        return ""
    return search.legal[0] if search.told else ""


def _equal(a: SpanColumns, b: SpanColumns) -> bool:
    """Return whether two readings of the same tags are the same spans."""
    labels = sorted({*a.labels, *b.labels})
    rows = zip(a.numbered(labels).rows, b.numbered(labels).rows)
    return a.total == b.total and all(np.array_equal(x, y) for x, y in rows)


def _difference(part: Sentences, readings: dict[str, SpanColumns], one: str, other: str) -> str:
    """Return the first sentence that two schemes read differently, in words."""
    pairs = enumerate(zip(readings[one], readings[other]))
    sentence, first, second = next((n, set(a), set(b)) for n, (a, b) in pairs if a != b)
    at = part.place(part.at(sentence, min(first ^ second).start))
    said = (
        f"{name} reads {_listed(part, sentence, spans)}"
        for name, spans in ((one, first - second), (other, second - first))
    )
    return f"at {at}, {' and '.join(said)}."


def _listed(part: Sentences, sentence: int, spans: set[Span]) -> str:
    texts = (f"{x.label} {part.text(sentence, x.start, x.end)!r}" for x in sorted(spans))
    return ", ".join(texts) or "nothing"


def find_scheme(source: Iterable[Sentences], name: str) -> str:
    """Return the scheme that the tags of a source are in; empty if it has spans, or names one."""
    search, tagged = SchemeSearch(), False
    for part in source:
        if not part.scheme and part.given is None:
            search.add(part)
            tagged = True
    return search.found(name) if tagged else ""


def scheme_of(corpus: Corpus) -> str:
    """Return the scheme that the tags of a file are in; empty if it has spans, or names one.

    Raises where several schemes would read different spans.
    """
    if not corpus.format.needs_scheme(corpus.path, corpus.options):
        return ""
    return find_scheme(corpus, corpus.name)
