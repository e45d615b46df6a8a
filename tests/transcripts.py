"""Transcripts: what commands print, their exit codes and the files they write, as pages of text.

A page is a Markdown file. Its `console` blocks hold commands behind `$ ` and, below each, what it
prints: standard output as it is, standard error behind `! `, and `[exit code N]` where N is not 0.
All blocks of a page run one after another in one folder that begins with the fixtures. Beside
`spacy-iobes` a page may say `cat FILE …`, and `< FILE` behind a command.

`python -m tests.transcripts PAGE …` writes what the commands print now: read the difference.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from typer.testing import CliRunner

from spacy_iobes.cli import app

CASES = Path(__file__).parent / "cases"
FIXTURES = CASES / "files"
PAGES = sorted(CASES.glob("*.md"))
BLOCK = re.compile(r"(?<=^```console\n)((?:(?!```).*\n)*)(?=```$)", re.MULTILINE)
COMMAND = re.compile(r"^\$ (.+)\n(?:(?!\$ ).*\n)*", re.MULTILINE)
VARIABLES = {"COLUMNS": "80", "TERMINAL_WIDTH": "80", "NO_COLOR": "1"}
CHANGING = [
    (re.compile(r"\b\d+\.\d+(?= s\b)"), "N.N"),
    (re.compile(r'(?<=seconds": )[\d.e-]+'), "N.N"),
    (re.compile(r"\btrained in \d+ s"), "trained in N s"),
    (re.compile(r"http://127\.0\.0\.1:\d+/\S*"), "http://127.0.0.1:PORT/"),
]
"""What differs from one run to the next, and what stands for it."""


def played(page: str, folder: Path) -> str:
    """Return a page with what its commands print in a folder that holds the fixtures."""
    shutil.copytree(FIXTURES, folder, dirs_exist_ok=True)
    with _inside(folder):
        return BLOCK.sub(lambda block: COMMAND.sub(_answered, block[0]), page)


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def _answered(command: re.Match[str]) -> str:
    words = shlex.split(command[1])
    given = None
    if "<" in words:
        at = words.index("<")
        given = Path(words[at + 1]).read_bytes()
        del words[at : at + 2]
    program, *arguments = words
    if program == "cat":
        return f"$ {command[1]}\n" + "".join(map(_content, arguments))
    assert program == "spacy-iobes", f"a transcript cannot run {program!r}"
    runner = CliRunner(env=VARIABLES)
    result = runner.invoke(app, arguments, input=given, prog_name="spacy-iobes")
    errors = "".join(f"! {line}\n" for line in result.stderr.splitlines())
    code = f"[exit code {result.exit_code}]\n" if result.exit_code else ""
    text = _ended(result.stdout) + errors + code
    for pattern, name in CHANGING:
        text = pattern.sub(name, text)
    return f"$ {command[1]}\n{text}"


def _content(name: str) -> str:
    return _ended(Path(name).read_text(encoding="utf8"))


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def main() -> None:
    """Write what the commands of pages print now."""
    for page in [Path(name) for name in sys.argv[1:]] or PAGES:
        with TemporaryDirectory() as folder:
            page.write_text(played(page.read_text(encoding="utf8"), Path(folder)), encoding="utf8")


if __name__ == "__main__":
    os.environ.update(VARIABLES)
    main()
