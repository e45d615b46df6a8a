"""The commands: what they print, what they write, and how they end."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from spacy_iobes import FORMATS, POLICIES, SCHEMES
from spacy_iobes.cli import MODULES, app

BROKEN = "a\tB-X\nb\tI-Y\n\nc\tI-X\nd\tO\n"
FINE = "-DOCSTART-\tO\n\na\tB-X\nb\tI-X\nc\tB-X\n\nd\tO\n"


def run(*arguments: object, text: bytes | str | None = None) -> Result:
    return CliRunner().invoke(app, [str(argument) for argument in arguments], input=text)


def as_json(*arguments: object) -> Any:
    return json.loads(run(*arguments, "--json").stdout)


@pytest.fixture
def broken(tmp_path: Path) -> Path:
    path = tmp_path / "broken"
    path.write_text(BROKEN)
    return path


@pytest.fixture
def fine(tmp_path: Path) -> Path:
    path = tmp_path / "fine"
    path.write_text(FINE)
    return path


def test_validate_names_file_line_token_and_tags(broken: Path, fine: Path) -> None:
    result = run("validate", broken, fine, "--scheme", "bio")
    assert result.exit_code == 1
    first, second, broken_sum, fine_sum = result.stdout.splitlines()
    assert first.startswith(f"{broken}:2: 'b': B-X -> I-Y")
    assert second.startswith(f"{broken}:4: 'c': the sentence start -> I-X")
    assert broken_sum.startswith(f"{broken}: 2 violations of bio in 1 document, 2 sentences")
    assert fine_sum.startswith(f"{fine}: no violations of bio in 1 document, 2 sentences, 4 tokens")
    assert run("validate", fine, "--scheme", "IOB2").exit_code == 0


def test_validate_json_holds_everything(broken: Path) -> None:
    report = as_json("validate", broken, "--scheme", "bio")
    assert (report["scheme"], report["total"]) == ("bio", 2)
    (file,) = report["files"]
    assert (file["sentences"], file["tokens"]) == (2, 4)
    wanted = {"index": 1, "previous": "B-X", "current": "I-Y", "kind": "label"}
    wanted |= {"file": str(broken), "line": 2, "token": "b"}
    assert wanted.items() <= file["violations"][0].items()


def test_validate_limit(tmp_path: Path) -> None:
    path = tmp_path / "many"
    path.write_text("a I-X\n\nb B-X\n\n" * 150)
    lines = run("validate", path, "-s", "bio").stdout.splitlines()
    assert len(lines) == 102
    assert "and 50 more" in lines[100]
    assert len(run("validate", path, "-s", "bio", "--limit", 0).stdout.splitlines()) == 151
    assert len(run("validate", path, "-s", "bio", "--quiet").stdout.splitlines()) == 1
    assert len(as_json("validate", path, "-s", "bio")["files"][0]["violations"]) == 150


def test_repair_shows_old_and_new(broken: Path, tmp_path: Path) -> None:
    result = run("repair", broken, tmp_path / "out", "-s", "bio", "-p", "begin")
    assert result.exit_code == 0
    assert "2: 'b': I-Y => B-Y" in result.stdout
    assert "4: 'c': I-X => B-X" in result.stdout
    assert "2 tags changed, 2 violations repaired" in result.stdout
    assert (tmp_path / "out").read_text() == "a\tB-X\nb\tB-Y\n\nc\tB-X\nd\tO\n"


@pytest.mark.parametrize(
    ("policy", "tags"),
    [
        ("begin", "B-X B-Y B-X O"),
        ("conlleval", "B-X B-Y B-X O"),
        ("discard", "B-X O O O"),
        ("STRICT", "B-X O O O"),
        ("ncrfpp", "B-X O O O"),
        ("stanza", "B-Y I-Y B-X O"),
        ("nearest", "B-X B-Y B-X O"),
    ],
)
def test_repair_under_every_policy(broken: Path, tmp_path: Path, policy: str, tags: str) -> None:
    assert run("repair", broken, tmp_path / "out", "-s", "bio", "-p", policy).exit_code == 0
    lines = (tmp_path / "out").read_text().split("\n")
    assert [line.split("\t")[1] for line in lines if line] == tags.split()


def test_repair_json(broken: Path, tmp_path: Path) -> None:
    (report,) = as_json("repair", broken, tmp_path / "out", "-s", "bio", "-p", "discard")
    assert (report["changed"], report["violations"], report["sentences"]) == (2, 2, 2)
    changes = [change for repair in report["repairs"] for change in repair["changes"]]
    assert [(c["line"], c["token"], c["old"], c["new"]) for c in changes] == [
        (2, "b", "I-Y", "O"),
        (4, "c", "I-X", "O"),
    ]


@pytest.mark.parametrize("command", ["repair", "convert"])
def test_malformed_tags_are_refused_and_nothing_is_written(
    broken: Path, tmp_path: Path, command: str
) -> None:
    options = {"repair": "-s bio -p raise", "convert": "-s bio --to-scheme io --keep X"}
    (tmp_path / "out").write_text("old")
    result = run(command, broken, tmp_path / "out", *options[command].split())
    assert result.exit_code == 1
    assert ":2: 'b'" in result.stderr
    assert ":4: 'c'" in result.stderr
    assert "2 violations and no policy to repair them" in result.stderr
    assert (tmp_path / "out").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["broken", "out"]


def test_convert_there_and_back_is_the_same_file(fine: Path, tmp_path: Path) -> None:
    for scheme in set(SCHEMES) - {"io"}:
        there, back = tmp_path / "there", tmp_path / "back"
        assert run("convert", fine, there, "--scheme", "bio", "--to-scheme", scheme).exit_code == 0
        assert run("convert", there, back, "--scheme", scheme, "--to-scheme", "bio").exit_code == 0
        assert back.read_text() == FINE
    assert "S-X" in _converted(fine, tmp_path, "iobes")
    assert "BE-X" in _converted(fine, tmp_path, "bie")


def _converted(path: Path, folder: Path, scheme: str) -> str:
    run("convert", path, folder / "out", "--scheme", "bio", "--to-scheme", scheme)
    return (folder / "out").read_text()


def test_what_io_cannot_say_is_refused_with_its_line(fine: Path, tmp_path: Path) -> None:
    result = run("convert", fine, tmp_path / "out", "--scheme", "bio", "--to-scheme", "io")
    assert result.exit_code == 1
    assert f"{fine}, line 3, 'a'" in result.stderr
    assert "(0, 2, 'X') and (2, 3, 'X')" in result.stderr
    assert not (tmp_path / "out").exists()


def test_unreadable_tags_are_not_repaired(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("a O\nb Q-X\n")
    result = run("repair", path, tmp_path / "out", "-s", "bio", "-p", "begin")
    assert result.exit_code == 1
    assert f"{path}, line 2, 'b': 'Q-X' is not a tag of bio" in result.stderr
    assert run("validate", path, "-s", "bio").exit_code == 1


def test_standard_input_and_output() -> None:
    result = run("convert", "-", "-", "-s", "bio", "--to-scheme", "bilou", text=FINE.encode())
    assert result.exit_code == 0
    assert result.stdout_bytes == FINE.replace("I-X", "L-X").replace("c\tB", "c\tU").encode()
    assert "2 tags changed" in result.stderr
    result = run("validate", "-", "-s", "bio", text=BROKEN.encode())
    assert "standard input:2: 'b'" in result.stdout


def test_gzip_in_and_out(tmp_path: Path) -> None:
    (tmp_path / "in.gz").write_bytes(gzip.compress(FINE.encode()))
    run("convert", tmp_path / "in.gz", tmp_path / "out.gz", "-s", "bio", "--to-scheme", "iobes")
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()).decode().count("E-X") == 1


def test_many_files_into_a_directory(broken: Path, fine: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run("repair", broken, fine, out, "-s", "bio", "-p", "begin").exit_code == 0
    assert sorted(path.name for path in out.iterdir()) == ["broken", "fine"]
    assert (out / "fine").read_text() == FINE
    assert run("repair", broken, fine, fine, "-s", "bio", "-p", "begin").exit_code == 2
    assert run("repair", fine, fine, out, "-s", "bio", "-p", "begin").exit_code == 2
    assert run("repair", fine, "-s", "bio", "-p", "begin").exit_code == 2
    assert fine.read_text() == FINE


def test_a_file_can_be_repaired_in_place(broken: Path) -> None:
    assert run("repair", broken, broken, "-s", "bio", "-p", "discard").exit_code == 0
    assert broken.read_text() == "a\tB-X\nb\tO\n\nc\tO\nd\tO\n"


@pytest.mark.parametrize(
    ("options", "tags"),
    [
        (["--keep", "X"], "B-X I-X O B-X O"),
        (["--remove", "X,Z"], "O O B-Y O O"),
        (["--map", "Y=X"], "B-X I-X B-X B-X O"),
        (["--map", "Y=Z", "--map", "X=Q"], "B-Q I-Q B-Z B-Q O"),
        (["--map", "Y=Z, X=Q"], "B-Q I-Q B-Z B-Q O"),
        (["--keep", "Z", "--map", "Y=Z"], "O O B-Z O O"),
        (["--keep", "Y", "--map", "Y=Z"], "O O O O O"),
        (["--map", "Y=X", "--remove", "X"], "O O O O O"),
        (["--map", "X=Y", "--remove", "X"], "B-Y I-Y B-Y B-Y O"),
    ],
)
def test_process(tmp_path: Path, options: list[str], tags: str) -> None:
    path = tmp_path / "file"
    path.write_text("a B-X\nb I-X\nc B-Y\n\nd B-X\ne O\n")
    assert run("convert", path, tmp_path / "out", "-s", "bio", *options).exit_code == 0
    lines = (tmp_path / "out").read_text().split("\n")
    assert [line.split()[1] for line in lines if line] == tags.split()


def test_process_maps_from_a_file(fine: Path, tmp_path: Path) -> None:
    names = tmp_path / "names.json"
    names.write_text('{"NAME": ["X", "Y"]}')
    assert run("convert", fine, tmp_path / "out", "-s", "bio", "--map", names).exit_code == 0
    assert (tmp_path / "out").read_text() == FINE.replace("-X", "-NAME")
    for text in ("{", "[]", '{"NAME": 3}'):
        names.write_text(text)
        assert run("convert", fine, tmp_path / "o", "-s", "bio", "--map", names).exit_code == 2
    assert run("convert", fine, tmp_path / "o", "-s", "bio", "--map", "no.json").exit_code == 2


@pytest.mark.parametrize("options", [["--keep", "X", "--remove", "Y"], ["--map", "X="]])
def test_labels_are_renamed_and_kept_or_removed(
    fine: Path, tmp_path: Path, options: list[str]
) -> None:
    assert run("convert", fine, tmp_path / "out", "-s", "bio", *options).exit_code == 2


def test_mapping_labels_together_keeps_touching_spans_apart(tmp_path: Path) -> None:
    path, out = tmp_path / "file", tmp_path / "out"
    path.write_text("a I-X\nb I-Y\nc I-Y\n")
    assert run("convert", path, out, "-s", "iob1", "--map", "Y=X").exit_code == 0
    assert out.read_text() == "a I-X\nb B-X\nc I-X\n"
    assert run("convert", path, out, "-s", "io", "--map", "Y=X").exit_code == 1


def test_count_and_summarize(fine: Path, broken: Path, tmp_path: Path) -> None:
    assert run("summarize", "--mentions", fine, "-s", "bio").stdout == "1\tX\ta b\n1\tX\tc\n"
    assert run("summarize", "--mentions", fine, fine, "-s", "bio").stdout == "2\tX\ta b\n2\tX\tc\n"
    assert run("summarize", "--mentions", fine, "-s", "bio", "-o", tmp_path / "out").stdout == ""
    assert (tmp_path / "out").read_text() == "1\tX\ta b\n1\tX\tc\n"
    assert as_json("summarize", "--mentions", fine, "-s", "bio")[0] == {
        "count": 1,
        "label": "X",
        "text": "a b",
    }
    report = as_json("summarize", fine, broken, "-s", "bio", "-p", "begin")
    assert report["labels"] == {"X": 4, "Y": 1}
    assert [file["repaired"] for file in report["files"]] == [0, 2]
    table = run("summarize", fine, broken, "-s", "bio", "-p", "begin").stdout
    assert "total" in table
    assert run("summarize", broken, "-s", "bio").exit_code == 1
    assert run("summarize", "--mentions", broken, "-s", "bio").exit_code == 1


def test_text(fine: Path) -> None:
    assert run("convert", fine, "-", "-t", "tokens").stdout == "a b c\nd\n"


def test_check(fine: Path, broken: Path, tmp_path: Path) -> None:
    result = run("validate", fine)
    assert result.exit_code == 0
    (report,) = as_json("validate", fine)
    assert report["legal"] == ["bio", "bia"]  # no span has an O behind it, which bia would mark
    assert len(report["schemes"]) == len(SCHEMES)
    assert as_json("validate", broken)[0]["legal"] == []
    assert run("validate", fine, broken).exit_code == 1


@pytest.mark.parametrize("text", ["", "\n\n"])
def test_an_empty_file_is_zero_sentences_and_says_so(tmp_path: Path, text: str) -> None:
    path = tmp_path / "empty"
    path.write_text(text)
    for command in ("validate -s bio", "validate", "summarize -s bio"):
        name, *options = command.split()
        result = run(name, path, *options)
        assert result.exit_code == 0
        assert "0" in result.stdout
    assert "0 sentences: the file holds no tokens" in run("validate", path, "-s", "bio").stdout
    result = run("convert", path, tmp_path / "out", "-s", "bio", "--to-scheme", "iobes")
    assert "0 sentences: the file holds no tokens" in result.stdout
    assert (tmp_path / "out").read_text() == text


def test_schemes_and_policies_are_all_shown() -> None:
    for topic, names in (("schemes", SCHEMES), ("policies", POLICIES), ("formats", FORMATS)):
        shown = "\n" + run("info", topic).stdout
        assert all(f"\n{name}" in shown for name in names)
        assert topic != "formats" or max(map(len, shown.splitlines())) <= 100
        report = json.loads(run("info", topic, "--json").stdout)
        assert [row["name"] for row in report] == list(names)
    wrong = run("info", "scheme")
    assert wrong.exit_code == 2
    assert "Known: versions, schemes, policies, formats" in wrong.stderr


def test_info() -> None:
    facts = json.loads(run("info", "--json").stdout)
    assert facts["kernels"] in ("compiled", "numpy")
    assert facts["kernels"] in run("info").stdout


BAD = {
    "missing": None,
    "truncated.gz": gzip.compress(bytes(range(256)) * 50)[:60],
    "binary": bytes(range(256)),
    "latin": "café O\n".encode("latin-1"),
    "short": b"a x O\nb O\n",
    "long": b"x" * 10_000_000 + b" O\n",
    "directory": None,
}


@pytest.mark.parametrize("name", BAD)
@pytest.mark.parametrize("command", ["validate", "summarize", "convert"])
def test_bad_input_is_one_line_and_exit_code_2(tmp_path: Path, name: str, command: str) -> None:
    path = tmp_path / name
    if data := BAD[name]:
        path.write_bytes(data)
    elif name == "directory":
        path.mkdir()
    options = {"validate": [], "convert": ["-s", "bio", "--to-scheme", "io"]}
    out = [tmp_path / "out"] if command == "convert" else []
    result = run(command, path, *out, *options.get(command, ["-s", "bio"]))
    assert result.exit_code == 2
    assert str(path) in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert "Traceback" not in result.output
    assert not (tmp_path / "out").exists()
    assert not list(tmp_path.glob(".*"))


def test_bad_output_is_one_line_and_exit_code_2(fine: Path, tmp_path: Path) -> None:
    for out in (tmp_path, tmp_path / "no" / "out", fine / "out"):
        result = run("convert", fine, out, "-s", "bio", "--to-scheme", "iobes")
        assert result.exit_code == 2
        assert len(result.stderr.splitlines()) == 1
        assert str(out) in result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ["validate", "FILE", "-s", "nonsense"],
        ["validate", "FILE", "-s", "iob"],
        ["repair", "FILE", "OUT", "-s", "bio"],
        ["repair", "FILE", "OUT", "-s", "bio", "-p", "nonsense"],
        ["validate", "FILE", "-s", "bio", "--encoding", "nonsense"],
        ["validate", "FILE", "-s", "bio", "--delimiter", ""],
        ["validate", "FILE", "-s", "bio", "--tag", "7"],
        ["nonsense"],
    ],
)
def test_bad_usage_is_exit_code_2(fine: Path, arguments: list[str]) -> None:
    result = run(*[str(fine) if a == "FILE" else a for a in arguments])
    assert result.exit_code == 2
    assert result.stderr
    assert "Traceback" not in result.output


def test_nothing_is_printed_if_a_later_line_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "late"
    path.write_text("a O\n\n" * 500_000 + "b I-X\n")
    result = run("convert", path, "-", "-s", "bio", "--to-scheme", "iobes")
    assert result.exit_code == 1
    assert result.stdout == ""


def test_json_goes_to_standard_error_if_the_file_is_printed(broken: Path) -> None:
    result = run("repair", broken, "-", "-s", "bio", "-p", "begin", "--json")
    assert result.stdout == "a\tB-X\nb\tB-Y\n\nc\tB-X\nd\tO\n"
    assert json.loads(result.stderr)[0]["changed"] == 2


@pytest.mark.parametrize("encoding", ["nope", "hex", "rot13", "zip", "utf-16"])
def test_what_is_no_encoding_to_write(fine: Path, tmp_path: Path, encoding: str) -> None:
    result = run(
        "convert", fine, tmp_path / "o", "-s", "bio", "--to-scheme", "io", "--encoding", encoding
    )
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1


def test_labels_that_would_break_the_columns(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("a B-X\n")
    for new in ("A B", "A\tB", "A\nB"):
        result = run("convert", path, tmp_path / "out", "-s", "bio", "--map", f"X={new}")
        assert result.exit_code == 2
        assert "would break its column" in result.stderr
    assert not (tmp_path / "out").exists()


def test_tokens_that_hold_the_delimiter_to_be_written(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(", B-X\n")
    options = ["-s", "bio", "-p", "begin", "--set"]
    assert run("repair", path, tmp_path / "out", *options, "output-delimiter=comma").exit_code == 2
    assert run("repair", path, tmp_path / "out", *options, "output-delimiter=auto").exit_code == 2
    assert (
        run("repair", path, tmp_path / "out", *options, "output-delimiter=whitespace").exit_code
        == 2
    )
    assert run("repair", path, tmp_path / "out", *options, "output-delimiter=tab").exit_code == 0
    assert (tmp_path / "out").read_text() == ",\tB-X\n"


def test_labels_that_do_not_occur_are_named(fine: Path, tmp_path: Path) -> None:
    result = run("convert", fine, tmp_path / "out", "-s", "bio", "--keep", "TYPO,X")
    assert "no span was labelled TYPO" in result.stdout


def test_one_file_given_twice_counts_twice(fine: Path) -> None:
    assert as_json("summarize", fine, fine, "-s", "bio")["labels"] == {"X": 4}
    assert len(as_json("summarize", fine, fine, "-s", "bio")["files"]) == 2


def test_count_says_what_it_repaired_and_what_is_empty(broken: Path, tmp_path: Path) -> None:
    assert (
        "2 violations repaired"
        in run("summarize", "--mentions", broken, "-s", "bio", "-p", "begin").stderr
    )
    (tmp_path / "empty").write_text("")
    empty = run("summarize", "--mentions", tmp_path / "empty", "-s", "bio")
    assert "0 sentences" in empty.stderr


def test_one_file_does_not_go_into_a_directory(fine: Path, tmp_path: Path) -> None:
    result = run("convert", fine, f"{tmp_path}/new/", "-s", "bio", "--to-scheme", "iobes")
    assert result.exit_code == 2
    assert not (tmp_path / "new").exists()


def test_every_command_is_found_in_its_module() -> None:
    assert {command.name for command in app.registered_commands} == set(MODULES)
    for command in app.registered_commands:
        home = command.callback.__module__ if command.callback else ""
        assert home == f"spacy_iobes.cli.{MODULES[str(command.name)]}"
