"""Directories that take the place of others: a kill at any moment leaves one of the two."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import spacy

from .commands import fine, run
from .people import column_file
from .shared import environment

PROGRAM = """
import os, signal, sys

step, exchange, kinds, *arguments = sys.argv[1:]
left = int(step)


def stepped(event, given):
    global left
    if event == "ctypes.dlsym" and exchange == "no" and "rename" in str(given[1]):
        raise AttributeError(given[1])
    if event == "open":
        event = "write" if "w" in str(given[1]) and "model" in str(given[0]) else ""
    if event in kinds.split():
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)


if arguments[0] == "put":
    from pathlib import Path
    from spacy_iobes.corpus import put

    sys.addaudithook(stepped)
    put(Path(arguments[1]), arguments[2])
else:
    from spacy_iobes.__main__ import main

    sys.argv[:] = ["spacy-iobes", *arguments]
    sys.addaudithook(stepped)
    main()
"""
STEPS = "write os.rename os.rmdir shutil.rmtree ctypes.dlsym"
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL here")


def killed(step: int, exchange: bool, *arguments: object, kinds: str = STEPS) -> bool:
    """Run something that kills itself before one of its steps; False if there is no such step."""
    given = [str(step), "yes" if exchange else "no", kinds, *map(str, arguments)]
    command = [sys.executable, "-c", PROGRAM, *given]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode in (0, -signal.SIGKILL), done.stderr
    return done.returncode != 0


def filled(folder: Path, content: str) -> Path:
    """A directory whose files all have the same content."""
    for name in ("one", "two", "three/four"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)
    return folder


def contents(folder: Path) -> set[str]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert len(files) == 3
    return {path.read_text() for path in files}


def killed_puts(folder: Path, exchange: bool) -> Iterator[Path]:
    """Where one directory was to replace another, after a kill before each step."""
    for step in range(1, 100):
        place = folder / str(step)
        old, new = filled(place / "model", "old"), filled(place / "work" / "new", "new")
        if not killed(step, exchange, "put", new, old):
            assert contents(old) == {"new"}
            assert [path.name for path in place.iterdir() if path != old] == ["work"]
            return
        yield old
    raise AssertionError("there is no end to it")


@pytest.mark.skipif(sys.platform not in ("linux", "darwin"), reason="cannot exchange directories")
def test_one_of_two_directories_is_always_there(tmp_path: Path) -> None:
    found = [contents(target) for target in killed_puts(tmp_path, exchange=True)]
    assert {"old"} in found
    assert {"new"} in found
    assert all(len(each) == 1 for each in found)


def test_a_directory_is_restored_where_it_cannot_be_exchanged(tmp_path: Path) -> None:
    """The next command that is to read it or to write it does so, and says it."""
    said = []
    for target in killed_puts(tmp_path, exchange=False):
        missing = not target.exists()
        result = run("predict", target, tmp_path / "nothing", "-", "-s", "bio")
        assert f"{target}: no pipeline there" in result.stderr or "cannot be" in result.stderr
        assert contents(target) in ({"old"}, {"new"})
        restored = f"{target}: restored, since what was to replace it was not finished"
        assert (restored in result.stderr) == missing
        said.append(missing)
    assert said.count(True) == 1  # between two renames


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return column_file(tmp_path_factory.mktemp("folders") / "people.bio", 20)


@pytest.mark.parametrize("exchange", [True, False])
@pytest.mark.parametrize("step", [1, 3, 6])
def test_tune_that_is_killed_leaves_a_pipeline(
    exchange: bool, step: int, source: Path, tmp_path: Path
) -> None:
    target, model = tmp_path / "model", tmp_path / "other"
    train = ("train", source, source, "-s", "bio", "--max-steps", 2, "--no-tune", "-o")
    fine(*train, target, "--lang", "de")
    fine(*train, model)
    line = ("tune", model, source, "-s", "bio", "-o")
    fine(*line, tmp_path / "tuned")
    whole = [files(folder) for folder in (target, tmp_path / "tuned")]
    assert killed(step, exchange, *line, target)
    fine("predict", target, source, "-", "-s", "bio")  # restores it, if need be
    assert files(target) in whole


def files(folder: Path) -> dict[str, bytes]:
    """All files of a directory, with their content."""
    found = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_train_that_is_killed_leaves_a_pipeline(source: Path, tmp_path: Path) -> None:
    """Killed between the two steps in which the new pipeline is to replace the old one."""
    target, line = tmp_path / "model", ["train", source, source, "-s", "bio", "--max-steps", 2]
    fine(*line, "-o", target, "--lang", "de")
    assert killed(2, False, *line, "-o", target, kinds="os.rename")
    assert not target.exists()
    result = fine("predict", target, source, "-", "-s", "bio")
    assert f"{target}: restored" in result.stderr
    assert spacy.load(target).lang == "de"
    assert killed(2, False, *line, "-o", target, kinds="os.rename")
    assert f"{target}: restored" in fine(*line, "-o", target).stderr
    assert spacy.load(target).lang == "en"
