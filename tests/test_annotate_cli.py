"""The command annotate: the corpora that it reads, and files that it takes."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import DocBin

from spacy_iobes.corpus import Corpus, ReadOptions
from spacy_iobes.errors import OverlapError, UnknownNameError
from spacy_iobes.selection import Pool, Session, Settings, pool_docs, take_file

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
    options = ("--scheme", "bio", "--batch", 2, "--set", "audit=0", "--target", 0.9, "--seed", 3)
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
    assert "Unknown stopping rule 'whim'" in refused(state, "--target", 0.5, "--set", "rule=whim")
    with begun(tmp_path, state, "--set", "rule=audit", "--batch", 2) as found:
        assert (found.settings.target, found.settings.rule) == (0.9, "audit")
    with begun(tmp_path, state, "--target", 0.5) as found:
        assert (found.settings.target, found.settings.rule) == (0.5, "audit")
        assert found.settings.batch == 2


def test_mentions_that_are_there_already(tmp_path: Path, columns: Path) -> None:
    state = tmp_path / "state"
    message = refused(columns, state, "--label", "PER")
    assert "2 mentions of PER in 1 sentence already" in message
    assert "--existing keep" in message
    assert not state.exists()
    kept = ("--label", "PER", "--scheme", "bio", "--existing", "keep")
    with begun(tmp_path, columns, state, *kept) as found:
        assert [made.sentence for made in found.decisions] == [0]
        assert [span.label for span in found.decisions[0].spans] == ["PER", "PER"]
    assert "Known: keep, drop" in refused(columns, tmp_path / "x", *kept[:-1], "maybe")


def test_what_is_missing_or_wrong_is_said(tmp_path: Path, columns: Path) -> None:
    state = tmp_path / "state"
    assert "say what to look for" in refused(columns, state)
    (tmp_path / "pos").write_text("Ada NNP\nmet VBD\n")
    assert "no scheme has the tag 'NNP'" in refused(tmp_path / "pos", state, "--label", "X")
    assert "there is no such folder" in refused(state)
    assert "there is no such file" in refused(tmp_path / "nothing", state, "--label", "X")
    assert "Unknown scheme" in refused(columns, state, "--label", "X", "--scheme", "bo")
    assert "no language" in refused(columns, state, "--label", "X", "--tag", 0, "--lang", "xxx")
    untagged = (columns, state, "--label", "X", "--tag", 0)
    assert "Unknown start 'end'" in refused(*untagged, "--set", "start=end")
    assert "'words'" in refused(*untagged, "--set", "start=words")
    assert "Unknown stopping rule" in refused(*untagged, "--set", "rule=x")
    assert "Known: auto, whole, lines, rules" in refused(*untagged, "--sentences", "x")
    assert "each once" in refused(*untagged, "--label", "X")
    (tmp_path / "empty.txt").write_text(" \n\n")
    assert "no token" in refused(tmp_path / "empty.txt", state, "--label", "X")
    assert "name a corpus and a folder" in refused(columns, columns, state)
    assert not state.exists()


def test_a_folder_that_is_no_session(tmp_path: Path, columns: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "x").touch()
    message = refused(columns, tmp_path / "full", "--label", "X", "--tag", 0)
    assert "something is there already" in message


def test_a_session_of_words(tmp_path: Path, columns: Path) -> None:
    start = ("--set", "start=words", "--words", "kisumu", "--batch", 1, "--set", "audit=0")
    with served(columns, tmp_path / "state", "--label", "X", "--tag", 0, *start) as server:
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
        f"sys.argv = ['spacy-iobes', 'annotate', 'corpus', {str(tmp_path / 'new')!r}]; main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "The page needs uvicorn: pip install 'spacy-iobes[annotate]'" in done.stderr


def text_of(tmp_path: Path, split: str) -> list[list[str]]:
    (tmp_path / "corpus.txt").write_text(TEXT)
    return [[text.strip() for text in doc] for doc in read(tmp_path / "corpus.txt", split)[0]]


def test_plain_text_by_rules_lines_or_whole(tmp_path: Path) -> None:
    assert text_of(tmp_path, "rules") == text_of(tmp_path, "auto")
    assert text_of(tmp_path, "rules") == [
        ["Ada lives in Kisumu.", "She met Bo.", "He left at noon, Dr. Who said."],
        ["A new paragraph; it has two lines."],
    ]
    assert text_of(tmp_path, "lines") == [
        ["Ada lives in Kisumu. She met Bo.", "He left at noon, Dr. Who said."],
        ["A new paragraph; it has", "two lines."],
    ]
    assert [len(doc) for doc in text_of(tmp_path, "whole")] == [1, 1]


def read(
    path: Path, split: str = "auto", nested: bool = False, scheme: str = "", **how: Any
) -> tuple[list[list[str]], list[str]]:
    """The sentences of each Doc, and what was told."""
    corpus = Corpus(str(path), ReadOptions(sentences=split, **how))  # type: ignore[arg-type]
    docs, lines = pool_docs(corpus, nested, scheme)
    return [
        [sent.text for sent in doc.sents] if doc.has_annotation("SENT_START") else [doc.text]
        for doc in docs
    ], lines


def test_json_lines_with_and_without_mentions(tmp_path: Path) -> None:
    path = tmp_path / "in.jsonl"
    rows: Sequence[dict[str, object]] = [{"text": "Ada met Bo. He left."}, {"text": "Yes"}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert read(path) == ([["Ada met Bo. He left."], ["Yes"]], [])
    assert read(path, "rules") == ([["Ada met Bo.", "He left."], ["Yes"]], [])
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
    docs, _ = pool_docs(Corpus(str(path), ReadOptions(format="jsonl", sentences="rules")))
    state = tmp_path / "state"
    Session.create(state, Pool.of(docs, ("PER",)), Settings(labels=("PER",))).close()
    with Session.open(state) as session:
        for number, spans in enumerate([[(0, 1, "PER")], [], []]):
            session.decide(number, "accept", spans)
    for form in ("prodigy", "doccano", "jsonl"):
        fine("convert", state, out, "--to", form)
        found = [json.loads(line) for line in out.read_text().splitlines()]
        assert [row["id"] for row in found] == ["a-1", "a-1", 10**30]
        assert found[0]["meta"] == {"source": "x", "sentence": 0, "document": 0, "status": "read"}
        assert found[1]["meta"]["sentence"] == 1
        assert found[2]["meta"] == {"meta": "none", "sentence": 2, "document": 1, "status": "read"}
        assert found[2]["score"] == 0.5
        with Session.open(state) as session:
            assert take_file(session, Corpus(str(out), ReadOptions(format=form))).same == 3
    with Session.open(state) as session:
        session.undo()
    fine("convert", state, out, "--to", "doccano")
    with Session.open(state) as session:
        assert take_file(session, Corpus(str(out))).unannotated == 1


def test_other_kinds_of_files(tmp_path: Path, columns: Path) -> None:
    DocBin(docs=docs(sentences(30))).to_disk(tmp_path / "in.spacy")
    every = [" ".join(each.words) for each in sentences(30)]
    assert [text.strip() for doc in read(tmp_path / "in.spacy")[0] for text in doc] == every
    (tmp_path / "tokens").write_text("Ada\nmet\n\nBo\n")
    assert read(tmp_path / "tokens")[0] == [["Ada met"], ["Bo"]]
    assert read(columns, tag=0)[0] == [["Ada met Bo", "Yes ."], ["Kisumu is big"]]
    both = tmp_path / "both"
    both.mkdir()
    (both / "a.txt").write_text("One. Two.")
    (both / "b.txt").write_text("Three.")
    (both / "c.bio").write_text(columns.read_text())
    assert [[text.strip() for text in doc] for doc in read(both, scheme="bio")[0]] == [
        ["One.", "Two."],
        ["Three."],
        ["Ada met Bo", "Yes ."],
        ["Kisumu is big"],
    ]
    table = tmp_path / "table.txt"  # its lines say that these are columns
    table.write_text("Ada B-PER\nmet O\n")
    assert read(table, scheme="bio")[0] == [["Ada met"]]
    with pytest.raises(UnknownNameError):
        read(table, format="xyz")


def test_rules_tell_the_sentences_of_docs_that_have_none(tmp_path: Path) -> None:
    texts = ["Ada  met Bo. He left.", "Yes. No"]
    nlp = spacy.blank("en")
    marked = nlp(texts[1])
    marked[2].is_sent_start = False
    DocBin(docs=[nlp(texts[0]), marked]).to_disk(tmp_path / "in.spacy")
    assert read(tmp_path / "in.spacy")[0] == [[texts[0]], [texts[1]]]
    assert read(tmp_path / "in.spacy", "rules")[0] == [["Ada  met Bo.", "He left."], ["Yes.", "No"]]


def test_nested_columns(tmp_path: Path) -> None:
    path = tmp_path / "in.bio"
    path.write_text("Bank B-ORG O\nof I-ORG O\nKenya I-ORG B-LOC\n")
    state, layers = tmp_path / "state", ("--layer", 1, "--layer", 2)
    with begun(
        tmp_path, path, state, "--nested", "--label", "PER", "--scheme", "bio", *layers
    ) as found:
        assert [tuple(span) for span in found.pool.known(0)] == [(0, 3, "ORG"), (2, 3, "LOC")]
        assert found.settings.nested


def test_a_session_is_written_while_somebody_annotates(tmp_path: Path) -> None:
    small(tmp_path / "state", 12, audit=0.0).close()
    out, more = tmp_path / "out.jsonl", ("--to", "doccano", "--set", "rest=leave-out")
    with served(tmp_path / "state") as server:
        body = {"number": 1, "sentence": 0, "answer": "accept", "spans": [[0, 1, "PER"]]}
        assert server.ask("/api/decide", body)[0] == 200
        fine("convert", tmp_path / "state", out, *more)
        assert json.loads(out.read_text())["meta"]["sentence"] == 0
        found = run("annotate", tmp_path / "state", "--take", out)
        assert found.exit_code == 2
        assert f"in use by process {server.process.pid}" in " ".join(found.stderr.split())


def test_convert_and_take(tmp_path: Path) -> None:
    gold = gold_of(sentences(30), ("PER", "LOC"))
    with small(tmp_path / "one", 30) as session:
        for number in range(10):
            session.decide(number, "accept", gold[number])
        session.decide(10, "reject")
    small(tmp_path / "two", 30).close()
    state, out = tmp_path / "one", tmp_path / "out.bio"
    for rest, count in (("leave-out", 10), ("missing", 30), ("predicted", 30), ("outside", 30)):
        options = ("--to-scheme", "bio", "--set", f"rest={rest}", "--json")
        (report,) = json.loads(fine("convert", state, out, *options).stdout)
        assert report["sentences"] == count
    fine("convert", state, out, "--to-scheme", "iobes", "--set", "rest=leave-out")
    assert "S-" in out.read_text()
    two = ("annotate", tmp_path / "two", "--take", out, "--scheme", "iobes")
    result = fine(*two)
    assert result.stdout == f"{out}: 10 new, 0 changed, 0 as before\n"
    assert f"Go on: spacy-iobes annotate {tmp_path / 'two'}" in result.stderr
    again = json.loads(fine(*two, "--json", "--take", out).stdout)
    assert [(row["new"], row["same"]) for row in again] == [(0, 10), (0, 10)]
    strange = tmp_path / "strange.jsonl"
    rows = [{"tokens": ["Not", "here", str(i)], "spans": []} for i in range(12)]
    strange.write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = run("annotate", tmp_path / "two", "--take", strange)
    assert result.exit_code == 1
    assert "12 sentences not in the corpus:" in result.stderr
    assert "12 annotated sentences left out" in result.stderr
    assert result.stderr.count("Not here") == 10
    result = run("convert", state, out, "--set", "rest=guessed")
    assert result.exit_code == 2
    assert "Known: missing, leave-out" in " ".join(result.stderr.split())
    with Session.look(tmp_path / "two") as session:
        found = {made.sentence: list(made.spans) for made in session.decisions}
        assert found == dict(enumerate(gold[:10]))


def test_a_new_session_takes_files_at_once(tmp_path: Path, columns: Path) -> None:
    state = tmp_path / "state"
    begin = ("annotate", columns, state, "--label", "PER", "--existing", "drop", "--take", columns)
    result = fine(*begin)
    assert f"{columns}: 3 new, 0 changed, 0 as before" in result.stdout
    assert f"{state}: 3 of 3 sentences read, 2 mentions" in result.stderr
    assert f"{columns}: 0 new, 0 changed, 3 as before" in fine(*begin).stdout


def test_labels_that_are_passed_over_are_named(tmp_path: Path) -> None:
    small(tmp_path / "state", 5).close()
    words = sentences(5)[0].words
    path = tmp_path / "in.jsonl"
    path.write_text(json.dumps({"tokens": words, "spans": [[0, 1, "-org"]]}) + "\n")
    take = ("annotate", tmp_path / "state", "--take", path)
    result = run(*take)
    assert result.exit_code == 2
    assert "mentions of -org 1, but none of PER, LOC" in " ".join(result.stderr.split())
    result = fine(*take, "--set", "as-read")
    assert result.stdout == f"{path}: 1 new, 0 changed, 0 as before\n"
    assert "other labels passed over: -org 1" in result.stderr


def test_what_a_crash_cut_off_is_told_once(tmp_path: Path) -> None:
    with small(tmp_path / "state", 5) as session:
        session.decide(0, "accept")
    state, out, journal = (tmp_path / name for name in ("state", "out.jsonl", "state"))
    journal = journal / "decisions.jsonl"
    fine("convert", state, out)
    journal.write_bytes(journal.read_bytes() + b'{"decision": 2, "sen')
    said = [fine("annotate", state, "--take", out).stderr for _ in range(2)]
    assert ["decisions.jsonl: the last line was cut off" in each for each in said] == [True, False]
    journal.write_text(journal.read_text().replace('"spans": []', '"spans": [[0, 1, "XX"]]'))
    result = run("convert", state, out)
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
