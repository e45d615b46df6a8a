"""The command `annotate`: a page on this machine to annotate a corpus in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..corpus.formats.options import ADVANCED, ReadOptions, option
from ..errors import CorpusError, FileError, IobesError, SettingError
from ..names import known_name
from ..selection.settings import Settings
from .application import AT_FAULT, command, counted, echo
from .options import Json, PolicyName, SchemeName, fields_of, given_of, opened, read_options
from .output import print_json
from .pool_options import docs_to_read, required_labels

if TYPE_CHECKING:
    from ..selection.intake import Intake
    from ..selection.pool import Pool
    from ..selection.session import Session

NEEDED = ("starlette", "uvicorn")
EXISTING = ("keep", "drop")
SHOWN = 10  # sentences that a file has and the session has not
BEGUN = "labels nested batch audit target rule patience seed start words".split()  # noqa: SIM905


@dataclass(frozen=True)
class Taking:
    """Which files to take into a session, and how."""

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
            "that keeps all that is done. A STATE that is there already is gone on with, and needs "
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

    if not taking.take:
        require_server()
    if not 1 <= len(paths) <= 2:
        raise typer.BadParameter("name a corpus and a folder, or a folder", param_hint="STATE")
    folder = paths[-1]
    if len(paths) == 1 or is_session(folder):
        require_session(folder)
        session = resumed(folder, given)
    else:
        session = begun(paths[0], folder, how, (scheme, policy), given, existing)
    with session:
        if taking.take:
            taken(session, taking, how, (scheme, policy), json)
        else:
            served(session, port, not no_browser)


def require_server() -> None:
    """Raise if what the page needs is not installed."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise FileError(
            f"The page needs {' and '.join(missing)}: pip install 'spacy-iobes[annotate]'"
        )


def resumed(folder: str, given: Mapping[str, Any]) -> Session:
    """Return a session to go on with; raise if its settings were others and cannot change."""
    from ..selection.folder import JOURNAL
    from ..selection.session import Session

    session = Session.open(folder)
    if session.torn:
        tell(
            f"{session.folder / JOURNAL}: the last line was cut off by a crash, and is removed. "
            "Every answer that was acknowledged is there."
        )
    before = session.settings
    try:
        session.change(**given)
    except IobesError as error:
        session.close()
        raise SettingError(f"{folder}: {error}") from error
    for name, value in given.items():
        if getattr(before, name) != value:
            tell(f"{folder}: {name} is {value} from now on (before: {getattr(before, name)})")
    return session


def begun(
    corpus: str,
    folder: str,
    how: ReadOptions,
    tags: tuple[str, str],
    given: Mapping[str, Any],
    existing: str,
) -> Session:
    """Return a new session on a corpus, whose `tags` are read in a scheme under a policy."""
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


def require_choice(pool: Pool, corpus: str, existing: str) -> None:
    """Raise if there are mentions already, and nobody has said what becomes of them."""
    some = [len(gold) for number in range(len(pool)) if (gold := pool.gold(number))]
    if some and not existing:
        raise CorpusError(
            f"{corpus}: {counted(sum(some), 'mention')} of {', '.join(pool.labels)} in "
            f"{counted(len(some), 'sentence')} already. Say what becomes of them: --existing keep "
            "(these sentences count as read), or --existing drop."
        )


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
            tell_taken(path, done)
    session.wait()
    if json:
        print_json(reports)
    tell_progress(session)
    tell(f"Go on: spacy-iobes annotate {session.folder}")
    if left_out:
        tell(f"{counted(left_out, 'annotated sentence')} left out, all others were taken.")
        raise typer.Exit(AT_FAULT)


def tell_taken(path: str, done: Intake) -> None:
    """Say what came of a file, and what did not."""
    words = [f"{done.new:,} new", f"{done.changed:,} changed", f"{done.same:,} as before"]
    words += [f"{done.unannotated:,} not annotated"] * bool(done.unannotated)
    echo(f"{path}: {', '.join(words)}")
    if done.passed:
        passed = ", ".join(f"{label} {count:,}" for label, count in done.passed.items())
        tell(f"{path}: mentions of other labels passed over: {passed}")
    for title, places in (
        ("not in the corpus", done.unmatched),
        ("not usable", done.unusable),
        ("left as answered before, since the file has only other labels there", done.kept),
    ):
        if places:
            tell(f"{path}: {counted(len(places), 'sentence')} {title}:")
            for place in places[:SHOWN]:
                tell(f"  {place}")


def tell_progress(session: Session) -> None:
    """Say how far a session is."""
    found = session.progress()
    words = f"{found.read:,} of {counted(len(session.pool), 'sentence')} read"
    tell(f"{session.folder}: {words}, {counted(found.mentions, 'mention')}")


def tell(text: str) -> None:
    """Say something beside the result."""
    echo(text, err=True)
