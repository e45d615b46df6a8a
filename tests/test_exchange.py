"""Sessions to files and back: every format, what was not read, and files from other tools."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from spacy.tokens import Doc, DocBin
from spacy.tokens import Span as DocSpan
from spacy.vocab import Vocab

from spacy_iobes import Span
from spacy_iobes.corpus import (
    Corpus,
    ReadOptions,
    Sentences,
    group_spans,
    read_docbin,
)
from spacy_iobes.corpus import read as read_corpus
from spacy_iobes.corpus import save as save_corpus
from spacy_iobes.errors import ColumnError, CorpusError, FileError, UnknownNameError
from spacy_iobes.generate import GeneratedSentence
from spacy_iobes.selection import Intake, Pool, Session, Settings, take_file

from .small_sessions import KEY, gold_of, mentions, sentences, small

LABELS = ("PER", "LOC")
EVERY = ("PER", "LOC", "ORG", "DATE", "SHIP")
VOCAB = Vocab()
NAMES = {
    "columns": "out.bio",
    "docbin": "out.spacy",
    "jsonl": "out.jsonl",
    "prodigy": "out.jsonl",
    "doccano": "out.jsonl",
}
LAYERS = ("1", "2", "3")


def words(doc: Doc) -> list[str]:
    return [token.text for token in doc]


def export(
    session: Session,
    path: Path,
    to: str = "auto",
    scheme: str = "bio",
    rest: str = "missing",
    **more: Any,
) -> Any:
    """Write what a session has so far, as `convert` does."""
    source = read_corpus(session.folder, rest=rest)
    return save_corpus(source, path, to=to, to_scheme=scheme, **more)


def take(session: Session, path: Path, scheme: str = "", as_read: bool = False) -> Intake:
    """Take a file into a session; columns of nested mentions are named."""
    how = ReadOptions()
    if not scheme and path.suffix == ".bio":
        scheme = "bio"
        width = len(path.read_text().split("\n")[0].split("\t"))
        if width > 2:
            how = ReadOptions(layers=LAYERS[: width - 1])
    return take_file(session, Corpus(str(path), how), scheme, as_read=as_read)


def size_of(some: Sequence[GeneratedSentence]) -> int:
    return sum(len(each.words) for each in some)


def read_some(session: Session, count: int, nested: bool = False) -> dict[int, list[Span]]:
    """Answer some sentences as they should be, reject one and skip one; what was accepted."""
    gold = gold_of(sentences(len(session.pool)), session.settings.labels, nested)
    for number in range(count):
        session.decide(number, "accept", gold[number])
    session.decide(count, "reject")
    session.decide(count + 1, "skip")
    return dict(enumerate(gold[:count]))


def accepted(session: Session) -> dict[int, list[Span]]:
    every = session.decided().values()
    return {made.sentence: list(made.spans) for made in every if made.answer == "accept"}


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("form", NAMES)
def test_what_is_written_is_taken_again(tmp_path: Path, form: str, nested: bool) -> None:
    """Also what was rejected, where a format can say so; what is not read stays so."""
    path = tmp_path / NAMES[form]
    with small(tmp_path / "one", 40, EVERY, nested=nested) as session:
        gold = read_some(session, 20, nested)
        done = export(session, path, form)
        assert (done.sentences, done.missing) == (40, size_of(sentences(40)[20:]))
    with small(tmp_path / "two", 40, EVERY, nested=nested) as other:
        rejected = form != "columns"
        assert take(other, path) == Intake(new=20 + rejected, unannotated=20 - rejected)
        assert accepted(other) == gold
        assert other.progress().rejected == rejected
        assert take(other, path) == Intake(same=20 + rejected, unannotated=20 - rejected)
        assert len(other.decisions) == 20 + rejected


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("form", NAMES)
def test_sentences_that_say_the_same_are_told_apart_by_number(
    tmp_path: Path, form: str, nested: bool
) -> None:
    docs = [Doc(VOCAB, words=["Ada", "met", "Bo"]) for _ in range(3)]
    if nested:
        for doc in docs:
            doc.spans[KEY] = []
    for name in ("one", "two"):
        pool = Pool.of(docs, ["PER"], nested=nested)
        Session.create(tmp_path / name, pool, Settings(("PER",), audit=0.0)).close()
    path = tmp_path / NAMES[form]
    with Session.open(tmp_path / "one") as session:
        session.decide(2, "accept", [(0, 1, "PER")])
        export(session, path, form, rest="missing" if form == "columns" else "leave-out")
    with Session.open(tmp_path / "two") as other:
        assert take(other, path).new == 1
        assert accepted(other) == {2: [Span(0, 1, "PER")]}


def test_columns_that_are_no_tags_have_to_be_left_out_by_name(tmp_path: Path) -> None:
    path, gold = tmp_path / "pos.tsv", gold_of(sentences(10), LABELS, nested=True)
    with small(tmp_path / "state", 10, nested=True) as session:
        for number in range(10):
            session.decide(number, "accept", gold[number])
        export(session, path)
        rows = [line.split("\t") for line in path.read_text().split("\n")]
        lines = ["\t".join([row[0], "NN", *row[1:]] if row[0] else row) for row in rows]
        path.write_text("\n".join(lines))
        with pytest.raises(ColumnError, match=r"name each column .* \(--layer 1 --layer 2"):
            take(session, path, "bio")
        layers = tuple(map(str, range(2, len(lines[0].split("\t")))))
        corpus = Corpus(str(path), ReadOptions(layers=layers))
        assert take_file(session, corpus, "bio") == Intake(same=10)
        assert accepted(session) == dict(enumerate(gold))


@pytest.mark.parametrize("scheme", ["iob1", "bio", "iobes", "bilou", "bia", "be"])
def test_columns_in_any_scheme(tmp_path: Path, scheme: str) -> None:
    some, out = sentences(40), tmp_path / "out"
    with small(tmp_path / "state", 40) as session:
        gold = read_some(session, 20)
        export(session, out, "columns", scheme, "leave-out")
    blocks = [block.split("\n") for block in out.read_text().strip().split("\n\n")]
    rows = [[line.split("\t") for line in block] for block in blocks if "DOCSTART" not in block[0]]
    assert [[row[0] for row in block] for block in rows] == [each.words for each in some[:20]]
    with small(tmp_path / "other", 40) as other:
        assert take(other, out, scheme).new == 20
        assert accepted(other) == gold


def test_what_was_known_before_is_written_too(tmp_path: Path) -> None:
    some = sentences(40)
    with small(tmp_path / "state", 40) as session:
        read_some(session, 20)
        export(session, tmp_path / "out.spacy", rest="leave-out")
    docs = read_docbin(tmp_path / "out.spacy")
    assert [sorted(mentions_of(doc)) for doc in docs] == [
        mentions(each, nested=False) for each in some[:20]
    ]


def mentions_of(doc: Doc) -> list[Span]:
    return [Span(e.start, e.end, e.label_) for e in doc.ents]


def test_documents_stay_together(tmp_path: Path) -> None:
    some = sentences(40)
    opens = [number for number in range(40) if some[number].opens]
    with small(tmp_path / "state", 40) as session:
        for number in range(40):
            session.decide(number, "reject" if number == opens[1] else "accept")
        export(session, tmp_path / "out.spacy", rest="leave-out", unit="document")
    docs = read_docbin(tmp_path / "out.spacy")
    assert len(docs) == len(opens)
    assert words(docs[0]) == [w for each in some[: opens[1]] for w in each.words]
    assert words(docs[1]) == [w for each in some[opens[1] + 1 : opens[2]] for w in each.words]


REST = [("leave-out", 20), ("missing", 40), ("outside", 40), ("predicted", 40)]


@pytest.mark.parametrize(("rest", "size"), REST)
@pytest.mark.parametrize("form", NAMES)
@pytest.mark.parametrize("nested", [False, True])
def test_what_was_not_read_is_told_apart(
    tmp_path: Path, form: str, rest: str, size: int, nested: bool
) -> None:
    path = tmp_path / NAMES[form]
    with small(tmp_path / "state", 40, EVERY, nested=nested) as session:
        gold = read_some(session, 20, nested)
        assert export(session, path, form, rest=rest).sentences == size
    if form == "columns" and rest in ("outside", "predicted"):
        return  # these cannot tell who says so, whoever asks for it knows
    with small(tmp_path / "other", 40, EVERY, nested=nested) as other:
        rejected = form != "columns" and size == 40
        assert take(other, path) == Intake(new=20 + rejected, unannotated=size - 20 - rejected)
        assert accepted(other) == gold
        if rest in ("outside", "predicted"):
            assert take(other, path, as_read=True) == Intake(new=19, same=21)


def test_what_was_predicted_counts_once_somebody_has_answered(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with small(tmp_path / "state", 40, EVERY) as session:
        read_some(session, 20)
        export(session, path, "prodigy", rest="predicted")
    tasks = [json.loads(line) for line in path.read_text().splitlines()]
    assert [task["answer"] for task in tasks] == ["accept"] * 20 + ["reject"] + [None] * 19
    tasks[30]["answer"] = "accept"
    path.write_text("".join(json.dumps(task) + "\n" for task in tasks))
    with small(tmp_path / "other", 40, EVERY) as other:
        assert take(other, path) == Intake(new=22, unannotated=18)
        assert 30 in accepted(other)


def test_missing_values_are_those_of_spacy(tmp_path: Path) -> None:
    some = sentences(40)
    with small(tmp_path / "state", 40) as session:
        read_some(session, 20)
        export(session, tmp_path / "out.spacy")
        export(session, tmp_path / "out.bio")
    every = [token for doc in read_docbin(tmp_path / "out.spacy") for token in doc]
    expected = list[bool]()
    for i, each in enumerate(some):
        known = {t for s in each.spans if s.label not in LABELS for t in range(s.start, s.end)}
        known -= set(known if i == 20 else ())  # which was rejected
        expected += [i < 20 or t in known for t in range(len(each.words))]
    assert [bool(token.ent_iob_) for token in every] == expected
    lines = [line for line in (tmp_path / "out.bio").read_text().split("\n") if line]
    tags = [line.split("\t")[1] for line in lines if "DOCSTART" not in line]
    assert [tag != "-" for tag in tags] == expected


def test_predicted_mentions_are_those_of_the_model(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    with small(tmp_path / "state", 40) as session:
        gold = read_some(session, 20)
        export(session, path, "doccano", rest="predicted")
    with Session.look(tmp_path / "state") as session:
        session.learn()
        view = session.view
        assert view is not None
        best = {number: sorted(view.suggestions(number, 1)[0].spans) for number in range(21, 40)}
    some = sentences(40)
    for row in map(json.loads, path.read_text().splitlines()):
        number, status = row["meta"]["sentence"], row["meta"]["status"]
        starts = [sum(len(word) + 1 for word in some[number].words[:i]) for i in range(100)]
        label = row["label"] or []
        found = sorted(Span(starts.index(s), starts.index(e + 1), x) for s, e, x in label)
        target = [span for span in found if span.label in LABELS]
        if number == 20:
            assert (row["label"], status) == (None, "rejected")
            continue
        assert target == (best[number] if number in best else gold[number])
        assert status == ("predicted" if number in best else "read")


def test_nothing_is_predicted_before_anything_is_learnt(tmp_path: Path) -> None:
    early = pytest.raises(CorpusError, match="Annotate some")
    with small(tmp_path / "state", 10) as session, early:
        export(session, tmp_path / "out.bio", rest="predicted")
    assert not (tmp_path / "out.bio").exists()


def test_names_that_are_not_known(tmp_path: Path) -> None:
    with small(tmp_path / "state", 10) as session:
        with pytest.raises(UnknownNameError, match="missing, leave-out, predicted, outside"):
            export(session, tmp_path / "out", rest="guessed")
        with pytest.raises(FileError, match=r"end in \.spacy"):
            export(session, tmp_path / "out", "docbin")


def test_a_session_that_nobody_has_read_is_an_empty_file(tmp_path: Path) -> None:
    for nested in (False, True):
        with small(tmp_path / str(nested), 10, nested=nested) as session:
            for form, name in NAMES.items():
                done = export(session, tmp_path / name, form, rest="leave-out")
                assert (done.sentences, done.tokens) == (0, 0)


@pytest.fixture
def ada(tmp_path: Path) -> Session:
    """A session on three sentences, one of them twice, with spaces as in a text."""
    docs = [
        Doc(VOCAB, words=["Ada", "met", "Bo", "."], spaces=[True, True, False, False]),
        Doc(VOCAB, words=["Yes", "."], spaces=[False, False]),
        Doc(VOCAB, words=["Ada", "met", "Bo", "."], spaces=[True, True, False, False]),
    ]
    pool = Pool.of(docs, ["PER", "ORG"])
    return Session.create(tmp_path / "ada", pool, Settings(("PER", "ORG"), audit=0.0))


def test_the_forms_of_prodigy_and_doccano(tmp_path: Path, ada: Session) -> None:
    with ada:
        ada.decide(0, "accept", [(0, 1, "PER"), (2, 3, "PER")])
        ada.decide(1, "reject")
        export(ada, tmp_path / "p.jsonl", "prodigy")
        export(ada, tmp_path / "d.jsonl", "doccano", rest="leave-out")
    first, second, third = (
        json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()
    )
    assert first.pop("_input_hash") != second["_input_hash"]
    assert first == {
        "text": "Ada met Bo.",
        "tokens": [
            {"text": "Ada", "start": 0, "end": 3, "id": 0, "ws": True},
            {"text": "met", "start": 4, "end": 7, "id": 1, "ws": True},
            {"text": "Bo", "start": 8, "end": 10, "id": 2, "ws": False},
            {"text": ".", "start": 10, "end": 11, "id": 3, "ws": False},
        ],
        "spans": [
            {"start": 0, "end": 3, "token_start": 0, "token_end": 0, "label": "PER"},
            {"start": 8, "end": 10, "token_start": 2, "token_end": 2, "label": "PER"},
        ],
        "answer": "accept",
        "meta": {"sentence": 0, "document": 0, "status": "read"},
    }
    assert (second["answer"], second.get("spans")) == ("reject", None)
    assert (third.get("answer"), third["meta"]["status"]) == (None, "unread")
    assert json.loads((tmp_path / "d.jsonl").read_text()) == {
        "text": "Ada met Bo.",
        "label": [[0, 3, "PER"], [8, 10, "PER"]],
        "meta": {"sentence": 0, "document": 0, "status": "read"},
    }


def taken(tmp_path: Path, session: Session, *rows: dict[str, Any]) -> Intake:
    path = tmp_path / "in.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return take(session, path)


def test_sentences_are_found_by_number_or_by_what_they_say(tmp_path: Path, ada: Session) -> None:
    with ada:
        row = {"text": "Ada met Bo.", "label": [[0, 3, "PER"]]}
        assert taken(tmp_path, ada, {**row, "id": 2}) == Intake(new=1)
        assert accepted(ada) == {2: [Span(0, 1, "PER")]}
        assert taken(tmp_path, ada, {**row, "id": 77}) == Intake(new=1)
        assert set(accepted(ada)) == {0, 2}
        tokens = {"tokens": ["Ada", "met", "B", "o."], "spans": [[0, 1, "ORG"], [1, 2, "TIME"]]}
        passed = {"TIME": 2}
        assert taken(tmp_path, ada, tokens, tokens) == Intake(changed=2, passed=passed)
        assert accepted(ada) == {0: [Span(0, 1, "ORG")], 2: [Span(0, 1, "ORG")]}
        assert taken(tmp_path, ada, tokens, tokens) == Intake(same=2, passed=passed)
        found = taken(tmp_path, ada, tokens, tokens, tokens, {"text": "No.", "label": []})
        assert (found.same, len(found.unmatched)) == (2, 2)
        assert found.unmatched[1].endswith("in.jsonl:4: 'No .'")


def test_what_is_said_of_sentences_that_cannot_be_used(tmp_path: Path, ada: Session) -> None:
    with ada:
        found = taken(
            tmp_path,
            ada,
            {"text": "Ada met Bo.", "label": [[1, 3, "PER"]]},
            {"text": "Ada met Bo.", "label": [[0, 7, "PER"], [4, 10, "ORG"]]},
            {"text": "Yes.", "label": [[1, 1, "PER"]]},
            {"text": "Yes.", "spans": [], "answer": "ignore"},
            {"text": "Yes.", "spans": None},
        )
        assert ada.decisions == []
    assert (found.new, found.unannotated, len(found.unusable)) == (0, 2, 3)
    assert "PER 'da' does not begin and end where tokens do" in found.unusable[0]
    assert "share a token" in found.unusable[1]
    assert "a mention has no tokens" in found.unusable[2]


def test_other_labels_never_take_mentions_away(tmp_path: Path, ada: Session) -> None:
    """A label that is spelled otherwise says nothing of those that are looked for."""
    first, yes = {"text": "Ada met Bo.", "id": 0}, {"text": "Yes.", "id": 1}
    third = {"text": "Ada met Bo.", "id": 2, "label": [[0, 3, "PER"]]}
    with ada:
        ada.decide(0, "accept", [(0, 1, "PER")])
        wrong = {**first, "label": [[0, 3, "per"], [8, 10, "per"]]}
        none = pytest.raises(CorpusError, match=r"per 2, but none of PER, ORG.*--set as-read")
        with none:
            taken(tmp_path, ada, wrong, {**yes, "label": []})
        assert accepted(ada) == {0: [Span(0, 1, "PER")]}
        found = taken(tmp_path, ada, wrong, {**yes, "label": [[0, 3, "per"]]}, third)
        assert (found.new, found.changed, found.passed) == (2, 0, {"per": 3})
        assert [place.partition(": ")[2] for place in found.kept] == ["'Ada met Bo .'"]
        assert found.left_out == 1
        assert accepted(ada) == {0: [Span(0, 1, "PER")], 1: [], 2: [Span(0, 1, "PER")]}
        assert taken(tmp_path, ada, {**first, "label": []}) == Intake(changed=1)
        path = tmp_path / "in.jsonl"
        path.write_text(json.dumps(wrong))
        done = take(ada, path, as_read=True)
        assert done == Intake(same=1, passed={"per": 2})


@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("form", NAMES)
def test_known_mentions_are_no_other_labels(tmp_path: Path, form: str, nested: bool) -> None:
    """An answer of no mention where others are known goes out and in."""
    path = tmp_path / NAMES[form]
    with small(tmp_path / "one", 20, nested=nested) as session:
        for number in range(20):
            session.decide(number, "accept")
        assert sum(len(session.pool.known(number)) for number in range(20)) > 0
        export(session, path, form, rest="leave-out")
        assert take(session, path) == Intake(same=20)


def test_a_mention_that_is_no_span_does_not_vanish(tmp_path: Path, ada: Session) -> None:
    with ada:
        ada.decide(0, "accept", [(0, 1, "PER")])
        blank = {"text": "Ada met Bo.", "id": 0, "label": [[3, 7, "PER"]]}
        found = taken(tmp_path, ada, blank)
        assert (found.changed, len(found.unusable)) == (0, 1)
        (tmp_path / "brat").mkdir()
        (tmp_path / "brat" / "a.txt").write_text("Ada met Bo.")
        (tmp_path / "brat" / "a.ann").write_text("T1\tPER 0 3;8 10\tAda Bo\n")
        found = take(ada, tmp_path / "brat")
        assert (found.changed, len(found.unusable)) == (0, 1)
        assert accepted(ada) == {0: [Span(0, 1, "PER")]}


MALFORMED: list[dict[str, Any]] = [
    {"label": [[-4, 3, "PER"]]},
    {"label": [[0, 30, "PER"]]},
    {"label": [[0, 3]]},
    {"label": [], "answer": "perhaps"},
    {"label": [], "answer": 1},
]


@pytest.mark.parametrize("row", MALFORMED)
def test_a_malformed_record_is_refused_with_its_line(
    tmp_path: Path, ada: Session, row: dict[str, Any]
) -> None:
    good = {"text": "Yes.", "label": []}
    with ada:
        with pytest.raises(FileError, match=r"in\.jsonl(, line |:)2: ") as raised:
            taken(tmp_path, ada, good, {"text": "Ada met Bo.", **row})
        assert raised.value.line == 2
        assert ada.decisions == []


def test_a_docbin_from_elsewhere(tmp_path: Path, ada: Session) -> None:
    with ada:
        known = ada.pool.docs[0]
        both = ["Ada", "met", "Bo", ".", "Yes", "."]
        doc = Doc(known.vocab, words=both, sent_starts=[1, 0, 0, 0, 1, 0])
        doc.set_ents([DocSpan(doc, 0, 1, "PER")], missing=[doc[4:6]], default="outside")
        DocBin(docs=[doc]).to_disk(tmp_path / "in.spacy")
        assert take(ada, tmp_path / "in.spacy") == Intake(new=1, unannotated=1)
        assert accepted(ada) == {0: [Span(0, 1, "PER")]}


def test_a_file_that_brings_new_sentences_takes_its_own_out_of_the_audit(tmp_path: Path) -> None:
    """Whoever chose them did not draw them at random."""
    gold = gold_of(sentences(60), LABELS)
    with small(tmp_path / "state", 60, batch=10, audit=0.3) as session:
        for _ in range(30):
            session.wait()
            task = session.task()
            assert task is not None
            session.decide(task.sentence, "accept", gold[task.sentence])
        session.wait()
        free = next(n for n in range(60) if n not in session.decided())
        drawn = set(session.reading.audit)
        export(session, tmp_path / "own.jsonl", rest="leave-out")
        take(session, tmp_path / "own.jsonl")
        assert session.reading.audit == drawn  # nothing was new
        in_file = min(drawn & session.reading.answers.keys())
        rows = [
            {"tokens": sentences(60)[number].words, "spans": [list(s) for s in gold[number]]}
            for number in (free, in_file)
        ]
        assert taken(tmp_path, session, *rows) == Intake(new=1, same=1)
        assert session.reading.audit == drawn - {free, in_file}


def test_nested_mentions_have_a_column_for_each_level(tmp_path: Path) -> None:
    some = sentences(200)
    deep = next(i for i, each in enumerate(some) if each.layers[1])
    every = ("PER", "ORG", "LOC", "DATE", "SHIP")
    with small(tmp_path / "state", 200, every, nested=True) as session:
        session.decide(deep, "accept", mentions(some[deep], nested=True))
        export(session, tmp_path / "out", rest="leave-out")
        export(session, tmp_path / "out.spacy", rest="leave-out")
    lines = (tmp_path / "out").read_text().strip().split("\n")
    depth = sum(bool(layer) for layer in some[deep].layers)
    assert {len(line.split("\t")) for line in lines} == {1 + depth}
    (doc,) = read_docbin(tmp_path / "out.spacy")
    assert sorted(group_spans(doc, KEY)) == mentions(some[deep], nested=True)


def test_a_session_takes_another_one(tmp_path: Path) -> None:
    """It is a format like all others, rejected sentences and numbers included."""
    with small(tmp_path / "one", 40) as session:
        gold = read_some(session, 20)
    with small(tmp_path / "two", 40) as other:
        assert take(other, tmp_path / "one") == Intake(new=21, unannotated=19)
        assert accepted(other) == gold
        assert other.progress().rejected == 1


def test_a_task_that_nobody_has_answered_stays_so(tmp_path: Path) -> None:
    """Null is no answer; without the key nobody was asked, and the mentions count."""
    path, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    task = {"text": "Ada met Bo.", "spans": [{"start": 0, "end": 3, "label": "PER"}]}
    path.write_text("".join(json.dumps({**task, **more}) + "\n" for more in ({"answer": None}, {})))
    source = read_corpus(path, format="prodigy")
    save_corpus(source, out, to="prodigy")
    rows = [json.loads(line) for line in out.read_text().splitlines()]
    assert [row["answer"] for row in rows] == [None, "accept"]
    parts = [[*read_corpus(each, format="prodigy")] for each in (path, out)]
    assert [part.known().spans.spans() for (part,) in parts] == [[Span(0, 1, "PER")] * 2] * 2


def test_notes_of_sentences_go_where_they_go(tmp_path: Path) -> None:
    """Through cuts and joins, and into objects and Docs of one sentence only."""
    with small(tmp_path / "state", 40) as session:
        read_some(session, 20)
    (part,) = read_corpus(tmp_path / "state")
    numbers = [note["meta"]["sentence"] for note in part.notes]
    assert numbers == list(range(40))
    pieces = [part.cut(a, b) for a, b in ((0, 7), (7, 8), (8, 40))]
    assert Sentences.joined(pieces).notes == part.notes
    assert [len(piece.notes) for piece in pieces] == [7, 1, 32]
    out = tmp_path / "out.jsonl"
    for unit in ("sentence", "document"):
        save_corpus([part], out, unit=unit)
        rows = [json.loads(line) for line in out.read_text().splitlines()]
        alone = np.diff([*part.opens.tolist(), 40]).tolist() if unit == "document" else [1] * 40
        assert ["meta" in row for row in rows] == [size == 1 for size in alone]
