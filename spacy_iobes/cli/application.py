"""The application, what its commands have in common, and how they end."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Annotated, Any, TypeVar

import typer
from typer.core import TyperGroup

from ..about import __title__, __version__
from ..corpus.files import visible
from ..errors import FileError, IobesError, MalformedTagsError, SpanError, TagError
from ..kernels import twins
from ..names import counted as counted
from .help import command_help, group_help
from .plain import USAGE, PlainCommand, usage_errors
from .settings import require_known, settings_of
from .signals import unwinding

FINE, AT_FAULT, UNUSABLE, CLOSED = 0, 1, 2, 141
SHOWN = 100  # violations, unless told otherwise
FEW = 5  # violations of a file that is of another scheme
ANOTHER = "Is it another scheme ('validate' says which fit)?"
"""What errors ask, until the scheme is known."""
HINT = re.compile(r" ?\(--[a-z][^()]*\)")
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
SETTINGS = {"help_option_names": ["-h", "--help"]}

ELSEWHERE = {
    "check": "validate",
    "count": "summarize --mentions",
    "docs": "validate",
    "errors": "score --errors",
    "evaluate": "score, after predict",
    "export": "convert STATE FILE",
    "from-docbin": "convert",
    "import": "annotate STATE --take FILE",
    "process": "convert",
    "report": "score --html FILE",
    "roundtrip": "validate --fits separators",
    "schemes": "info schemes",
    "text": "convert --to tokens",
    "to-docbin": "convert",
}
"""Words that people try, from other tools and from version 0.1.0, and the command that does it."""


PANELS = {
    "Files": "validate summarize convert repair",
    "Scores": "score compare",
    "Recognisers": "train predict tune explain",
    "Annotation": "annotate select simulate",
    "Lab": "strategies generate info",
}
"""The commands, as the help groups them."""


class Commands(TyperGroup):
    """The commands, which know what those of other tools and of version 0.1.0 are called here."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options before the command; without arguments, typer shows the help."""
        if not args:
            return super().parse_args(ctx, args)
        with usage_errors(ctx):
            return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that is asked for."""
        name = args[0] if args else ""
        with usage_errors(ctx):
            if name in ELSEWHERE:
                raise USAGE(f"There is no command '{name}': it is '{ELSEWHERE[name]}'.", ctx)
            return super().resolve_command(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help of all commands, by panel."""
        formatter.write(group_help(self, ctx, PANELS))


app = typer.Typer(
    name="iobes",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings=SETTINGS,
)


def show_version(wanted: bool) -> None:
    """Print the name and the version of the package, and end."""
    if wanted:
        typer.echo(f"{__title__} {__version__}")
        raise typer.Exit


@app.callback()
def application(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=show_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Span tags and mentions: check, repair, convert, score, train, annotate."""


F = TypeVar("F", bound=Callable[..., Any])


@contextmanager
def printing() -> Iterator[None]:
    """Tell an error of standard output from those of files."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        raise FileError(f"Cannot print: {_reason(error)}.") from error


def _reason(error: OSError) -> str:
    return (error.strerror or str(error) or type(error).__name__).lower()


def echo(text: str, err: bool = False, nl: bool = True) -> None:
    """Print a text for people, with escapes in place of what would steer a terminal."""
    with printing():
        typer.echo(visible(text), err=err, nl=nl)


def tell(text: str) -> None:
    """Print a text beside the result."""
    echo(text, err=True)


def complain(message: str, options: Collection[str]) -> None:
    """Say what went wrong, in one line, where errors belong.

    A hint in brackets, `(--option ...)`, is left out if the command has no such option.
    """

    def kept(hint: re.Match[str]) -> str:
        return hint[0] if set(OPTION.findall(hint[0])) <= set(options) else ""

    text = HINT.sub(kept, message)
    typer.secho(f"Error: {visible(' '.join(text.split()))}", fg="red", err=True)


def first_of(names: Sequence[str], options: Collection[str]) -> str:
    """Return the first of some options that a command has, in brackets; empty if it has none."""
    return next((f" ({name})" for name in names if name in options), "")


def looks_like(schemes: Sequence[str], options: Collection[str]) -> str:
    """Return what the scheme of a file seems to be, and how to name it."""
    named = first_of(("--scheme", "--from"), options)
    return f"This looks like {' or '.join(schemes)}: name that scheme{named}."


def advice(error: MalformedTagsError, options: Collection[str]) -> str:
    """Return what to do about violations; no policy helps where tags cannot be read."""
    strange = all(violation.kind == "unreadable" for violation in error.violations)
    text = f"{counted(len(error.violations), 'violation')} and no policy to repair them. {ANOTHER}"
    if strange:
        return f"{text} No policy repairs tags that a scheme lacks."
    policy = first_of(("--policy",), options)
    return f"{text} If not, name a policy{policy}: see 'info policies'."


def refused(error: MalformedTagsError, options: Collection[str]) -> None:
    """List violations, only a few where the file is of another scheme, and say what to do."""
    shown = FEW if error.schemes else SHOWN
    for violation in error.violations[:shown]:
        echo(str(violation), err=True)
    if len(error.violations) > shown:
        echo(f"and {len(error.violations) - shown:,} more", err=True)
    said = error.advice or advice(error, options)
    if error.schemes:
        said = said.replace(ANOTHER, looks_like(error.schemes, options), 1)
        said = said.replace(f" {ANOTHER}", "")
    complain(said, options)


@contextmanager
def exit_codes(options: Collection[str]) -> Iterator[None]:
    """Turn the errors that are meant for people into a line and an exit code.

    `options` are those of the command, so that no error names one that it lacks.
    """
    try:
        yield
    except MalformedTagsError as error:
        refused(error, options)
        raise typer.Exit(AT_FAULT) from error
    except (TagError, SpanError) as error:
        complain(str(error), options)
        raise typer.Exit(AT_FAULT) from error
    except IobesError as error:
        complain(str(error), options)
        raise typer.Exit(UNUSABLE) from error
    except BrokenPipeError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(CLOSED) from error
    except MemoryError as error:
        complain("There is not enough memory for this.", options)
        raise typer.Exit(UNUSABLE) from error
    except OSError as error:
        names = [str(name) for name in (error.filename, error.filename2) if name is not None]
        complain(": ".join([*names, f"{_reason(error)}."]), options)
        raise typer.Exit(UNUSABLE) from error


class Command(PlainCommand):
    """A command whose errors become one line, with options that it has, and an exit code."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help as plain text."""
        formatter.write(command_help(self, ctx))

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        for stream in (sys.stdout, sys.stderr):  # a terminal that cannot show a token lives on
            if isinstance(stream, io.TextIOWrapper):
                stream.reconfigure(errors="backslashreplace")
        if line := twins.notice():
            echo(line, err=True)
        options = [name for each in self.params for name in (*each.opts, *each.secondary_opts)]
        with exit_codes(options), unwinding():
            require_known(ctx.params.get("settings") or (), settings_of(self.callback))
            result = super().invoke(ctx)
            with printing():
                sys.stdout.flush()
            return result


def command(name: str, **settings: Any) -> Callable[[F], F]:
    """Register a function as the command `name`; `settings` are those of its context."""
    register: Callable[[F], F] = app.command(
        name, cls=Command, context_settings=SETTINGS | settings
    )
    return register


def run_command(name: str, arguments: list[str]) -> None:
    """Run one command as the console script does, and exit."""
    alone = copy(app)  # typer takes longer over other commands of the module than a small file does
    alone.registered_commands = [each for each in app.registered_commands if each.name == name]
    found: Any = typer.main.get_group(alone).commands[name]
    found.main(arguments, prog_name=f"spacy-iobes {name}")
