"""A folder of files of any kind is read as one source, file after file."""

from __future__ import annotations

from pathlib import Path

import pytest

from spacy_iobes import Span
from spacy_iobes.corpus import FORMATS, format_of, read
from spacy_iobes.errors import FileError

from .commands import fine, run
from .transcripts import FIXTURES


def copies(folder: Path, *names: str) -> Path:
    for number, name in enumerate(names):
        place = folder / f"{number}" / name
        place.parent.mkdir(parents=True)
        place.write_bytes((FIXTURES / name).read_bytes())
    return folder


def spans_of(path: Path, form: str = "auto") -> list[list[Span]]:
    return [row for part in read(path, format=form) for row in part.known("bio").spans]


def test_files_of_several_kinds_are_read_by_name(tmp_path: Path) -> None:
    folder = copies(tmp_path / "all", "gold.bio", "gold.jsonl", "other.bio")
    (folder / ".hidden").write_text("nothing", encoding="utf8")
    names = ("gold.bio", "gold.jsonl", "other.bio")
    assert spans_of(folder) == [row for name in names for row in spans_of(FIXTURES / name)]
    assert format_of(folder).name == "folder"
    assert "folder" not in FORMATS, "nobody names it"


def test_a_named_format_is_that_of_each_file(tmp_path: Path) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / "a.jsonl").write_bytes((FIXTURES / "gold.bio").read_bytes())
    assert spans_of(folder, "columns") == spans_of(FIXTURES / "gold.bio")


def test_a_document_ends_with_its_file(tmp_path: Path) -> None:
    folder = copies(tmp_path / "two", "other.bio", "other.bio")
    once, twice = read(FIXTURES / "other.bio").documents(), read(folder).documents()
    assert 2 * sum(len(part.opens) for part in once) == sum(len(part.opens) for part in twice)


def test_violations_name_the_file(tmp_path: Path) -> None:
    folder = copies(tmp_path / "two", "gold.bio", "broken.bio")
    done = run("validate", folder, "-s", "bio")
    assert done.exit_code == 1
    assert f"{folder / '1' / 'broken.bio'}:" in done.stdout


def test_the_scheme_is_looked_for_in_all_files(tmp_path: Path) -> None:
    folder = copies(tmp_path / "two", "gold.bio", "gold.jsonl")
    assert "tags read as bio" in fine("convert", folder, tmp_path / "out.spacy").stderr


def test_a_folder_without_files_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="a folder without files"):
        list(read(tmp_path))
