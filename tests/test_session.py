"""Sessions: killed at any moment, used by two, begun and gone on with; and what they learn."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from spacy.tokens import Doc
from spacy.tokens import Span as DocSpan
from spacy.vocab import Vocab

from spacy_iobes import Span
from spacy_iobes.errors import (
    CorpusError,
    FileError,
    OverlapError,
    SettingError,
    SpanRangeError,
    StaleError,
    UnknownNameError,
)
from spacy_iobes.selection import (
    CORPUS,
    JOURNAL,
    SETTINGS,
    Decision,
    Ledger,
    Pool,
    Session,
    Settings,
    UniformView,
    estimate,
    estimate_mid_batch,
    is_session,
    read_journal,
)

from .shared import environment
from .small_sessions import answer_all, gold_of, pool_of, sentences, small

LABELS = ("PER", "LOC")
ANNOTATOR = """
import os, signal, sys
from tests.small_sessions import gold_of, sentences
from spacy_iobes.selection import Session

folder, moment, where = sys.argv[1], int(sys.argv[2]), sys.argv[3]
gold = gold_of(sentences(30), ("PER", "LOC"))
session, made = Session.open(folder), 0
sync = os.fsync

def fatal(*args):
    if where == "written":  # in the file of the system, nobody was told
        os.kill(os.getpid(), signal.SIGKILL)
    sync(*args)
    os.kill(os.getpid(), signal.SIGKILL)

while True:
    task = session.task()
    while task is None:
        session.wait()
        task = session.task()
    made += 1
    if made == moment and where != "acknowledged":
        os.fsync = fatal
    session.decide(task.sentence, "accept", gold[task.sentence])
    os.write(1, b"%d\\n" % task.sentence)
    if made == moment:
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(os.name != "posix", reason="no SIGKILL on this system")
def test_killed_at_any_moment_it_goes_on_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    folder, gold = tmp_path / "state", gold_of(sentences(30), LABELS)
    small(folder, 30).close()
    known: list[int] = []
    moments = [
        (3, "acknowledged"),
        (1, "written"),
        (4, "synced"),
        (6, "acknowledged"),
        (2, "synced"),
    ]
    for moment, where in moments:
        done = subprocess.run(
            [sys.executable, "-c", ANNOTATOR, str(folder), str(moment), where],
            capture_output=True,
            text=True,
            check=False,
            env=environment(),
        )
        assert done.returncode == -signal.SIGKILL, done.stderr
        acknowledged = known + [int(line) for line in done.stdout.split()]
        with Session.open(folder) as session:
            known = [made.sentence for made in session.decisions]
            assert all(list(made.spans) == gold[made.sentence] for made in session.decisions)
        unanswered = len(known) - len(acknowledged)
        assert known[: len(acknowledged)] == acknowledged
        assert unanswered == {"acknowledged": 0, "synced": 1}.get(where, unanswered)
        assert unanswered in (0, 1)
    with Session.open(folder) as session:
        answer_all(session, gold)
        assert session.progress().finished
        assert {made.sentence: list(made.spans) for made in session.decisions} == dict(
            enumerate(gold)
        )


def test_it_goes_to_the_end_and_learns_on_the_way(tmp_path: Path) -> None:
    gold = gold_of(sentences(60), LABELS)
    with small(tmp_path / "state", 60, batch=10) as session:
        first = session.task()
        assert first is not None
        assert (first.sentence, first.why, first.suggestions) == (0, "first", [])
        answer_all(session, gold)
        progress = session.progress()
    assert sorted(made.sentence for made in session.decisions) == list(range(60))
    assert (progress.read, progress.left, progress.finished) == (60, 0, True)
    assert progress.mentions == sum(map(len, gold))
    assert progress.rounds
    assert [found.read for found in progress.rounds] == sorted(r.read for r in progress.rounds)
    assert progress.training.trouble == ""


def test_nothing_is_likely_before_a_mention_was_found(tmp_path: Path) -> None:
    with small(tmp_path / "state", 60, batch=10) as session:
        for number in range(10):
            session.decide(number, "accept", [])
        session.wait()
        task = session.task()
        assert task is not None
        assert task.why in ("drawn", "audit")
    with Session.open(tmp_path / "state") as session:
        again = session.task()
        assert again is not None
        assert (again.sentence, again.why) == (task.sentence, task.why)


def test_suggestions_come_with_probabilities_once_it_has_learnt(tmp_path: Path) -> None:
    gold = gold_of(sentences(40), LABELS)
    with small(tmp_path / "state", 40) as session:
        for number in range(8):
            session.decide(number, "accept", gold[number])
        session.wait()
        task = session.task()
        assert task is not None
        assert task.why in ("ranked", "audit")
        chances = [one.probability for one in task.suggestions]
        assert 1 < len(chances) <= 10
        assert chances == sorted(chances, reverse=True)
        assert 0 < sum(chances) <= 1 + 1e-6
        every = [tuple(sorted(one.spans)) for one in task.suggestions]
        assert len(set(every)) == len(every)
        for spans in every:
            assert session.checked(task.sentence, spans) == spans


def test_the_neighbours_of_a_sentence_are_shown(tmp_path: Path) -> None:
    doc = Doc(Vocab(), words=["One", ".", "Two", ".", "Three"], sent_starts=[1, 0, 1, 0, 1])
    other = Doc(doc.vocab, words=["Four"])
    pool = Pool.of([doc, other], ["X"])
    with Session.create(tmp_path / "state", pool, Settings(("X",), audit=0.0)) as session:
        tasks = []
        while (task := session.task()) is not None:
            tasks.append((task.before, " ".join(task.words), task.after))
            session.decide(task.sentence, "accept")
    assert tasks == [
        ("", "One .", "Two ."),
        ("One .", "Two .", "Three"),
        ("Two .", "Three", ""),
        ("", "Four", ""),
    ]


def test_of_long_neighbours_what_is_near_is_shown(tmp_path: Path) -> None:
    words = [
        f"{letter}{i}" for letter, size in (("a", 41), ("b", 2), ("c", 5000)) for i in range(size)
    ]
    starts: list[bool | int | None] = [word in ("a0", "b0", "c0") for word in words]
    pool = Pool.of([Doc(Vocab(), words=words, sent_starts=starts)], ["X"])
    with Session.create(tmp_path / "state", pool, Settings(("X",), audit=0.0)) as session:
        session.decide(0, "accept")
        task = session.task()
        assert task is not None
        assert task.words == ["b0", "b1"]
        assert task.before == "… " + " ".join(words[1:41])
        assert task.after == " ".join(words[43:83]) + " …"


def test_undo_goes_to_the_very_beginning_and_stops_there(tmp_path: Path) -> None:
    with small(tmp_path / "state", 12, batch=4) as session:
        answer_all(session, gold_of(sentences(12), LABELS))
        order = [made.sentence for made in session.decisions]
        for sentence in reversed(order):
            gone = session.undo()
            assert gone is not None
            assert gone.sentence == sentence
        assert session.undo() is None
        assert session.undo() is None
        assert session.decisions == []
        assert session.progress().read == 0
        task = session.task()
        assert task is not None
        assert task.sentence == order[0]
    with Session.open(tmp_path / "state") as session:
        assert session.undo() is None
        assert session.number == 13


def test_skipped_sentences_come_again_in_order(tmp_path: Path) -> None:
    with small(tmp_path / "state", 4, batch=4, audit=0.0) as session:
        for answer in ("skip", "accept", "skip", "reject"):
            task = session.task()
            assert task is not None
            session.decide(task.sentence, answer)
        seen = []
        for answer in ("skip", "accept", "accept"):
            task = session.task()
            assert task is not None
            assert task.why == "skipped"
            seen.append(task.sentence)
            session.decide(task.sentence, answer)  # type: ignore[arg-type]
        assert seen == [0, 2, 0]
        assert session.task() is None
        progress = session.progress()
        assert (progress.read, progress.rejected, progress.skipped) == (4, 1, 0)
        assert session.undo() is not None
        assert session.progress().skipped == 1


def test_a_decision_is_taken_once(tmp_path: Path) -> None:
    gold = gold_of(sentences(12), LABELS)
    with small(tmp_path / "state", 12) as session:
        made = session.decide(0, "accept", gold[0], number=1)
        assert session.decide(0, "accept", gold[0], number=1) == made
        assert session.number == 2
        for sentence, number in ((1, 1), (1, 3), (0, 0), (1, -1)):
            with pytest.raises(StaleError, match=f"Decision {number} is not the next one"):
                session.decide(sentence, "accept", number=number)
        session.decide(1, "skip", number=2)
        assert session.undo(2) is not None
        assert session.undo(2) is None
        with pytest.raises(StaleError, match="not the next one"):
            session.decide(1, "skip", number=2)  # it was taken back since
        session.decide(1, "skip", number=3)
        with pytest.raises(StaleError, match="not the last one"):
            session.undo(1)
        assert [made.number for made in session.decisions] == [1, 3]


def test_many_threads_with_one_number_make_one_decision(tmp_path: Path) -> None:
    with small(tmp_path / "state", 12) as session, ThreadPoolExecutor(8) as threads:
        made = set(threads.map(lambda _: session.decide(0, "reject", number=1), range(40)))
        assert [one.number for one in made] == [1]
        assert len(session.decisions) == 1


def test_what_cannot_be_is_refused_and_not_kept(tmp_path: Path) -> None:
    with small(tmp_path / "state", 12) as session:
        task = session.task()
        assert task is not None
        size = len(task.words)
        for spans, error in (
            ([(0, size + 1, "PER")], SpanRangeError),
            ([(0, 0, "PER")], SpanRangeError),
            ([(-1, 1, "PER")], SpanRangeError),
            ([("0", 1, "PER")], SpanRangeError),
            ([(0, 1)], SpanRangeError),
            ([(True, 2, "PER")], SpanRangeError),
            (["abc"], SpanRangeError),
            ([(0, 1, "ORG")], UnknownNameError),
            ([(0, 1, ["PER"])], UnknownNameError),
            ([(0, 2, "PER"), (1, 3, "LOC")], OverlapError),
            ([(0, 3, "PER"), (1, 2, "LOC")], OverlapError),
        ):
            with pytest.raises(error):
                session.decide(0, "accept", spans)
        with pytest.raises(UnknownNameError, match=r"Unknown answer 'yes'\. Known: accept, reject"):
            session.decide(0, "yes")  # type: ignore[arg-type]
        with pytest.raises(UnknownNameError, match="no sentence 12: they are 0 to 11"):
            session.decide(12, "accept")
        assert session.decisions == []


def test_known_mentions_rule_out_others_unless_they_nest(tmp_path: Path) -> None:
    some = sentences(200)
    number = next(i for i, each in enumerate(some) if any(s.label == "ORG" for s in each.spans))
    known = next(span for span in some[number].spans if span.label == "ORG")
    with small(tmp_path / "flat", 200, ("PER",)) as session:
        assert known in session.pool.known(number)
        with pytest.raises(OverlapError, match="share a token"):
            session.decide(number, "accept", [(known.start, known.end, "PER")])
    with small(tmp_path / "nested", 200, ("PER",), nested=True) as session:
        made = session.decide(number, "accept", [(known.start, known.end, "PER")])
        assert made.spans == (Span(known.start, known.end, "PER"),)


def test_two_processes_cannot_have_it_but_one_may_look(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    with small(folder, 12) as session:
        with pytest.raises(FileError, match="in use by process"):
            Session.open(folder)
        session.decide(0, "reject")
        with Session.look(folder) as other:
            assert [made.sentence for made in other.decisions] == [0]
            with pytest.raises(FileError, match="not open for writing"):
                other.decide(1, "reject")
        session.decide(1, "reject")
    with Session.open(folder) as session:
        assert [made.sentence for made in session.decisions] == [0, 1]
    with pytest.raises(FileError, match="not open for writing"):
        session.decide(2, "reject")


def test_a_folder_in_the_way_or_without_a_session(tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "other").write_text("something")
    with pytest.raises(FileError, match="something is there already"):
        small(tmp_path / "full")
    assert [path.name for path in tmp_path.iterdir()] == ["full"]
    for name, reason in (("full", "this holds no session"), ("none", "there is no such folder")):
        with pytest.raises(FileError, match=reason):
            Session.open(tmp_path / name)
    (tmp_path / "empty").mkdir()
    small(tmp_path / "empty").close()
    assert is_session(tmp_path / "empty")


def test_what_is_damaged_is_named_and_left_alone(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    with small(folder, 12) as session:
        session.decide(0, "reject")
        session.decide(1, "accept")
    path = folder / JOURNAL
    whole = path.read_text()
    for old, new, reason in (
        ('"decision": 1', '"decision": 7', "line 2: damaged .decision 7 follows decision 0"),
        ('"sentence": 1', '"sentence": 99', "line 3: damaged .sentence 99 of 12"),
        ('"reject"', '"reject', "line 2: damaged .no JSON object"),
        ('"spans": []', '"spans": [[0, 1, "XX"]]', "line 2: damaged .Unknown label 'XX'"),
        ('"spans": []', '"spans": [[0, 99, "PER"]]', r"line 2: damaged .\[0, 99\) is no part"),
        ('"spans": []', '"spans": [["0", [], "PER"]]', r"line 2: damaged .\[0, \[\]\) is no part"),
        ('"spans": []', '"spans": [[0]]', "line 2: damaged .decision: TypeError"),
    ):
        path.write_text(whole.replace(old, new))
        with pytest.raises(FileError, match=reason):
            Session.open(folder)
        assert path.read_text() == whole.replace(old, new)
    path.write_text(whole + '{"decision": 3, "sent')
    with Session.look(folder) as session:
        assert not session.torn  # somebody may be writing
    with Session.open(folder) as session:
        assert session.number == 3
        assert session.torn
    with Session.open(folder) as session:
        assert not session.torn
    settings = json.loads((folder / SETTINGS).read_text())
    (folder / SETTINGS).write_text(json.dumps({**settings, "digest": "0"}))
    with pytest.raises(FileError, match="not the corpus that this session was begun with"):
        Session.open(folder)
    (folder / SETTINGS).write_text(json.dumps({**settings, "target": 2}))
    with pytest.raises(FileError, match="target"):
        Session.open(folder)
    (folder / SETTINGS).write_text("{")
    with pytest.raises(FileError, match="no JSON"):
        Session.open(folder)
    (folder / SETTINGS).write_text(json.dumps(settings))
    (folder / CORPUS).write_bytes(b"?")
    with pytest.raises(FileError, match="not a DocBin"):
        Session.open(folder)


@pytest.mark.parametrize(
    "wrong",
    [
        {"labels": ()},
        {"labels": ("A", "A")},
        {"labels": ("A B",)},
        {"labels": ("A",), "batch": 0},
        {"labels": ("A",), "audit": 1.0},
        {"labels": ("A",), "target": 0.0},
        {"labels": ("A",), "seed": -1},
        {"labels": ("A",), "start": "words"},
    ],
)
def test_settings_that_cannot_be(wrong: dict[str, object]) -> None:
    with pytest.raises(SettingError, match="The setting"):
        Settings(**wrong)  # type: ignore[arg-type]


def test_names_in_settings_are_known() -> None:
    for name, value in (("start", "last"), ("rule", "whim")):
        with pytest.raises(UnknownNameError, match=f"Unknown .*{value!r}. Known: "):
            Settings(("A",), **{name: value})  # type: ignore[arg-type]


def test_a_label_with_white_space_is_told_what_to_be() -> None:
    with pytest.raises(SettingError, match="separates columns in files of tags; use 'cell_line'"):
        Settings(("cell line",))


def test_the_target_may_change_but_not_what_is_asked(tmp_path: Path) -> None:
    with small(tmp_path / "state", 12) as session:
        session.change(target=0.5, rule="never", patience=3)
        for wrong in ({"batch": 9}, {"target": 0.6, "labels": ("X",)}):
            with pytest.raises(SettingError, match="cannot change any more"):
                session.change(**wrong)
        with pytest.raises(SettingError, match="target"):
            session.change(target=0.0)
        changed = session.settings
        assert (changed.target, changed.rule, changed.patience) == (0.5, "never", 3)
    with Session.look(tmp_path / "state") as session:
        assert session.settings == changed
        session.change(target=0.5)
        with pytest.raises(FileError, match="not open for writing"):
            session.change(target=0.7)


def test_mentions_that_are_there_are_kept_or_dropped(tmp_path: Path) -> None:
    gold = gold_of(sentences(30), LABELS)
    full = {number for number, spans in enumerate(gold) if spans}
    with small(tmp_path / "drop", 30) as session:
        assert session.decisions == []
        assert not any(session.pool.gold(number) for number in range(30))
    with small(tmp_path / "keep", 30, keep=True) as session:
        assert {made.sentence: list(made.spans) for made in session.decisions} == {
            number: gold[number] for number in full
        }
        assert session.progress().mentions == sum(map(len, gold))
        task = session.task()
        assert task is not None
        assert task.sentence not in full


def test_a_mention_that_is_there_twice_is_kept_once(tmp_path: Path) -> None:
    doc = Doc(Vocab(), words=["Ada", "met", "Bo"])
    doc.spans["sc"] = [DocSpan(doc, 0, 1, "PER"), DocSpan(doc, 0, 1, "PER")]
    pool = Pool.of([doc], ["PER"], nested=True, spans_key="sc")
    with Session.create(tmp_path / "state", pool, Settings(("PER",)), keep=True) as session:
        assert [made.spans for made in session.decisions] == [(Span(0, 1, "PER"),)]


def test_a_training_that_fails_does_not_stop_anybody(tmp_path: Path) -> None:
    """A pool without features stands for whatever may go wrong."""
    gold = gold_of(sentences(30), LABELS)
    with small(tmp_path / "state", 30) as session:
        object.__setattr__(session.pool, "features", None)
        answer_all(session, gold)
        progress = session.progress()
    assert progress.finished
    assert progress.training.status == "failed"
    assert "Error" in progress.training.trouble
    assert progress.estimate is None


def test_nothing_is_learnt_from_the_audit(tmp_path: Path) -> None:
    gold = gold_of(sentences(60), LABELS)
    with small(tmp_path / "state", 60, batch=10, audit=0.3) as session:
        answer_all(session, gold)
    records = read_journal(tmp_path / "state" / JOURNAL).records
    batches = [record for record in records if "batch" in record]
    drawn = [sentence for batch in batches for sentence in batch["audit"]]
    assert len(drawn) == len(set(drawn)) > 5
    asked = [sentence for batch in batches for sentence in batch["sentences"]]
    assert sorted(set(asked)) == list(range(60))


def test_what_is_chosen_and_not_read_is_no_part_of_what_the_audit_tells() -> None:
    """Ten sentences, by hand: three are read, one of them drawn at random; two are waiting.

    Of the five others and the one that was drawn, which has no mention, any five may have some:
    even then it would be drawn once in six times. A sentence with mentions has one and a half.
    """
    ledger, view = Ledger(10), UniformView(10)
    ledger.apply({"batch": 0, "sentences": [0, 1, 2, 3, 4], "audit": [2], "promoted": []})
    for number, spans in enumerate(([(0, 1, "A"), (1, 2, "A")], [(0, 1, "A")], []), 1):
        made = Decision(number, number - 1, "accept", tuple(Span(*span) for span in spans))
        ledger.apply(made.as_record())
    found = estimate_mid_batch(view, ledger)
    assert (found.read, found.left, found.mentions, found.audited) == (3, 7, 3, 1)
    assert found.low == pytest.approx(3 / (3 + 5 * 1.5 + 2 * 1.5))
    assert found.high == 1.0
    ledger.apply(Decision(4, 3, "accept", ()).as_record())
    ledger.apply(Decision(5, 4, "skip", ()).as_record())
    assert estimate_mid_batch(view, ledger).low == pytest.approx(3 / (3 + 5 * 1.5 + 1.5))
    ledger.apply(Decision(6, 4, "accept", ()).as_record())
    assert estimate_mid_batch(view, ledger) == estimate(view, ledger.reading, 10)
    assert estimate_mid_batch(view, ledger).low == pytest.approx(3 / (3 + 5 * 1.5))


def test_the_interval_holds_at_any_moment(tmp_path: Path) -> None:
    """Not only when a batch is read: batches are chosen while some of the last one is waiting."""
    gold, moments = gold_of(sentences(400), LABELS), list[tuple[float, float, float]]()
    total = sum(map(len, gold))
    with small(tmp_path / "state", 400, batch=40) as session:
        while (task := session.task()) is not None:
            session.decide(task.sentence, "accept", gold[task.sentence])
            session.wait()
            found = session.progress().estimate
            if found is not None:
                moments.append((found.low, found.mentions / total, found.high))
    assert len(moments) > 300
    assert sum(low <= true <= high for low, true, high in moments) >= 0.9 * len(moments)
    assert {low < high for low, _, high in moments[:-1]} == {True}


def test_a_corpus_without_tokens(tmp_path: Path) -> None:
    with pytest.raises(CorpusError):
        Session.create(tmp_path / "state", Pool.of([], ["X"]), Settings(("X",)))
    assert pool_of(sentences(3), ["PER"]).labels == ("PER",)
