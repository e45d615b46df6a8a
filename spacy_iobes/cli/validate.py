"""The command `validate`: illegal tags, schemes that fit, and mentions that a code would lose."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Annotated, Any

import typer

from ..codes.readings import DEFAULT_READING, READINGS, get_reading
from ..codes.scheme import get_scheme
from ..codes.violation import Violation
from ..corpus.corpus import Parts, likely_schemes
from ..corpus.formats import format_of
from ..corpus.formats.options import ADVANCED, ReadOptions, option
from ..corpus.summary import Summary
from ..corpus.survey import checked, lost_in, tagged, violations
from ..scoring.tables import aligned
from .application import AT_FAULT, FEW, FINE, SHOWN, command, counted, echo, looks_like, tell
from .options import FILES, Inputs, Json, Quiet, SchemeName, fields_of, opened, read_options
from .output import counts_table, print_first, print_json, tell_repaired

SEPARATORS = "separators"


@dataclass(frozen=True)
class Fits:
    """Another code for the mentions, and what to list of it."""

    fits: str = option(
        "",
        "List what would be lost in another code: a scheme, or separators (mentions in each other "
        "as marks between tokens).",
    )
    policy: str = option("raise", "With --fits: what malformed tags become.")
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
    if code.fits:
        fits = _fits_separators if code.fits == SEPARATORS else _fits_scheme
        faults = fits(files, how, code, scheme, shown, quiet, json)
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
    results, total, most = list[dict[str, Any]](), 0, SHOWN if limit is None else limit
    for path in files:
        summary, kinds = Summary(), Counter[str]()
        held = list[Violation]()  # until it is known how many of them to show
        with opened(path, how, scheme) as corpus:
            for violation in violations(tagged(corpus), scheme, summary):
                kinds[violation.kind] += 1
                if json or kinds.total() <= most:
                    held.append(violation)
                elif limit == 0 and not quiet:
                    echo(str(violation))
        total += (found := kinds.total())
        listed = list(map(asdict, held)) if json else []
        results.append({"file": corpus.name, **summary.size, "violations": listed})
        if json:
            continue
        name, other = summary.scheme(scheme), found > FEW or kinds["unreadable"]
        schemes = likely_schemes([corpus], get_scheme(name)) if other else ()
        if not quiet:
            few = FEW if schemes and limit is None else most
            print_first(held, few, corpus.name, found)
        number = counted(found, "violation") if found else "no violations"
        echo(f"{corpus.name}: {number} of {name} in {summary}")
        if schemes:
            tell(f"{corpus.name}: {looks_like(schemes, ['--scheme'])}")
    if json:
        print_json({"scheme": scheme and get_scheme(scheme).name, "total": total, "files": results})
    return total > 0


def _schemes(files: list[str], how: ReadOptions, json: bool) -> bool:
    """Say under which schemes files are legal; return whether one is legal under none."""
    results = []
    for path in files:
        summary = Summary()
        with opened(path, how) as corpus:
            check = checked(tagged(corpus), summary)
        schemes = check.schemes.values()
        results.append(
            {"file": corpus.name, **summary.size, "legal": check.legal}
            | {"schemes": [asdict(scheme) for scheme in schemes]}
        )
        if not json:
            echo(f"{corpus.name}: {summary}")
            rows = [
                (x.scheme, "yes" if x.legal else "no", f"{x.violations:,}", str(x.first or ""))
                for x in schemes
            ]
            echo(aligned(("scheme", "legal", "violations", "first"), rows, "llrl"))
    if json:
        print_json(results)
    return not all(result["legal"] for result in results)


def _fits_scheme(
    files: list[str],
    how: ReadOptions,
    code: Fits,
    scheme: str,
    limit: int,
    quiet: bool,
    json: bool,
) -> bool:
    """List the sentences that a scheme cannot express; return whether there are any."""
    results, goal = list[dict[str, Any]](), get_scheme(code.fits)
    for path in files:
        summary = Summary()
        with opened(path, how, scheme) as corpus:
            found = lost_in(corpus, goal, scheme, code.policy, summary)
        results.append({"file": corpus.name, **summary.size, "fits": not found, "lost": found})
        if json:
            continue
        if not quiet:
            print_first(found, limit, corpus.name)
        said = f"{counted(len(found), 'sentence')} would be lost" if found else "all mentions fit"
        echo(f"{corpus.name}: {said} in {goal.name}; {summary}")
    if json:
        print_json({"fits": goal.name, "files": results})
    return not all(result["fits"] for result in results)


def _fits_separators(
    files: list[str],
    how: ReadOptions,
    code: Fits,
    scheme: str,
    limit: int,
    quiet: bool,
    json: bool,
) -> bool:
    """List mentions that are lost as separators; return whether there are any.

    Separators are written for the mentions of one label in one sentence at a time: a set. The
    mentions of all layers count, whichever layer is the outermost.
    """
    from ..corpus.separator_survey import HEADER, SeparatorSurvey, survey_separators

    rule, surveys = get_reading(code.reading), list[SeparatorSurvey]()
    for path in files:
        with opened(path, how, scheme) as corpus:
            parts = Parts(corpus, scheme, code.policy)
            surveys.append(survey_separators(corpus.name, parts, rule))
        tell_repaired(corpus.name, parts.saved)
        FILES.tell_of_columns(corpus)
    if json:
        print_json({"reading": rule.name, "files": [survey.as_json() for survey in surveys]})
    for survey in [] if json else surveys:
        if not quiet:
            print_first(survey.findings if code.ambiguous else survey.faults, limit, survey.name)
            if survey.labels:
                echo(counts_table(HEADER, survey.rows()))
        echo(str(survey))
    return any(survey.faults for survey in surveys)
