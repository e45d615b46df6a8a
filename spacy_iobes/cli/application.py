"""The application, what its commands have in common, and how they end."""

from __future__ import annotations

import io
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, TypeVar

import typer

from ..codes.violation import Violation
from ..errors import IobesError, MalformedTagsError, SpanError, TagError
from .plain import PlainCommand

FINE, AT_FAULT, UNUSABLE, INTERRUPTED, CLOSED, ENDED = 0, 1, 2, 130, 141, 143
SHOWN = 100  # violations, unless told otherwise
SETTINGS = {"help_option_names": ["-h", "--help"]}

app = typer.Typer(
    name="iobes",
    help="Span tags and mentions: check, repair, convert, score, train, annotate.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings=SETTINGS,
)

F = TypeVar("F", bound=Callable[..., Any])


def counted(count: int, word: str) -> str:
    """`1 token`, `2 tokens`, `1,000 tokens`."""
    return f"{count:,} {word}{'s' * (count != 1)}"


def complain(message: str) -> None:
    """Say what went wrong, in one line, where errors belong."""
    typer.secho(f"Error: {' '.join(message.split())}", fg="red", err=True)


def advice(violations: Sequence[Violation]) -> str:
    """What to do about violations; no policy helps where tags cannot be read."""
    text = f"{counted(len(violations), 'violation')} and no policy to repair them. "
    if all(violation.kind == "unreadable" for violation in violations):
        return f"{text}Is it another scheme (see 'check')? No policy repairs tags that it lacks."
    return f"{text}Is it another scheme (see 'check')? If not, name a --policy (see 'schemes')."


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turn the errors that are meant for people into a line and an exit code."""
    try:
        yield
    except MalformedTagsError as error:
        for violation in error.violations[:SHOWN]:
            typer.echo(str(violation), err=True)
        complain(error.advice or advice(error.violations))
        raise typer.Exit(AT_FAULT) from error
    except (TagError, SpanError) as error:
        complain(str(error))
        raise typer.Exit(AT_FAULT) from error
    except IobesError as error:
        complain(str(error))
        raise typer.Exit(UNUSABLE) from error
    except BrokenPipeError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(CLOSED) from error
    except OSError as error:
        complain(f"Cannot print: {(error.strerror or str(error)).lower()}.")
        raise typer.Exit(UNUSABLE) from error
    except KeyboardInterrupt as error:
        raise typer.Exit(INTERRUPTED) from error


@contextmanager
def ending_well() -> Iterator[None]:
    """Let a request to end unwind the stack, so that half-written files are removed."""

    def end(*_: object) -> None:
        raise typer.Exit(ENDED)

    asked = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.signal(number, end) for number in asked}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def command(name: str, **settings: Any) -> Callable[[F], F]:
    """Register a function as the command `name`; `settings` are those of its context."""

    def register(function: F) -> F:
        @wraps(function)
        def run(*args: Any, **kwargs: Any) -> None:
            for stream in (sys.stdout, sys.stderr):  # a terminal that cannot show a token lives on
                if isinstance(stream, io.TextIOWrapper):
                    stream.reconfigure(errors="backslashreplace")
            with exit_codes(), ending_well():
                function(*args, **kwargs)
                sys.stdout.flush()

        app.command(name, cls=PlainCommand, context_settings=SETTINGS | settings)(run)
        return function

    return register


def run_command(name: str, arguments: list[str]) -> None:
    """Run one command as the console script does, and exit."""
    found: Any = typer.main.get_command(app)  # a command alone, or a group of several
    single = getattr(found, "commands", {}).get(name, found)
    single.main(arguments, prog_name=f"spacy-iobes {name}")
