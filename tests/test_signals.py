"""Signals end commands at once, whatever they are doing, and what is on disk can be used again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from .commands import fine
from .people import column_file
from .shared import environment, opened_for, patient, require_heeded

pytestmark = pytest.mark.skipif(
    sys.platform == "win32", reason="a process cannot be asked to end here"
)

CODES = {"SIGINT": 130, "SIGTERM": 143, "SIGHUP": 129}
FOREVER = 120  # seconds: whoever is still there then was not ended

PROGRAM = """
import gc, os, signal, sys

from spacy_iobes import cli
from spacy_iobes.cli import signals

cli.SELDOM = 700  # so that there is garbage to be looked for at every moment
kind, moment, name = sys.argv[1:4]
if kind != "busy":  # a busy machine may take longer to unwind than it should
    signals.UNWINDING = 600
sys.argv[:] = ["spacy-iobes", *sys.argv[4:]]
number, sent = getattr(signal, name), []


def send():
    if not sent:
        sent.append(name)
        os.kill(os.getpid(), number)


class Importing:
    def find_spec(self, module, path=None, target=None):
        if module == moment:
            send()


def called(frame, event, argument):
    names = (f"{frame.f_globals.get('__name__')}:{frame.f_code.co_name}",)
    if event == "c_call":
        names = (f"{argument.__module__}:{argument.__name__}", f":{argument.__name__}")
    if moment in names and event in ("call", "c_call"):
        sys.setprofile(None)
        send()


def collected(phase, info):
    if moment in sys.modules:
        send()


def held_up(phase, info):
    while moment in sys.modules:
        try:
            send()
            signal.sigwait([signal.SIGUSR1])
        except BaseException:
            pass


if kind == "import":
    sys.meta_path.insert(0, Importing())
elif kind == "call":
    sys.setprofile(called)
else:
    gc.callbacks.append({"callback": collected, "busy": held_up}[kind])
from spacy_iobes.__main__ import main

main()
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a column file and a pipeline."""
    folder = tmp_path_factory.mktemp("signals")
    source = column_file(folder / "people.bio", 40)
    fine("train", source, source, "-s", "bio", "-o", folder / "model", "--max-steps", 2)
    return folder


def lines(data: Path, target: Path) -> dict[str, list[object]]:
    """Commands that would all take longer than a moment, or write something."""
    source, model = data / "people.bio", data / "model"
    bio = ["-s", "bio"]
    return {
        "annotate": ["annotate", source, target, *bio, "-l", "PER", "--existing", "keep"],
        "convert": ["convert", source, target, "-s", "bio", "--to-scheme", "iobes"],
        "predict": ["predict", model, source, target, *bio],
        "score": ["score", source, source, *bio],
        "simulate": ["simulate", source, *bio, "-l", "PER"],
        "strategies": ["strategies", source, *bio, "-o", target, "--set", "workers=2"],
        "docbin": ["convert", source, target.with_suffix(".spacy"), *bio],
        "train": ["train", source, source, *bio, "-o", target, "--max-steps", "5"],
        "tune": ["tune", model, source, *bio, "-o", target],
    }


def ended(name: str, kind: str, moment: str, line: list[object]) -> tuple[int, str]:
    """Run a command that gets a signal at a moment; its exit code, and what it printed as errors.

    The moment is the import of a module, the call of a function or, once a module was imported, a
    callback of the garbage collector, out of which no exception gets.
    """
    require_heeded(name)
    command = [sys.executable, "-c", PROGRAM, kind, moment, name, *map(str, line)]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=FOREVER, env=environment(), check=False
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("command", "kind", "moment"),
    [
        ("convert", "import", "typer"),
        ("convert", "import", "numpy"),
        ("convert", "call", "spacy_iobes.corpus.files:_replacing"),
        ("score", "import", "spacy_iobes.cli.application"),
        ("score", "call", "spacy_iobes.scoring.files:score_pairs"),
        ("docbin", "import", "spacy"),
        ("docbin", "import", "thinc.backends.numpy_ops"),
        ("docbin", "call", "spacy_iobes.corpus.stored_docs:to_bytes"),
        ("predict", "call", "spacy.util:load_model"),
        ("predict", "call", "spacy.language:create_pipe"),
        ("predict", "call", "thinc.model:from_bytes"),
        ("predict", "call", "thinc.model:predict"),
        ("annotate", "import", "uvicorn"),
        ("annotate", "call", "spacy.tokens._serialize:from_bytes"),
        ("annotate", "call", "asyncio.runners:run"),
        ("simulate", "import", "spacy_iobes.selection.simulation"),
        ("strategies", "import", "multiprocessing.popen_spawn_posix"),
        ("tune", "call", "spacy.language:to_disk"),
        ("train", "import", "spacy.training.loop"),
        ("train", "call", "spacy.language:create_pipe"),
        ("train", "callback", "spacy.training.loop"),
        ("predict", "callback", "spacy_iobes.pipeline.ner"),
    ],
)
def test_a_signal_ends_a_command_at_any_moment(
    command: str, kind: str, moment: str, data: Path, tmp_path: Path
) -> None:
    require_end("SIGTERM", kind, moment, lines(data, tmp_path / "out")[command], tmp_path)


@pytest.mark.parametrize("name", CODES)
@pytest.mark.parametrize(
    ("kind", "moment"),
    [("import", "typer"), ("import", "spacy"), ("call", "spacy.util:load_model")],
)
def test_every_signal_has_its_exit_code(
    name: str, kind: str, moment: str, data: Path, tmp_path: Path
) -> None:
    require_end(name, kind, moment, lines(data, tmp_path / "out")["predict"], tmp_path)


def require_end(name: str, kind: str, moment: str, line: list[object], folder: Path) -> None:
    """The exit code is that of the signal, nothing is said to be wrong, and nothing is left."""
    code, errors = ended(name, kind, moment, line)
    wrong = [line for line in errors.splitlines() if not is_status(line)]
    assert (code, wrong) == (CODES[name], [])
    assert [path for path in folder.iterdir() if path.name.endswith(".part")] == []


def is_status(line: str) -> bool:
    """Whether a line says what a command does or has done, and not what went wrong."""
    said = ("sentences, ", "jobs done", "Ended early: there is no checkpoint yet", "Ctrl-C ends")
    return any(text in line for text in said) or "sentences read" in line


@pytest.mark.parametrize("command", ["predict", "train", "strategies"])
def test_a_command_that_lets_nothing_through_ends(command: str, data: Path, tmp_path: Path) -> None:
    """A library swallows every exception and never returns."""
    line = lines(data, tmp_path / "out")[command]
    code, errors = ended("SIGTERM", "busy", "spacy.language", line)
    assert (code, "Error" in errors, "Traceback" in errors) == (143, False, False)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_what_is_ignored_stays_ignored(tmp_path: Path) -> None:
    """As `nohup` asks for."""
    source, target = tmp_path / "in", tmp_path / "out"
    os.mkfifo(source)
    command = [sys.executable, "-m", "spacy_iobes", "convert", source, target]
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        process = subprocess.Popen([*map(str, command), "-s", "bio", "--to-scheme", "iobes"])
    finally:
        signal.signal(signal.SIGHUP, before)
    with process, opened_for(process, source) as pipe:
        process.send_signal(signal.SIGHUP)
        pipe.write(b"a B-X\n")
    assert (process.returncode, target.read_text()) == (0, "a S-X\n")


# strategies has processes of its own


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGKILL"])
@pytest.mark.parametrize("group", [False, True])
def test_workers_end_with_the_command(name: str, group: bool, tmp_path: Path) -> None:
    """Winnow ends when it has learned all, crf would take days: whoever goes on holds the pipe."""
    number = getattr(signal, name)
    require_heeded(name)
    source, temporary = column_file(tmp_path / "people.bio", 60), tmp_path / "temporary"
    temporary.mkdir()
    few = ["--strategies", "bio", "--learners", "winnow,crf", "--splits", 2]
    few += [x for setting in ("epochs", "passes") for x in ("--set", f"{setting}={10**7}")]
    line = ["strategies", source, "-s", "bio", *few, "--set", "workers=2", "-o", tmp_path / "lab"]
    process = subprocess.Popen(
        patient(*line),
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, "TMPDIR": str(temporary)},
    )
    assert process.stderr is not None
    try:
        while "1 of 4 jobs done" not in process.stderr.readline():
            assert process.poll() is None
        (os.killpg if group else os.kill)(process.pid, number)
        _, errors = process.communicate(timeout=FOREVER)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == CODES.get(name, -number)
    if name != "SIGKILL":
        assert errors == ""
        assert list(temporary.iterdir()) == []


def killed_at(step: int, line: list[str]) -> int:
    """Run a command that kills itself before a step of writing results; its exit code."""
    program = """
import os, signal, sys

left = [int(sys.argv[1])]
sys.argv[:] = ["spacy-iobes", *sys.argv[2:]]
WRITING = ("write", "flush", "fsync", "replace", "unlink", "truncate")


def called(frame, event, argument):
    ours = str(frame.f_globals.get("__name__")).startswith("spacy_iobes.")
    if ours and event == "c_call" and argument.__name__ in WRITING:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)


from spacy_iobes.__main__ import main

sys.setprofile(called)
main()
"""
    command = [sys.executable, "-c", program, str(step), *line]
    done = subprocess.run(
        command, capture_output=True, timeout=FOREVER, env=environment(), check=False
    )
    return done.returncode


def test_a_run_that_is_killed_while_it_writes_is_resumed(tmp_path: Path) -> None:
    source = column_file(tmp_path / "people.bio", 20)
    few = (
        "--learners",
        "winnow",
        "--strategies",
        "io,bio",
        "--set",
        "epochs=1",
        "--set",
        "workers=1",
    )
    line = [str(part) for part in ("strategies", source, "-s", "bio", *few, "--splits", 1, "-o")]
    fine(*line, tmp_path / "whole")
    codes = []
    for step in (1, 2, 5):
        folder = tmp_path / f"lab{step}"
        codes.append(killed_at(step, [*line, str(folder)]))
        fine(*line, folder)
        assert table(folder) == table(tmp_path / "whole")
    assert set(codes) == {-signal.SIGKILL}


def table(folder: Path) -> Any:
    """The results of a run, without its times."""
    (found,) = json.loads((folder / "comparison.json").read_text())
    del found["cpu_seconds"]
    for each in found["comparisons"]:
        for row in each["rows"]:
            del row["learning_seconds"]
    return found
