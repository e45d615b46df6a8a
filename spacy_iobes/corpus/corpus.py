"""Annotated files: read as often as somebody asks, part by part, and written in any format."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path

from ..codes.check import Check
from ..codes.known import Known
from ..codes.parse import refusal
from ..codes.policy import Policy, get_tag_policy
from ..codes.scheme import SCHEMES, Scheme, get_scheme
from ..codes.tag import read_tag
from ..codes.violation import Violation
from .files import Progress, shown
from .findings import NO_PLACE, Finding
from .formats import FOLDER, Format, ending_of, format_by_ending, format_of, get_format
from .formats.folder import files_below
from .formats.options import ReadOptions, SaveOptions
from .inputs import is_stream
from .sentences import Sentences, whole_documents
from .summary import Summary


@dataclass(frozen=True)
class Corpus:
    """A file of annotated sentences. Iterating reads it, part by part; it can be read again.

    Its tags are in a `scheme`, where the file does not say so itself.
    """

    path: str
    options: ReadOptions = field(default_factory=ReadOptions)
    progress: Progress | None = None
    scheme: str = ""

    @property
    def name(self) -> str:
        """How messages name the file."""
        return shown(self.path)

    @property
    def format(self) -> Format:
        """The format of the file."""
        return format_of(self.path, self.options.format, self.options)

    def __iter__(self) -> Iterator[Sentences]:
        for part in self.format.read(self.path, self.options, self.progress):
            unnamed = self.scheme and part.tags and not part.scheme
            yield replace(part, scheme=self.scheme) if unnamed else part

    def files(self) -> Iterator[Corpus]:
        """Yield the files of a folder that is of no format itself; else this corpus alone."""
        if self.format is not FOLDER:
            yield self
        else:
            yield from (replace(self, path=str(file)) for file in files_below(self.path))

    def documents(self) -> Iterator[Sentences]:
        """Yield whole documents, some at a time: parts of one document are joined."""
        return whole_documents(self)


@dataclass(frozen=True)
class Several:
    """The sentences of several files, one after the other."""

    corpora: tuple[Corpus, ...]

    def __iter__(self) -> Iterator[Sentences]:
        return chain.from_iterable(self.corpora)


def read(path: str | Path, progress: Progress | None = None, **options: object) -> Corpus:
    """Return the sentences of an annotated file; `ReadOptions` lists the options."""
    return Corpus(str(path), ReadOptions(**options), progress)  # type: ignore[arg-type]


def accepted(
    source: Iterable[Sentences], scheme: str | Scheme = "", policy: str | Policy = "raise"
) -> Iterator[tuple[Sentences, Known]]:
    """Yield the parts of a source that the policy accepts, with what is known of them.

    A policy that refuses does so at the end, with every violation of the source in the error; from
    the first violation on there are no more parts.
    """
    rule, found, own = get_tag_policy(policy), list[Violation](), False
    for part in source:
        if rule.refuses and part.tags and part.given is None:
            found += part.violations(scheme)
            own = bool(part.scheme)
        if not found:
            yield part, part.known(scheme, rule)
    if found:
        named = get_scheme(scheme or "bio")
        error = refusal(named, sorted(found, key=lambda wrong: wrong.line or 0))
        if isinstance(source, (Corpus, Several)) and scheme:
            corpora = [source] if isinstance(source, Corpus) else source.corpora
            error.schemes = likely_schemes(corpora, named)
        if own:  # there is no other scheme that they might be in
            count = f"{len(found):,} violation{'s' * (len(found) != 1)}"
            error.advice = f"{count}. Name a policy (--policy): see 'info policies'."
        raise error


def likely_schemes(corpora: Sequence[Corpus], scheme: Scheme) -> tuple[str, ...]:
    """Return the schemes that malformed files seem to be written in, in place of the one named.

    They are legal under them, in every layer; or these have all of their tags and a tenth of the
    violations at most. A pipe is not read again.
    """
    if not corpora or any(is_stream(corpus.path) for corpus in corpora):
        return ()
    every = set.intersection(*(set(_likely(corpus, scheme)) for corpus in corpora))
    return tuple(name for name in SCHEMES if name in every and name != scheme.name)


def _likely(corpus: Corpus, scheme: Scheme) -> list[str]:
    check, tags = Check(), set[str]()
    for part in corpus:
        for layer in part.tags:
            check.add(layer, part.located)
            tags.update(layer.tags)
    if check.legal:
        return check.legal
    few = check.schemes[scheme.name].violations // 10
    rows = [
        row
        for name, row in check.schemes.items()
        if row.violations <= few
        and all(tag in "-!" or read_tag(tag, SCHEMES[name]) for tag in tags)
    ]
    fewest = min((row.violations for row in rows), default=0)
    return [row.scheme for row in rows if row.violations == fewest]


@dataclass
class Saved(Summary):
    """What went into a file, and how many tags that its source had were `changed`."""

    changed: int = 0

    def leave_out(self, spans: Sequence[Finding]) -> None:
        """Take back what was counted of spans that found no place in the file."""
        self.findings += spans
        self.labels -= Counter(found.label for found in spans if found.kind in NO_PLACE)


@dataclass
class Parts:
    """The parts of a source that a policy accepts, read as often as a format needs them.

    What was read last is counted in `saved`. If they are `bare`, nobody asks what is annotated.
    """

    source: Iterable[Sentences]
    scheme: str | Scheme = ""
    policy: str | Policy = "raise"
    change: Callable[[Known], Known] | None = None
    saved: Saved = field(default_factory=Saved)
    bare: bool = False

    def __iter__(self) -> Iterator[tuple[Sentences, Known]]:
        self.saved = saved = Saved()  # formats may read them again while they read them
        found = accepted(self.source, self.scheme, self.policy)
        for part, known in ((part, part.nothing) for part in self.source) if self.bare else found:
            known = self.change(known) if self.change else known
            saved.add(part, known)
            yield part, known


def save(
    source: Iterable[Sentences],
    path: str | Path,
    *,
    scheme: str | Scheme = "",
    policy: str | Policy = "raise",
    **options: object,
) -> Saved:
    """Write annotated sentences to a file; `SaveOptions` lists the options.

    Tags of the source are read in a scheme, which it may name itself, under a policy.
    """
    how = SaveOptions(**options)  # type: ignore[arg-type]
    if scheme and not how.to_scheme:
        how = replace(how, to_scheme=get_scheme(scheme).name)
    again = source if not isinstance(source, Iterator) else list(source)
    return save_parts(Parts(again, scheme, policy), path, how)


def format_to_write(path: str | Path, how: SaveOptions) -> Format:
    """Return the format that the options name, else the one that the name of a file says."""
    if how.to != "auto":
        return get_format(how.to)
    return format_by_ending(ending_of(path)) or get_format("columns")


def save_parts(parts: Parts, path: str | Path, how: SaveOptions) -> Saved:
    """Write the parts of a source to a file, in the format that the options or the name say."""
    row = format_to_write(path, how)
    parts.bare = not row.annotated
    left_out = row.save(parts, path, how)
    parts.saved.leave_out(left_out)
    return parts.saved
