"""The parts of the laboratory: material, codecs, decoding, votes, splits and stored results."""

from __future__ import annotations

import json
import tarfile
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin

from spacy_iobes import SCHEMES, Span, SpanColumns
from spacy_iobes.corpus import read
from spacy_iobes.errors import CorpusError, FileError, MalformedTagsError
from spacy_iobes.strategies import (
    Codec,
    Found,
    Scored,
    Store,
    constrained,
    disjoint,
    greedy,
    joined,
    lengths_of,
    lost,
    material_of,
    own_split,
    random_splits,
    trimmed,
    union,
    units_of,
    vote,
)

from . import by_hand, people
from .commands import fine

NLP = spacy.blank("en")
LABELS = ("X", "Y")
ONE_CHOICE = ("io", "iob1", "bio", "ioe1", "ioe2", "iobes", "bia", "bie")


def documents(count: int = 6) -> list[Doc]:
    """Small Docs about people."""
    found = []
    for number in range(count):
        rows = [row for sentence in people.sentences(2, seed=number) for row in sentence]
        doc = Doc(NLP.vocab, words=[word for word, _ in rows])
        spans = by_hand.begin([tag for _, tag in rows])
        doc.set_ents([spacy.tokens.Span(doc, s, e, label=label) for s, e, label in spans])
        found.append(doc)
    return found


# material


def test_a_part_is_what_its_documents_alone_would_be() -> None:
    docs = documents()
    whole, chosen = material_of(docs), [4, 1, 2]
    part = whole.part(chosen)
    alone = material_of([docs[number] for number in chosen])
    assert part.features.tolist() == alone.features.tolist()
    assert part.offsets.tolist() == alone.offsets.tolist()
    assert list(part.gold) == list(alone.gold)
    assert part.words == alone.words == tuple(t.text for n in chosen for t in docs[n])
    assert part.labels == whole.labels == ("LOC", "PER")
    assert part.digest == alone.digest != whole.digest


TALKS = [
    "<paragraph><sentence>Type:    talk\nWho:\t<speaker>Dr. Ada  Lovelace</speaker>\n\nTime: "
    "<stime>3:30</stime> - <etime>5:00 p.m.</etime></sentence></paragraph>\n",
    "  <sentence>Prof. <speaker>Emmy Noether</speaker> speaks\nin <location>Room <room>12</room>, "
    "Wean  Hall</location>.</sentence>\n\n\n\n<sentence>It's at <stime>1pm</stime>-"
    "<etime>2pm</etime>; don't be late.</sentence>\n",
    "<speaker>Grace</speaker> and <speaker>Grace  Hopper</speaker>\t<location>Porter Hall\n100"
    "</location>",
    "Nothing said here .\n",
    "<a><speaker>Åsa Öberg</speaker></a> at <stime><etime>noon</etime></stime>, <location>Hall "
    "</location>B\n",
    "The  co<speaker>worker Bo</speaker>b left <location>\nRio\n</location> .",
]
NO_LABELS = ("sentence", "paragraph", "a")
AS_BEFORE = [
    ("people.bio", {}, "d4892dec01a9dbdd", 0),
    ("marked.bio", {}, "9d42364c873974b7", 0),
    ("marked.spacy", {}, "9d42364c873974b7", 0),
    ("whole.spacy", {}, "e6c53568fe3f1bcf", 0),
    ("talks.tar.gz", {"misaligned": "expand", "lang": "en"}, "f03ae99e58abed25", 3),
    ("talks.tar.gz", {"misaligned": "expand"}, "2eff8b123c302f84", 2),
    ("talks.tar.gz", {"misaligned": "split", "lang": "en"}, "bc770c477dd5a373", 2),
    ("talks.tar.gz", {"misaligned": "split"}, "6dfcf0c8f460038d", 2),
    ("talks", {"misaligned": "contract", "lang": "en", "format": "inline"}, "b4c43704479a7cb6", 2),
    ("talks", {"misaligned": "contract", "format": "inline"}, "9f848258ab43b41d", 2),
    (
        "talks",
        {"sentence_tag": "sentence", "lang": "en", "format": "inline"},
        "4b9bb8f31dd0b7f8",
        2,
    ),
    ("talks.xml", {"misaligned": "expand", "document_tag": "doc"}, "2eff8b123c302f84", 2),
]
"""Files, how to read them, and what the reader before this one made of them (commit 3c19e22):
the digest of the material, and how many mentions overlapped longer ones."""


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("corpora")
    people.column_file(folder / "people.bio", 40, 3)
    for name in ("marked.bio", "marked.spacy"):
        fine("generate", folder / name, "--sentences", 120, "--seed", 5)
    DocBin(docs=documents(8)).to_disk(folder / "whole.spacy")
    (folder / "talks").mkdir()
    with tarfile.open(folder / "talks.tar.gz", "w:gz") as archive:
        for number, text in enumerate(TALKS):
            (folder / "talks" / f"{number}.txt").write_text(text, encoding="utf8")
            archive.add(folder / "talks" / f"{number}.txt", f"{number}.txt")
    text = "".join(f"<doc>{text}</doc>" for text in TALKS)
    (folder / "talks.xml").write_text(text, encoding="utf8")
    return folder


@pytest.mark.parametrize(("name", "options", "digest", "overlapping"), AS_BEFORE)
def test_features_and_gold_are_what_they_were(
    files: Path, name: str, options: dict[str, Any], digest: str, overlapping: int
) -> None:
    ignored = [tag for tag in NO_LABELS if tag != options.get("sentence_tag")]
    corpus = read(files / name, ignore_tags=ignored, **options)
    units = units_of(corpus, "bio" if name.endswith(".bio") else "")
    material = material_of(units.docs)
    assert (material.digest, units.overlapping) == (digest, overlapping)
    assert material.space.sum() == (19 if name.startswith("talks") else 0)


def test_units_are_documents_if_there_are_several(tmp_path: Path) -> None:
    rows = "Ada\tB-PER\n\nRome\tB-LOC\n\n"
    for documents_of, count in ((1, 2), (2, 2), (3, 3)):
        path = tmp_path / f"{documents_of}.bio"
        path.write_text(f"-DOCSTART-\tO\n\n{rows}" * documents_of)
        units = units_of(read(path), "bio")
        assert len(units.docs) == count
        assert [len(doc) for doc in units.docs] == [1 if documents_of == 1 else 2] * count


def test_malformed_tags_need_a_policy(tmp_path: Path) -> None:
    path = tmp_path / "malformed.bio"
    path.write_text("Ada\tI-PER\nsaw\tO\nRome\tI-LOC\n")
    with pytest.raises(MalformedTagsError):
        units_of(read(path), "bio")
    (doc,) = units_of(read(path), "bio", "begin").docs
    assert [(span.text, span.label_) for span in doc.ents] == [("Ada", "PER"), ("Rome", "LOC")]
    assert not units_of(read(path), "bio", "discard").docs[0].ents


def test_gold_that_lacks_annotation_is_refused() -> None:
    doc = Doc(NLP.vocab, words=["Ada", "saw", "Rome"])
    doc.set_ents([spacy.tokens.Span(doc, 0, 1, label="PER")], default="missing")
    with pytest.raises(CorpusError, match="without annotation"):
        material_of([doc])
    none = Doc(NLP.vocab, words=["Ada"])
    none.set_ents([])
    with pytest.raises(CorpusError, match="no span"):
        material_of([none])
    with pytest.raises(CorpusError, match="no token"):
        material_of([Doc(NLP.vocab)])


# codecs


def test_spans_that_touch_are_one_where_a_scheme_cannot_tell_them_apart() -> None:
    spans = SpanColumns.of(
        [
            [Span(0, 1, "X"), Span(1, 3, "X"), Span(3, 4, "Y"), Span(4, 5, "X")],
            [Span(0, 2, "X"), Span(2, 3, "X"), Span(3, 4, "X")],
        ],
        [5, 4],
    )
    assert list(joined(spans)) == [
        [Span(0, 3, "X"), Span(3, 4, "Y"), Span(4, 5, "X")],
        [Span(0, 4, "X")],
    ]
    assert lost(spans, SCHEMES["io"]) == 3
    assert lost(spans, SCHEMES["bio"]) == 0
    codec = Codec(SCHEMES["io"], LABELS)
    tags = [codec.tags.states.tags[state] for state in codec.path(spans, [5, 4])]
    assert tags == ["I-X", "I-X", "I-X", "I-Y", "I-X", "I-X", "I-X", "I-X", "I-X"]


# decoding


def scored(scheme: str, scores: Any, structured: bool, lengths: list[int]) -> Scored:
    """Scores of a chain that prefers no legal step."""
    codec = Codec(SCHEMES[scheme], LABELS)
    offsets = np.cumsum([0, *lengths])
    gold = SpanColumns.of([[Span(0, 1, "X"), Span(1, 2, "Y")]], [2])
    return Scored(codec, codec.tags.even, scores, offsets, structured, lengths_of(gold))


def logs(random: np.random.Generator, tokens: int, classes: int) -> Any:
    """Logarithms of probabilities."""
    shares = random.dirichlet(np.full(classes, 0.6), tokens)
    return np.log(np.maximum(shares, 1e-12))


@pytest.mark.parametrize("structured", [False, True])
@pytest.mark.parametrize("scheme", ONE_CHOICE)
def test_constrained_decoding_against_all_legal_sequences(scheme: str, structured: bool) -> None:
    random = np.random.default_rng(len(scheme))
    lengths = [3, 1, 4]
    tags = Codec(SCHEMES[scheme], LABELS).tags.states.tags
    scores = logs(random, sum(lengths), len(tags)) + (3.0 if structured else 0.0)
    found = constrained(scored(scheme, scores, structured, lengths))
    by_sentence = iter(found.spans)
    confidence = iter(found.confidence.tolist())
    offset = 0
    for length in lengths:
        every = by_hand.legal_sequences(length, scheme, LABELS)
        totals = {
            sequence: sum(scores[offset + i, tags.index(tag)] for i, tag in enumerate(sequence))
            for sequence in every
        }
        best = max(totals, key=totals.__getitem__)
        spans = next(by_sentence)
        assert spans == list(every[best])
        weight = sum(np.exp(total) for total in totals.values())
        for span in spans:
            holding = sum(np.exp(totals[s]) for s, held in every.items() if span in held)
            assert next(confidence) == pytest.approx(holding / weight)
        offset += length


@pytest.mark.parametrize("scheme", ["io", "iob1", "bio"])
def test_greedy_decoding_reads_the_likeliest_tags_as_conlleval_does(scheme: str) -> None:
    random = np.random.default_rng(7)
    names = Codec(SCHEMES[scheme], LABELS).classes.names
    scores = logs(random, 60, len(names))
    found = greedy(scored(scheme, scores, False, [20, 40]))
    chosen = [names[number] for number in scores.argmax(axis=1)]
    for spans, tags, start in zip(found.spans, (chosen[:20], chosen[20:]), (0, 20)):
        assert spans == list(by_hand.begin(tags))
        for span in spans:
            mine = (found.spans.sentence == start // 20) & (found.spans.start == span.start)
            (row,) = np.flatnonzero(mine).tolist()
            places = range(start + span.start, start + span.end)
            product = np.prod([np.exp(scores[i].max()) for i in places])
            assert found.confidence[row] == pytest.approx(product)


@pytest.mark.parametrize("scheme", ["bio", "bia"])
def test_greedy_decoding_of_a_chain_takes_the_likeliest_state_of_each_token(scheme: str) -> None:
    lengths = [3]
    codec = Codec(SCHEMES[scheme], LABELS)
    names = codec.classes.names
    scores = np.random.default_rng(3).normal(size=(3, len(names))) * 2
    every = by_hand.legal_sequences(3, scheme, LABELS)
    share = np.zeros((3, len(names)))
    for sequence in every:
        weight = np.exp(sum(scores[i, names.index(tag)] for i, tag in enumerate(sequence)))
        for i, tag in enumerate(sequence):
            share[i, names.index(tag)] += weight
    likeliest = [names[number] for number in share.argmax(axis=1)]
    found = greedy(scored(scheme, scores, True, lengths))
    outside = ["O" if tag.startswith("A-") else tag for tag in likeliest]
    assert list(found.spans) == [list(by_hand.begin(outside))]
    assert found.spans.total


def test_greedy_decoding_does_not_add_up_what_is_outside() -> None:
    names = Codec(SCHEMES["bia"], LABELS).classes.names
    shares = {"O": 0.35, "A-X": 0.25, "B-X": 0.4}
    scores = np.log([[shares.get(name, 1e-9) for name in names]])
    found = greedy(scored("bia", scores, False, [1]))
    assert list(found.spans) == [[Span(0, 1, "X")]]
    assert found.confidence.tolist() == pytest.approx([0.4])


def test_white_space_at_the_ends_of_spans_is_left_out() -> None:
    spans = SpanColumns.of([[Span(0, 3, "X"), Span(3, 4, "Y")], [Span(1, 4, "X")]], [4, 4])
    space = np.array([True, False, True, True, False, True, False, True])
    offsets = np.array([0, 4, 8])
    found = trimmed(Found(spans, np.array([0.1, 0.2, 0.3])), space, offsets)
    assert list(found.spans) == [[Span(1, 2, "X")], [Span(2, 3, "X")]]
    assert found.confidence.tolist() == [0.1, 0.3]


# votes


@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.integers(0, 5), st.integers(1, 3), st.integers(-3, 8)),
        max_size=7,
        unique_by=lambda row: row[:3],
    )
)
def test_disjoint_spans_weigh_as_much_as_any_set(rows: list[tuple[int, int, int, int]]) -> None:
    rows = sorted(rows)
    columns = [
        np.array([row[0] for row in rows], dtype=np.int32),
        np.array([row[1] for row in rows], dtype=np.int32),
        np.array([row[1] + row[2] for row in rows], dtype=np.int32),
        np.zeros(len(rows), dtype=np.int32),
    ]
    weights = np.array([float(row[3]) for row in rows])
    chosen = disjoint(SpanColumns.trusted(columns, ("X",), 2), weights).tolist()

    def apart(some: tuple[int, ...]) -> bool:
        return all(
            rows[a][0] != rows[b][0]
            or rows[a][1] + rows[a][2] <= rows[b][1]
            or rows[b][1] + rows[b][2] <= rows[a][1]
            for a, b in combinations(some, 2)
        )

    sets = [s for n in range(len(rows) + 1) for s in combinations(range(len(rows)), n) if apart(s)]
    assert apart(tuple(chosen))
    best = max(sum(weights[list(some)]) for some in sets)
    assert weights[chosen].sum() == pytest.approx(best)


def test_a_union_has_every_span_once() -> None:
    a = SpanColumns.of([[Span(0, 1, "X")], [Span(1, 2, "X"), Span(2, 3, "X")]], [3, 3])
    b = SpanColumns.of([[Span(0, 1, "X"), Span(1, 3, "X")], [Span(2, 3, "X")]], [3, 3])
    assert list(union([a, b])) == [
        [Span(0, 1, "X"), Span(1, 3, "X")],
        [Span(1, 2, "X"), Span(2, 3, "X")],
    ]


def test_strategies_that_agree_are_followed() -> None:
    words = [{"X": 0.9}, {"O": 0.9}, {"X": 0.2, "O": 0.75}]
    members = []
    for scheme, begin in (("io", "I"), ("bio", "B")):
        names = Codec(SCHEMES[scheme], LABELS).classes.names
        shares = np.full((3, len(names)), 0.01)
        for token, known in enumerate(words):
            for label, share in known.items():
                shares[token, names.index("O" if label == "O" else f"{begin}-X")] = share
        shares /= shares.sum(axis=1, keepdims=True)
        members.append(scored(scheme, np.log(shares), False, [3]))
    found = vote(members)
    assert list(found.spans) == [[Span(0, 1, "X")]]
    assert 0.5 < found.confidence[0] < 1


# splits


def test_splits_are_halves_that_come_again() -> None:
    splits = random_splits(11, 4, 0.5, seed=3)
    for train, test in splits:
        assert sorted([*train, *test]) == list(range(11))
        assert len(train) in (5, 6)
    again = random_splits(11, 4, 0.5, seed=3)
    assert [s.train.tolist() for s in splits] == [s.train.tolist() for s in again]
    more = random_splits(11, 6, 0.5, seed=3)  # more splits are more of the same
    assert [s.train.tolist() for s in more[:4]] == [s.train.tolist() for s in splits]
    assert len({tuple(s.train.tolist()) for s in more}) == 6
    (own,) = own_split(3, 2)
    assert (own.train.tolist(), own.test.tolist()) == ([0, 1, 2], [3, 4])


def test_splits_that_cannot_be_are_refused() -> None:
    with pytest.raises(CorpusError, match=r"^1 document cannot be split"):
        random_splits(1, 2)
    with pytest.raises(ValueError, match="share"):
        random_splits(10, 2, share=1.0)
    with pytest.raises(ValueError, match="at least one"):
        random_splits(10, 0)


# results on disk


def test_results_are_there_again(tmp_path: Path) -> None:
    path = tmp_path / "new" / "results.jsonl"
    store = Store(path, {"a": 1, "b": (1, 2)})
    store.add({"split": 0, "x": "y"}, {"value": [1, 2]})
    again = Store(path, {"b": [1, 2], "a": 1})
    assert again.get({"x": "y", "split": 0}) == {"key": {"split": 0, "x": "y"}, "value": [1, 2]}
    assert again.get({"x": "y", "split": 1}) is None


@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_line_that_was_cut_off_is_left_out(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "results.jsonl"
    store = Store(path, {"a": 1})
    store.add({"split": 0}, {"value": 1})
    store.add({"split": 1}, {"value": 2})
    path.write_bytes(path.read_bytes()[:-cut])
    again = Store(path, {"a": 1})
    assert again.get({"split": 0}) is not None
    assert (again.get({"split": 1}) is None) == (cut > 1)
    again.add({"split": 2}, {"value": 3})
    last = Store(path, {"a": 1})
    assert last.get({"split": 2}) == {"key": {"split": 2}, "value": 3}
    assert last.get({"split": 0}) is not None


def test_results_of_another_run_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "results.jsonl"
    Store(path, {"epochs": 10}).add({"split": 0}, {"value": 1})
    with pytest.raises(FileError, match="its epochs is 10, not 5"):
        Store(path, {"epochs": 5})
    assert Store(path, {"epochs": 5}, fresh=True).rows == {}
    Store(path, {"options": {"rate": 0.1, "seed": 0}}, fresh=True)
    with pytest.raises(FileError, match=r"its rate is 0\.1, not 0\.5\."):
        Store(path, {"options": {"rate": 0.5, "seed": 0}})
    path.write_text(json.dumps({"other": 1}) + "\n")
    with pytest.raises(FileError, match="no results of this command"):
        Store(path, {"epochs": 5})
