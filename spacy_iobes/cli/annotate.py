"""The command `annotate`: a page on this machine to annotate a corpus in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..corpus.formats.options import ADVANCED, ReadOptions, option
from ..errors import OptionError
from ..names import known_name
from ..selection.settings import Settings
from .application import AT_FAULT, command, counted, echo, tell
from .options import Json, PolicyName, SchemeName, fields_of, given_of, opened, read_options
from .output import print_json
from .pool_options import docs_to_read, required_labels

if TYPE_CHECKING:
    from ..selection.session import Session

EXISTING = ("keep", "drop")
BEGUN = "labels nested batch audit target rule patience seed start words".split()  # noqa: SIM905


@dataclass(frozen=True)
class Taking:
    """Files to take into a session, and how to take them."""

    take: tuple[str, ...] = option(
        (),
        "Take the annotated sentences of a file of any format into STATE, and end; repeat it for "
        "several.",
    )
    as_read: bool = option(
        False,
        "Sentences of --take count as read even if the file has only mentions of other labels, or "
        "those that a model predicted.",
        ADVANCED,
    )


@command("annotate")
@fields_of("taking", Taking)
@read_options
@given_of("given", Settings, BEGUN)
def annotate_cli(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="[CORPUS] STATE",
            help="What to annotate (a file of any format, or a folder of files), and the folder "
            "that keeps all that is done. A STATE that is there already is resumed, and needs "
            "no CORPUS.",
        ),
    ],
    how: ReadOptions,
    given: Mapping[str, Any],
    taking: Taking,
    scheme: SchemeName = "",
    policy: PolicyName = "raise",
    existing: Annotated[
        str,
        typer.Option(
            "--existing",
            help="Mentions of the labels that CORPUS has already: keep (their sentences count as "
            "read) or drop.",
        ),
    ] = "",
    port: Annotated[
        int,
        typer.Option(
            "--port", min=0, max=65535, help="0: the one of last time, or any that is free."
        ),
    ] = 0,
    no_browser: Annotated[
        bool, typer.Option("--no-browser", help="Do not open the page in a browser.")
    ] = False,
    json: Json = False,
) -> None:
    """Annotate a corpus on a page, reading as little as possible.

    The page shows the sentences that are most likely to hold a mention, with suggestions, learns
    from the answers, and says how much of all that there is has been found. Every answer is on disk
    before the page goes on: end this at any time, and go on with the same STATE. Texts are cut into
    English tokens and plain text into sentences by rules, unless --lang and --sentences say
    otherwise.

    With --take no page is shown. Sentences are found by number, or by what they say; a file may
    hold any part of the corpus, and a second time it changes nothing. The exit code is 1 if
    annotated sentences were left out.
    """
    from ..selection.folder import is_session, require_session
    from ..selection.session import Session
    from ..web import require_server

    if not 1 <= len(paths) <= 2:
        raise OptionError("name a corpus and a folder, or a folder", "STATE")
    folder = paths[-1]
    resumed = len(paths) == 1 or is_session(folder)
    if resumed:
        require_session(folder)
    if not taking.take:
        require_server()
    if resumed:
        session = Session.resume(folder, given, tell)
    else:
        session = begun(paths[0], folder, how, (scheme, policy), given, existing)
    with session:
        if taking.take:
            taken(session, taking, how, (scheme, policy), json)
        else:
            served(session, port, not no_browser)


def begun(
    corpus: str,
    folder: str,
    how: ReadOptions,
    tags: tuple[str, str],
    given: Mapping[str, Any],
    existing: str,
) -> Session:
    """Return a new session on a corpus, whose `tags` are read in a scheme under a policy."""
    from ..selection.checks import require_choice
    from ..selection.pool import Pool
    from ..selection.session import Session

    required_labels(given)
    if existing:
        known_name("way with what is annotated", existing, EXISTING)
    settings = Settings(**given)
    docs = docs_to_read(corpus, how, settings.nested, *tags)
    pool = Pool.of(docs, settings.labels, nested=settings.nested)
    require_choice(pool, corpus, existing)
    return Session.create(folder, pool, settings, keep=existing == "keep")


def served(session: Session, port: int, browser: bool) -> None:
    """Serve the page until somebody ends it, and say how far it is."""
    from ..web.server import serve

    def ready(url: str) -> None:
        echo(f"{session.folder}: {url}")
        tell("Ctrl-C ends this. Every answer is on disk already.")
        if browser:
            import webbrowser

            webbrowser.open(url)

    try:
        serve(session, port, ready)
    finally:
        tell_progress(session)


def taken(
    session: Session,
    taking: Taking,
    how: ReadOptions,
    tags: tuple[str, str],
    json: bool,
) -> None:
    """Take files into a session, say what came of them, and how to go on."""
    from ..selection.intake import take_file

    scheme, policy = tags
    reports, left_out = [], 0
    for path in taking.take:
        with opened(path, how, scheme) as corpus:
            done = take_file(session, corpus, scheme, policy, taking.as_read)
        left_out += done.left_out
        reports.append({"file": path, **asdict(done)})
        if not json:
            echo(f"{path}: {done}")
            for line in done.notes():
                tell(f"{path}: {line}")
    session.wait()
    if json:
        print_json(reports)
    tell_progress(session)
    tell(f"Go on: spacy-iobes annotate {session.folder}")
    if left_out:
        tell(f"{counted(left_out, 'annotated sentence')} left out, all others were taken.")
        raise typer.Exit(AT_FAULT)


def tell_progress(session: Session) -> None:
    """Say how far a session is."""
    tell(f"{session.folder}: {session.progress()}")
