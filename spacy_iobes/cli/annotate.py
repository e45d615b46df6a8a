"""The command `annotate`: a page on this machine to annotate a corpus in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..corpus.conll import Columns
from ..errors import CorpusError, FileError, IobesError, SettingError
from .application import command, counted, echo
from .options import column_options
from .pool_options import Labels, Language, PoolFiles, reading_options, required
from .sessions import opened
from .train import tell

if TYPE_CHECKING:
    from spacy.tokens import Doc

    from ..selection.pool import Pool
    from ..selection.session import Session

NEEDED = ("starlette", "uvicorn")
EXISTING = ("keep", "drop")


@command("annotate")
@column_options
@reading_options
def annotate_cli(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="[CORPUS] STATE",
            help="What to annotate (column files, .spacy, .jsonl, .txt, a brat folder, or a folder "
            "of files), and the folder that keeps all that is done. A STATE that is there already "
            "is gone on with, and needs no CORPUS.",
        ),
    ],
    columns: Columns,
    pools: PoolFiles,
    label: Labels = None,
    batch: Annotated[
        int | None,
        typer.Option("--batch", min=1, help="Sentences between two trainings (default: 100)."),
    ] = None,
    audit: Annotated[
        float | None,
        typer.Option(
            "--audit",
            min=0,
            help="The share of sentences drawn at random, which the interval is from "
            "(default: 0.1).",
        ),
    ] = None,
    target: Annotated[
        float | None,
        typer.Option("--target", min=0, max=1, help="The coverage to stop at (default: 0.99)."),
    ] = None,
    rule: Annotated[
        str | None,
        typer.Option(
            "--rule",
            help="When to stop, by the target: estimate (the model's), corrected (by the audit), "
            "audit (its low end) or never (default: estimate).",
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(
            "--start",
            help="What to read first: first (in the order of the corpus), random, or words (what "
            "holds one of --words); default: first.",
        ),
    ] = None,
    words: Annotated[
        list[str] | None,
        typer.Option("--words", help="With --start words: a word; repeat it for several."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="Of what is drawn (default: 0).")
    ] = None,
    lang: Language = "en",
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
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
) -> None:
    """Annotate a corpus on a page, reading as little as possible.

    The page shows the sentences that are most likely to hold a mention, with suggestions, learns
    from the answers, and says how much of all that there is has been found. Every answer is on disk
    before the page goes on: end this at any time, and go on with the same STATE.
    """
    require_server()
    from ..selection.folder import is_session, require_session

    if not 1 <= len(paths) <= 2:
        raise typer.BadParameter("name a corpus and a folder, or a folder", param_hint="STATE")
    folder = paths[-1]
    asked = {
        "labels": label and tuple(label),
        "nested": pools.nested or None,
        "batch": batch,
        "audit": audit,
        "target": target,
        "rule": rule,
        "seed": seed,
        "start": start,
        "words": words and tuple(words),
    }
    given = {name: value for name, value in asked.items() if value is not None}
    if len(paths) == 1 or is_session(folder):
        require_session(folder)
        session = resumed(folder, given)
    else:
        docs = partial(pools.docs, paths[0], columns, lang)
        session = begun(paths[0], folder, docs, pools, given, existing)
    with session:
        served(session, port, browser)


def require_server() -> None:
    """Raise if what the page needs is not installed."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise FileError(
            f"The page needs {' and '.join(missing)}: pip install 'spacy-iobes[annotate]'"
        )


def resumed(folder: str, given: Mapping[str, Any]) -> Session:
    """A session to go on with; raises if it was begun with settings that cannot change."""
    session = opened(folder)
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
    docs: Callable[[], list[Doc]],
    pools: PoolFiles,
    given: Mapping[str, Any],
    existing: str,
) -> Session:
    """A new session."""
    from ..selection.session import Session
    from ..selection.settings import Settings

    required(given.get("labels"))
    if existing and existing not in EXISTING:
        raise typer.BadParameter(f"one of: {', '.join(EXISTING)}", param_hint="--existing")
    settings = Settings(**given)
    pool = pools.pool(docs(), settings.labels)
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
        tell(in_words(session))


def in_words(session: Session) -> str:
    """How far it is."""
    found = session.progress()
    words = f"{found.read:,} of {counted(len(session.pool), 'sentence')} read"
    return f"{session.folder}: {words}, {counted(found.mentions, 'mention')}"
