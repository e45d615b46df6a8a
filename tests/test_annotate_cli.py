"""The commands annotate, export and import, and the corpora that they read."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import spacy
from spacy.tokens import DocBin

from spacy_iobes.corpus import NestedReading, ToRead, docs_to_read, plain_docs
from spacy_iobes.errors import FileError, OverlapError, UnknownNameError
from spacy_iobes.selection import Pool, Session, Settings, add_file, export

from .commands import fine, run
from .served import Server, served
from .small_sessions import docs, gold_of, sentences, small

TEXT = """\ufeffAda lives in Kisumu. She  met Bo.
He left\tat noon, Dr. Who said.

A new paragraph; it has
two lines.


"""


def begun(tmp_path: Path, *arguments: object) -> Session:
    """What a session looks like that the command has begun."""
    with served(*arguments) as server:
        server.state()
        server.end(signal.SIGTERM)
    return Session.look(tmp_path / "state")


def refused(*arguments: object) -> str:
    """What the command says that cannot begin."""
    result = run("annotate", *arguments, "--no-browser")
    assert result.exit_code == 2, result.output
    return " ".join(result.stderr.split())


@pytest.fixture
def columns(tmp_path: Path) -> Path:
    """Two documents with tags."""
    path = tmp_path / "corpus.bio"
    path.write_text(
        "-DOCSTART- O\n\nAda B-PER\nmet O\nBo B-PER\n\nYes O\n. O\n\n"
        "-DOCSTART- O\n\nKisumu B-LOC\nis O\nbig O\n"
    )
    return path


def words(session: Session) -> list[str]:
    return [" ".join(session.pool.words(number)[0]) for number in range(len(session.pool))]


def test_a_column_file_with_tags(tmp_path: Path, columns: Path) -> None:
    state = tmp_path / "state"
    options = ("--scheme", "bio", "--batch", 2, "--audit", 0, "--target", 0.9, "--seed", 3)
    with begun(tmp_path, columns, state, "--label", "LOC", "--existing", "drop", *options) as found:
        assert words(found) == ["Ada met Bo", "Yes .", "Kisumu is big"]
        assert len(found.pool.docs) == 2
        assert [span.label for span in found.pool.known(0)] == ["PER", "PER"]
        assert found.decisions == []
        assert found.settings.batch == 2
        assert (found.settings.audit, found.settings.target, found.settings.seed) == (0, 0.9, 3)
    with begun(tmp_path, columns, state) as found:  # gone on with, whatever the corpus says
        assert len(found.pool) == 3
    message = refused(columns, state, "--label", "PER")
    assert "begun with labels = ('LOC',), not ('PER',)" in message
    message = refused(state, "--batch", 100, "--target", 0.5)
    assert "begun with batch = 2, not 100" in message
    assert "cannot change any more; target, rule" in message
    assert "Unknown stopping rule 'whim'" in refused(state, "--target", 0.5, "--rule", "whim")
    with begun(tmp_path, state, "--rule", "audit", "--batch", 2) as found:
        assert (found.settings.target, found.settings.rule) == (0.9, "audit")
    with begun(tmp_path, state, "--target", 0.5) as found:
        assert (found.settings.target, found.settings.rule) == (0.5, "audit")
        assert found.settings.batch == 2


def test_mentions_that_are_there_already(tmp_path: Path, columns: Path) -> None:
    state = tmp_path / "state"
    message = refused(columns, state, "--label", "PER", "--scheme", "bio")
    assert "2 mentions of PER in 1 sentence already" in message
    assert "--existing keep" in message
    assert not state.exists()
    kept = ("--label", "PER", "--scheme", "bio", "--existing", "keep")
    with begun(tmp_path, columns, state, *kept) as found:
        assert [made.sentence for made in found.decisions] == [0]
        assert [span.label for span in found.decisions[0].spans] == ["PER", "PER"]
    assert "one of: keep, drop" in refused(columns, tmp_path / "x", *kept[:-1], "maybe")


def test_what_is_missing_or_wrong_is_said(tmp_path: Path, columns: Path) -> None:
    state = tmp_path / "state"
    assert "say what to look for" in refused(columns, state)
    assert "more than tokens" in refused(columns, state, "--label", "X")
    assert "there is no such folder" in refused(state)
    assert "there is no such file" in refused(tmp_path / "nothing", state, "--label", "X")
    assert "Unknown scheme" in refused(columns, state, "--label", "X", "--scheme", "bo")
    assert "no language" in refused(columns, state, "--label", "X", "--untagged", "--lang", "xxx")
    untagged = (columns, state, "--label", "X", "--untagged")
    assert "'start'" in refused(*untagged, "--start", "end")
    assert "'words'" in refused(*untagged, "--start", "words")
    assert "Unknown stopping rule" in refused(*untagged, "--rule", "x")
    assert "Known: rules, lines, whole" in refused(*untagged, "--sentences", "x")
    assert "each once" in refused(*untagged, "--label", "X")
    (tmp_path / "empty.txt").write_text(" \n\n")
    assert "no token" in refused(tmp_path / "empty.txt", state, "--label", "X")
    assert "name a corpus and a folder" in refused(columns, columns, state)
    assert not state.exists()


def test_a_folder_that_is_no_session(tmp_path: Path, columns: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    message = refused(columns, tmp_path / "full", "--label", "X", "--untagged")
    assert "something is there already" in message


def test_a_session_of_words(tmp_path: Path, columns: Path) -> None:
    start = ("--start", "words", "--words", "kisumu", "--batch", 1, "--audit", 0)
    with served(columns, tmp_path / "state", "--label", "X", "--untagged", *start) as server:
        assert server.state()["task"]["words"] == ["Kisumu", "is", "big"]


def test_plain_text_of_the_command(tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text(TEXT)
    with begun(tmp_path, tmp_path / "corpus.txt", tmp_path / "state", "--label", "X") as found:
        assert words(found) == [
            "Ada lives in Kisumu .",
            "She met Bo .",
            "He left at noon , Dr. Who said .",
            "A new paragraph ; it has two lines .",
        ]


def test_without_a_server_the_message_is_kind(tmp_path: Path) -> None:
    """A process in which the extra cannot be found."""
    code = (
        "import sys; sys.modules['uvicorn'] = None\n"
        "import importlib.util as util; find = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name == 'uvicorn' else find(name, *rest)\n"
        "from spacy_iobes.cli import main\n"
        f"sys.argv = ['spacy-iobes', 'annotate', {str(tmp_path)!r}]; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "The page needs uvicorn: pip install 'spacy-iobes[annotate]'" in done.stderr


def text_of(tmp_path: Path, split: str) -> list[list[str]]:
    (tmp_path / "corpus.txt").write_text(TEXT)
    found = plain_docs(tmp_path / "corpus.txt", spacy.blank("en"), split)  # type: ignore[arg-type]
    return [[sent.text for sent in doc.sents] for doc in found]


def test_plain_text_by_rules_lines_or_whole(tmp_path: Path) -> None:
    assert text_of(tmp_path, "rules") == [
        ["Ada lives in Kisumu.", "She met Bo.", "He left at noon, Dr. Who said."],
        ["A new paragraph; it has two lines."],
    ]
    assert text_of(tmp_path, "lines") == [
        ["Ada lives in Kisumu. She met Bo.", "He left at noon, Dr. Who said."],
        ["A new paragraph; it has", "two lines."],
    ]
    assert [len(doc) for doc in text_of(tmp_path, "whole")] == [1, 1]


def read(path: Path, **how: object) -> tuple[list[list[str]], list[str]]:
    told = list[str]()
    found = docs_to_read(str(path), ToRead(**how), spacy.blank("en"), told.append)  # type: ignore[arg-type]
    return [
        [sent.text for sent in doc.sents] if doc.has_annotation("SENT_START") else [doc.text]
        for doc in found
    ], told


def test_json_lines_with_and_without_mentions(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    rows: Sequence[dict[str, object]] = [{"text": "Ada met Bo. He left."}, {"text": "Yes"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert read(path) == ([["Ada met Bo. He left."], ["Yes"]], [])
    assert read(path, split="rules") == ([["Ada met Bo.", "He left."], ["Yes"]], [])
    path.write_text(json.dumps({"text": "Ada met Bo", "spans": [[0, 3, "PER"], [0, 2, "X"]]}))
    found, told = read(path)
    assert found == [["Ada met Bo"]]
    assert len(told) == 1
    assert "1 " in told[0]
    path.write_text(json.dumps({"text": "Ada met Bo", "spans": [[0, 3, "PER"], [0, 7, "X"]]}))
    with pytest.raises(OverlapError, match="--nested"):
        read(path)
    assert read(path, nested=True)[0] == [["Ada met Bo"]]


def test_what_else_json_lines_have_comes_back(tmp_path: Path) -> None:
    path, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    first = {"id": "a-1", "text": "Ada met Bo. He left.", "meta": {"source": "x", "sentence": 7}}
    second = {"text": "Yes", "id": 10**30, "score": 0.5, "_input_hash": 3, "meta": "none"}
    path.write_text("".join(json.dumps(row) + "\n" for row in (first, second)))
    nlp = spacy.blank("en")
    pool = Pool.of(docs_to_read(str(path), ToRead(split="rules"), nlp, print), ("PER",))
    with Session.create(tmp_path / "state", pool, Settings(labels=("PER",))):
        pass
    with Session.open(tmp_path / "state") as session:
        for number, spans in enumerate([[(0, 1, "PER")], [], []]):
            session.decide(number, "accept", spans)
        export(session, str(out), "prodigy")
        found = [json.loads(line) for line in out.read_text().splitlines()]
        assert [row["id"] for row in found] == ["a-1", "a-1", 10**30]
        assert found[0]["meta"] == {"source": "x", "sentence": 0, "document": 0, "status": "read"}
        assert found[1]["meta"]["sentence"] == 1
        assert found[2]["meta"] == {"meta": "none", "sentence": 2, "document": 1, "status": "read"}
        assert (found[2]["score"], found[2]["_input_hash"] == 3) == (0.5, False)
        assert add_file(session, str(out), NestedReading()).same == 3
        export(session, str(out), "doccano")
        found = [json.loads(line) for line in out.read_text().splitlines()]
        assert [(row["id"], row["source_id"]) for row in found] == [
            (0, "a-1"),
            (1, "a-1"),
            (2, 10**30),
        ]
        assert found[0]["meta"] == first["meta"]
        assert add_file(session, str(out), NestedReading()).same == 3
        session.undo()
        export(session, str(out), "doccano", rest="missing")
        assert add_file(session, str(out), NestedReading()).unannotated == 1


def test_other_kinds_of_files(tmp_path: Path, columns: Path) -> None:
    DocBin(docs=docs(sentences(30))).to_disk(tmp_path / "in.spacy")
    every = [" ".join(each.words) for each in sentences(30)]
    assert [text.strip() for doc in read(tmp_path / "in.spacy")[0] for text in doc] == every
    (tmp_path / "tokens").write_text("Ada\nmet\n\nBo\n")
    assert read(tmp_path / "tokens")[0] == [["Ada met"], ["Bo"]]
    assert read(columns, untagged=True)[0] == [["Ada met Bo", "Yes ."], ["Kisumu is big"]]
    both = tmp_path / "both"
    both.mkdir()
    (both / "a.txt").write_text("One. Two.")
    (both / "b.txt").write_text("Three.")
    assert read(both)[0] == [["One.", "Two."], ["Three."]]
    table = tmp_path / "table.txt"  # a scheme says that these are columns
    table.write_text(columns.read_text())
    assert read(table, scheme="bio")[0] == read(columns, scheme="bio")[0]
    with pytest.raises(UnknownNameError):
        read(table, form="xyz")
    with pytest.raises(FileError, match="more than tokens"):
        read(columns)


def test_nested_columns(tmp_path: Path) -> None:
    path = tmp_path / "in.bio"
    path.write_text("Bank B-ORG O\nof I-ORG O\nKenya I-ORG B-LOC\n")
    state, layers = tmp_path / "state", ("--layer", 1, "--layer", 2)
    with begun(
        tmp_path, path, state, "--nested", "--label", "PER", "--scheme", "bio", *layers
    ) as found:
        assert [tuple(span) for span in found.pool.known(0)] == [(0, 3, "ORG"), (2, 3, "LOC")]
        assert found.settings.nested


def test_export_while_somebody_annotates(tmp_path: Path) -> None:
    small(tmp_path / "state", 12, audit=0.0).close()
    out = tmp_path / "out.jsonl"
    with served(tmp_path / "state") as server:
        body = {"number": 1, "sentence": 0, "answer": "accept", "spans": [[0, 1, "PER"]]}
        assert server.ask("/api/decide", body)[0] == 200
        result = fine("export", tmp_path / "state", out, "--format", "doccano")
        assert result.stdout.startswith(f"{out}: 1 sentence (1 read), ")
        assert json.loads(out.read_text())["id"] == 0
        found = run("import", tmp_path / "state", out)
        assert found.exit_code == 2
        assert f"in use by process {server.process.pid}" in " ".join(found.stderr.split())


def test_export_and_import(tmp_path: Path) -> None:
    gold = gold_of(sentences(30), ("PER", "LOC"))
    with small(tmp_path / "one", 30) as session:
        for number in range(10):
            session.decide(number, "accept", gold[number])
        session.decide(10, "reject")
    small(tmp_path / "two", 30).close()
    state, out = tmp_path / "one", tmp_path / "out.bio"
    for rest, count in (("leave-out", 10), ("missing", 29), ("predicted", 29), ("outside", 29)):
        report = json.loads(fine("export", state, out, "--rest", rest, "--json").stdout)
        assert sum(report["sentences"].values()) == count
    fine("export", state, out, "--scheme", "iobes")
    assert "S-" in out.read_text()
    result = fine("import", tmp_path / "two", out, "--scheme", "iobes")
    assert result.stdout == f"{out}: 10 new, 0 changed, 0 as before\n"
    again = json.loads(fine("import", tmp_path / "two", out, "-s", "iobes", "--json").stdout)
    assert [(row["new"], row["same"]) for row in again] == [(0, 10)]
    strange = tmp_path / "strange.jsonl"
    rows = [{"tokens": ["Not", "here", str(i)], "spans": []} for i in range(12)]
    strange.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = run("import", tmp_path / "two", strange)
    assert result.exit_code == 1
    assert "12 sentences not in the corpus:" in result.stderr
    assert "12 annotated sentences left out" in result.stderr
    assert result.stderr.count("Not here") == 10
    assert run("import", tmp_path / "two", out).exit_code == 2  # which scheme?
    result = run("export", state, out, "--rest", "guessed")
    assert result.exit_code == 2
    assert "Known: leave-out, missing" in " ".join(result.stderr.split())
    printed = fine("export", state, "-", "--format", "prodigy")
    assert len(printed.stdout.splitlines()) == 11
    assert printed.stderr.startswith("standard output: 11 sentences")
    with Session.look(tmp_path / "two") as session:
        found = {made.sentence: list(made.spans) for made in session.decisions}
        assert found == dict(enumerate(gold[:10]))


def test_import_names_the_labels_that_it_passes_over(tmp_path: Path) -> None:
    small(tmp_path / "state", 5).close()
    words = sentences(5)[0].words
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps({"tokens": words, "spans": [[0, 1, "-org"]]}) + "\n")
    result = run("import", tmp_path / "state", path)
    assert result.exit_code == 2
    assert "mentions of -org 1, but none of PER, LOC" in " ".join(result.stderr.split())
    result = fine("import", tmp_path / "state", path, "--as-read")
    assert result.stdout == f"{path}: 1 new, 0 changed, 0 as before\n"
    assert "other labels passed over: -org 1" in result.stderr


def test_what_a_crash_cut_off_is_told_once(tmp_path: Path) -> None:
    with small(tmp_path / "state", 5) as session:
        session.decide(0, "accept")
    out, journal = tmp_path / "out.jsonl", tmp_path / "state" / "decisions.jsonl"
    fine("export", tmp_path / "state", out)
    journal.write_bytes(journal.read_bytes() + b'{"decision": 2, "sen')
    said = [fine("import", tmp_path / "state", out).stderr for _ in range(2)]
    assert ["decisions.jsonl: the last line was cut off" in each for each in said] == [True, False]
    journal.write_text(journal.read_text().replace('"spans": []', '"spans": [[0, 1, "XX"]]'))
    result = run("export", tmp_path / "state", out)
    assert result.exit_code == 2
    assert "decisions.jsonl, line 2: damaged (Unknown label 'XX'" in " ".join(result.stderr.split())


def test_a_port_of_ones_own(tmp_path: Path) -> None:
    small(tmp_path / "state", 12).close()
    with served(tmp_path / "state") as server:
        port = server.port
        server.end(signal.SIGTERM)
    again = Server(tmp_path / "state", "--port", port)
    assert again.port == port
    again.end(signal.SIGTERM)
