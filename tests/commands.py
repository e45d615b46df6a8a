"""Run commands in this process."""

from __future__ import annotations

from typer.testing import CliRunner, Result

from spacy_iobes.cli import app


def run(*arguments: object) -> Result:
    """What came of a command."""
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def fine(*arguments: object) -> Result:
    """The same, for a command that must do well."""
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result
