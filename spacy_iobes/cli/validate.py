"""The command `validate`: illegal tags, schemes that fit, and mentions that a code would lose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..codes.readings import DEFAULT_READING, READINGS, Reading, get_reading
from ..codes.scheme import Scheme, get_scheme
from ..corpus.corpus import Corpus, Parts, likely_schemes
from ..corpus.findings import many
from ..corpus.formats import format_of
from ..corpus.formats.options import ADVANCED, ReadOptions, option
from ..corpus.sentences import Sentences
from ..corpus.summary import Summary
from ..corpus.survey import checked, inexpressible, violations
from ..errors import FileError
from ..scoring.tables import aligned
from .application import AT_FAULT, FEW, FINE, SHOWN, command, counted, echo, looks_like
from .options import (
    Inputs,
    Json,
    Quiet,
    SchemeName,
    fields_of,
    opened,
    read_options,
    tell_of_columns,
)
from .output import print_json, size, size_in_words

if TYPE_CHECKING:
    from ..corpus.separator_survey import SeparatorSurvey, SetCounts

SEPARATORS = "separators"


@dataclass(frozen=True)
class Fits:
    """What another code would have to hold."""

    fits: str = option(
        "",
        "List what would be lost in another code: a scheme, or separators (mentions in each other "
        "as marks between tokens).",
    )
    reading: str = option(
        DEFAULT_READING, f"Which mentions separators mean: {', '.join(READINGS)}.", ADVANCED
    )
    ambiguous: bool = option(False, "List ambiguous mentions that come back, too.", ADVANCED)


@command("validate")
@fields_of("code", Fits)
@read_options
def validate_cli(
    files: Inputs,
    how: ReadOptions,
    code: Fits,
    scheme: SchemeName = "",
    policy: Annotated[
        str,
        typer.Option("--policy", "-p", help="With --fits: what malformed tags become."),
    ] = "raise",
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit",
            help=f"List at most so many; 0 lists all (default: {SHOWN}, and {FEW} of a file that "
            "looks like another scheme).",
            min=0,
        ),
    ] = None,
    quiet: Quiet = False,
    json: Json = False,
) -> None:
    """List every illegal tag with its line; or without a scheme, say which schemes fit.

    Exit code 1 if there is an illegal tag, if no scheme fits, or if a mention would be lost.
    """
    shown = SHOWN if limit is None else limit
    if code.fits and code.fits != SEPARATORS:
        goal = get_scheme(code.fits)
        faults = _fits_scheme(files, how, scheme, policy, goal, shown, quiet, json)
    elif code.fits:
        rule, every = get_reading(code.reading), code.ambiguous
        faults = _fits_separators(files, how, scheme, policy, rule, shown, quiet, every, json)
    elif scheme or any(_names_its_scheme(path, how) for path in files):
        faults = _illegal(files, how, scheme, limit, quiet, json)
    else:
        faults = _schemes(files, how, json)
    raise typer.Exit(AT_FAULT if faults else FINE)


def _names_its_scheme(path: str, how: ReadOptions) -> bool:
    """Return whether the tags of a file are in a scheme that nobody has to name."""
    return format_of(path, how.format, how).name == "docbin"


def _illegal(
    files: list[str], how: ReadOptions, scheme: str, limit: int | None, quiet: bool, json: bool
) -> bool:
    """List illegal tags; return whether there are any."""
    if scheme:
        get_scheme(scheme)  # before any file is read
    results = []
    total = 0
    for path in files:
        found = unreadable = 0
        listed: list[dict[str, Any]] = []
        held: list[str] = []  # until it is known how many of them to show
        summary = Summary()
        with opened(path, how, scheme) as corpus:
            for violation in violations(_tagged(corpus), scheme, summary):
                found += 1
                unreadable += violation.kind == "unreadable"
                if json:
                    listed.append(asdict(violation))
                elif limit == 0 and not quiet:
                    echo(str(violation))
                elif len(held) < (SHOWN if limit is None else limit):
                    held.append(str(violation))
        total += found
        name = summary.scheme(scheme)
        results.append({"file": corpus.name, **size(summary), "violations": listed})
        if not json:
            other = found > FEW or unreadable
            schemes = likely_schemes([corpus], get_scheme(name)) if other else ()
            shown = held[:FEW] if schemes and limit is None else held
            if not quiet:
                for line in shown:
                    echo(line)
                if limit != 0 and found > len(shown):
                    echo(f"{corpus.name}: and {found - len(shown):,} more (--limit 0 shows all)")
            number = counted(found, "violation") if found else "no violations"
            echo(f"{corpus.name}: {number} of {name} in {size_in_words(summary)}")
            if schemes:
                echo(f"{corpus.name}: {looks_like(schemes, ['--scheme'])}", err=True)
    if json:
        print_json({"scheme": scheme and get_scheme(scheme).name, "total": total, "files": results})
    return total > 0


def _schemes(files: list[str], how: ReadOptions, json: bool) -> bool:
    """Say under which schemes files are legal; return whether one is legal under none."""
    results = []
    for path in files:
        summary = Summary()
        with opened(path, how) as corpus:
            check = checked(_tagged(corpus), summary)
        schemes = check.schemes.values()
        results.append(
            {"file": corpus.name, **size(summary), "legal": check.legal}
            | {"schemes": [asdict(scheme) for scheme in schemes]}
        )
        if not json:
            echo(f"{corpus.name}: {size_in_words(summary)}")
            rows = [
                (
                    row.scheme,
                    "yes" if row.legal else "no",
                    f"{row.violations:,}",
                    str(row.first or ""),
                )
                for row in schemes
            ]
            header = ("scheme", "legal", "violations", "first")
            echo(aligned(header, rows, "llrl"))
    if json:
        print_json(results)
    return not all(result["legal"] for result in results)


def _tagged(corpus: Corpus) -> Iterator[Sentences]:
    """Yield the parts of a file; raise if it has spans in place of tags."""
    for part in corpus:
        if part.given is not None and len(part):
            raise FileError(
                f"{corpus.name}: files of the format {corpus.format.name} hold no tags that could "
                "be illegal.",
                corpus.name,
            )
        yield part


def _fits_scheme(
    files: list[str],
    how: ReadOptions,
    scheme: str,
    policy: str,
    fits: Scheme,
    limit: int,
    quiet: bool,
    json: bool,
) -> bool:
    """List the sentences that a scheme cannot express; return whether there are any."""
    results, total = list[dict[str, Any]](), 0
    for path in files:
        summary, found = Summary(), list[str]()
        with opened(path, how, scheme) as corpus:
            for part, known in Parts(corpus, scheme, policy):
                summary.add(part, known)
                found += map(str, inexpressible(part, known, fits))
        total += len(found)
        results.append({"file": corpus.name, **size(summary), "fits": not found, "lost": found})
        if json:
            continue
        if not quiet:
            for line in found[: limit or None]:
                echo(line)
            if limit and len(found) > limit:
                echo(f"{corpus.name}: and {len(found) - limit:,} more (--limit 0 shows all)")
        said = f"{counted(len(found), 'sentence')} would be lost" if found else "all mentions fit"
        echo(f"{corpus.name}: {said} in {fits.name}; {size_in_words(summary)}")
    if json:
        print_json({"fits": fits.name, "files": results})
    return total > 0


def _fits_separators(
    files: list[str],
    how: ReadOptions,
    scheme: str,
    policy: str,
    rule: Reading,
    limit: int,
    quiet: bool,
    ambiguous: bool,
    json: bool,
) -> bool:
    """List mentions that are lost as separators; return whether there are any.

    Separators are written for the mentions of one label in one sentence at a time: a set. The
    mentions of all layers count, whichever layer is the outermost.
    """
    from ..corpus.separator_survey import survey_separators

    found: list[SeparatorSurvey] = []
    for path in files:
        with opened(path, how, scheme) as corpus:
            parts = Parts(corpus, scheme, policy)
            found.append(survey_separators(corpus.name, parts, rule))
        if parts.saved.repaired:
            echo(f"{corpus.name}: {counted(parts.saved.repaired, 'violation')} repaired", err=True)
        tell_of_columns(corpus)
    if json:
        print_json({"reading": rule.name, "files": [survey.as_json() for survey in found]})
    else:
        for survey in found:
            _show(survey, limit, quiet, ambiguous)
    return any(survey.faults for survey in found)


def _show(survey: SeparatorSurvey, limit: int, quiet: bool, ambiguous: bool) -> None:
    """Print what became of the mentions of a file."""
    name, total = survey.name, survey.total
    if not quiet:
        findings = survey.findings if ambiguous else survey.faults
        for finding in findings[: limit or None]:
            echo(str(finding))
        if limit and len(findings) > limit:
            echo(f"{name}: and {len(findings) - limit:,} more (--limit 0 shows all)")
        header = ("label", "sets", "ambiguous", "lost", "mentions", "come back", "new")
        rows = [_row(label, counts) for label, counts in sorted(survey.labels.items())]
        if rows:
            rows += [_row("total", total)] * (len(rows) > 1)
            echo(aligned(header, rows, "lrrrrrr", rules=(0, len(survey.labels))))
    others = {
        kind: n for kind, n in survey.kinds.items() if n and kind not in ("lost", "ambiguous")
    }
    words = [f"{total.lost:,} of {counted(total.sets, 'set')} of mentions lost ({survey.reading})"]
    words += [f"{total.ambiguous:,} ambiguous", f"best F1 {100 * total.f1:.2f}"]
    words += [many(kind, n) for kind, n in others.items()]
    size = f"{counted(survey.sentences, 'sentence')}, {counted(survey.tokens, 'token')}"
    echo(f"{name}: {', '.join(words)}; {size}")


def _row(label: str, counts: SetCounts) -> tuple[str, ...]:
    new = counts.found - counts.kept
    numbers = (counts.sets, counts.ambiguous, counts.lost, counts.mentions, counts.kept, new)
    return (label, *(f"{number:,}" for number in numbers))
