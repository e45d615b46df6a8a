"""Documents of column files as Docs: in the reader, in `train` and in `predict`."""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import spacy
from hypothesis import example, given, settings
from hypothesis import strategies as st
from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.tokens import Span as DocSpan
from spacy.training import Corpus, Example
from spacy.util import load_config, load_config_from_str
from spacy.vocab import Vocab

from spacy_iobes import Span
from spacy_iobes.corpus import Corpus as SentenceCorpus
from spacy_iobes.corpus import (
    ReadOptions,
    conll_corpus,
    files,
    training_corpus,
)
from spacy_iobes.ml.explain import hashed_features
from spacy_iobes.pipeline import (
    Finder,
    Predictions,
    explain,
    looks_at_documents,
    takes_documents,
)

from .commands import fine, run
from .docs import BLANK
from .recognizers import entities, ner
from .test_features_training import fast, trained

MARKER = "-DOCSTART- O\n\n"
Rows = list[tuple[str, str]]


def stories(count: int, seed: int = 0) -> list[list[Rows]]:
    """Documents whose first sentence says what a name is, and whose second does not."""
    choose, found = random.Random(seed), []
    for _ in range(count):
        name = choose.choice(["Washington", "Lincoln", "Jackson", "Madison"])
        before, label = choose.choice([("mr", "B-PER"), ("near", "B-LOC")])
        first = [("then", "O"), (before, "O"), (name, label), ("rain", "O"), ("fell", "O")]
        second = [("later", "O"), (name, label), ("won", "O")]
        found.append([first, second])
    return found


def written(path: Path, documents: list[list[Rows]], marker: str = MARKER) -> Path:
    """A column file of documents."""
    blocks = []
    for sentences in documents:
        texts = ["".join(f"{word} {tag}\n" for word, tag in rows) + "\n" for rows in sentences]
        blocks.append(marker + "".join(texts))
    path.write_text("".join(blocks), encoding="utf8")
    return path


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, and a pipeline that was trained on them."""
    folder = tmp_path_factory.mktemp("documents")
    written(folder / "train", stories(60))
    written(folder / "dev", stories(30, seed=1))
    result = fine(*command(folder, folder / "model"))
    (folder / "stdout").write_text(result.stdout)
    (folder / "stderr").write_text(result.stderr)
    return folder


def command(folder: Path, output: Path, *more: object) -> list[object]:
    return ["train", folder / "train", folder / "dev", "-s", "bio", "-o", output, *more]


def tags(path: Path) -> list[str]:
    """The tags of a file, without those of markers."""
    rows = [line.split() for line in path.read_text(encoding="utf8").splitlines()]
    return [row[-1] for row in rows if row and row[0] not in ("-DOCSTART-", "#")]


def tagged(doc: Doc) -> list[str]:
    """The entities of a Doc as bio."""
    return [f"{t.ent_iob_}-{t.ent_type_}" if t.ent_type_ else "O" for t in doc]


# predict


def by_reader(nlp: Language, path: Path, **columns: Any) -> list[str]:
    """What a pipeline finds in the documents that the reader makes."""
    corpus = conll_corpus(path, scheme="bio", unit="document", keep_sentences=True, **columns)
    return [tag for pair in corpus(nlp) for tag in tagged(nlp(pair.predicted))]


@pytest.mark.parametrize("chunk", [1, 30, 200, files.CHUNK])
def test_documents_are_those_of_the_reader(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    """Also where a document, or what is no sentence, goes on in the next part of the file."""
    text = (data / "dev").read_text()
    remarks = "# nothing\n" * 7 + "\n"
    (tmp_path / "in").write_text(text.replace("later", f"{remarks}later"))
    nlp = spacy.load(data / "model")
    wanted = by_reader(nlp, tmp_path / "in", comment="#")
    assert wanted == [tag for story in stories(30, 1) for rows in story for _, tag in rows]
    monkeypatch.setattr(files, "CHUNK", chunk)
    line = ["predict", data / "model", tmp_path / "in", tmp_path / "out", "--scheme", "bio"]
    fine(*line, "--comment", "#")
    assert tags(tmp_path / "out") == wanted
    assert (tmp_path / "out").read_text() == (tmp_path / "in").read_text()  # all are right


def test_sentences_alone_do_not_say_as_much(data: Path, tmp_path: Path) -> None:
    """Without markers, or if they are not to count, every sentence is a Doc."""
    bare = written(tmp_path / "bare", stories(30, 1), marker="")
    options: list[object] = ["--scheme", "bio"]
    fine("predict", data / "model", bare, tmp_path / "out", *options)
    alone = tags(tmp_path / "out")
    fine("predict", data / "model", data / "dev", tmp_path / "out", *options, "--documents", "none")
    assert tags(tmp_path / "out") == alone
    nlp = spacy.load(data / "model")
    docs = [Doc(nlp.vocab, words=[w for w, _ in rows]) for s in stories(30, 1) for rows in s]
    assert [tag for doc in nlp.pipe(docs) for tag in tagged(doc)] == alone
    assert alone != tags(data / "dev")


def watched(nlp: Language, found: list[list[str]]) -> Language:
    """A pipeline that remembers the sentences of the Docs that it gets."""
    pipe = nlp.pipe

    def recorded(docs: Any, **settings: Any) -> Iterator[Doc]:
        docs = list(docs)
        found.extend([sentence.text for sentence in doc.sents] for doc in docs)
        return pipe(docs, **settings)

    nlp.pipe = recorded  # type: ignore[method-assign, assignment]
    return nlp


def groups(lines: list[str]) -> list[list[str]]:
    """The sentences of each Doc, by hand."""
    found: list[list[str]] = []
    marked = opens = False
    for line in lines:
        if line == "-DOCSTART-":
            marked = opens = True
        elif line[0] not in "#-":
            if opens or not marked:
                found.append([])
            found[-1].append(line)
            opens = False
    return found


@pytest.fixture(scope="module")
def small() -> tuple[Language, list[list[str]]]:
    found: list[list[str]] = []
    return watched(trained(1, settings={"document": True}), found), found


def split_story(vocab: Vocab) -> Doc:
    """Return two sentences, and a name that is half in one and half in the other."""
    starts: list[bool | int | None] = [True, False, False, True, False]
    return Doc(vocab, words="rain fell new york won".split(), sent_starts=starts)  # noqa: SIM905


def story_example() -> Example:
    doc = split_story(BLANK.vocab)
    reference = split_story(BLANK.vocab)
    reference.ents = (DocSpan(reference, 2, 4, "LOC"),)
    return Example(doc, reference)


line = st.sampled_from(["-DOCSTART-", "# a remark", "a b", "c"])


@settings(max_examples=100)
@given(st.lists(line, min_size=1, max_size=9), st.integers(1, 60), st.booleans(), st.booleans())
@example(["a b", "c", "-DOCSTART-", "c", "c"], 1, True, False)
@example(["-DOCSTART-", "c", "# a remark", "# a remark", "c"], 1, True, False)
def test_which_sentences_are_a_doc(
    small: tuple[Language, list[list[str]]],
    tmp_path_factory: pytest.TempPathFactory,
    lines: list[str],
    chunk: int,
    looks: bool,
    ignored: bool,
) -> None:
    """Those behind a marker, where features look at documents; sentences before it are alone."""
    nlp, found = small
    found.clear()
    hashed_features(ner(nlp).model)[0].document = looks
    path = tmp_path_factory.getbasetemp() / "lines"
    blocks = ["".join(f"{w} O\n" for w in x.split()) if x[0] != "#" else f"{x}\n" for x in lines]
    path.write_text("\n".join(blocks))
    how = ReadOptions(comment="#", documents="none" if ignored else "markers", annotated=False)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "CHUNK", chunk)
        parts = list(SentenceCorpus(str(path), how))
        predicted = list(Predictions(Finder(nlp), [SentenceCorpus(str(path), how)]))
    assert [part.origin.part.buffer for part in predicted] == [p.origin.part.buffer for p in parts]
    wanted = groups(lines)
    if ignored or not looks:
        wanted = [[sentence] for sentences in wanted for sentence in sentences]
    assert found == wanted


@Language.component("test_across")
def across(doc: Doc) -> Doc:
    """Sets an entity over all of a Doc, without a word in its meta data."""
    doc.ents = (DocSpan(doc, 0, len(doc), "LOC"),)
    return doc


def test_entities_that_leave_a_sentence(data: Path, tmp_path: Path) -> None:
    """No tags can say them: components that set them are refused, unless sentences are Docs."""
    plain = spacy.load(data / "model")
    ruler: Any = plain.add_pipe("entity_ruler", before="iobes_ner")
    ruler.add_patterns([{"label": "LOC", "pattern": "fell later"}])
    plain.to_disk(tmp_path / "ruler")
    plain.remove_pipe("entity_ruler")
    plain.add_pipe("test_across")
    plain.to_disk(tmp_path / "across")
    target = tmp_path / "out"
    for name in ("ruler", "across"):
        line = ["predict", tmp_path / name, data / "dev", target, "--scheme", "bio"]
        result = run(*line)
        assert result.exit_code == 2
        assert "an entity that leaves its sentence, which tags cannot say" in result.stderr
        assert not target.exists()
        fine(*line, "--documents", "none")
        assert len(tags(target)) == len(tags(data / "dev"))
        target.unlink()


def test_a_component_beside_it_does_not_change_what_a_doc_is(data: Path, tmp_path: Path) -> None:
    """A ruler may set entities that leave a sentence, but as long as it does not, nobody minds."""
    nlp = spacy.load(data / "model")
    ruler: Any = nlp.add_pipe("entity_ruler", before="iobes_ner")
    ruler.add_patterns([{"label": "LOC", "pattern": "Kisumu"}])
    nlp.to_disk(tmp_path / "ruled")
    fine("predict", tmp_path / "ruled", data / "dev", tmp_path / "out", "--scheme", "bio")
    assert tags(tmp_path / "out") == tags(data / "dev")


def without(folder: Path, target: Path, **settings: Any) -> Path:
    """A stored pipeline whose recogniser, by its config, has other settings."""
    config = load_config(folder / "config.cfg", interpolate=False)
    config["components"]["iobes_ner"].update(settings)
    shutil.copytree(folder, target)
    config.to_disk(target / "config.cfg")
    return target


def test_recognisers_that_may_leave_a_sentence_do_not(data: Path, tmp_path: Path) -> None:
    """A model that looks at documents gets documents, whatever `sentence_bound` says."""
    model = without(data / "model", tmp_path / "model", sentence_bound=False)
    fine("predict", model, data / "dev", tmp_path / "out", "--scheme", "bio")
    assert tags(tmp_path / "out") == tags(data / "dev")
    found = json.loads(fine("tune", model, data / "dev", "-s", "bio", "--json").stdout)
    assert next(row["f1"] for row in found["tried"] if row["bias"] == 0) == 1
    nlp = trained(20, [story_example()], settings={"document": True})
    assert entities([nlp(split_story(nlp.vocab))]) == [[(2, 4, "LOC")]]
    nlp.to_disk(tmp_path / "across")
    path = tmp_path / "story"
    path.write_text(MARKER + "rain O\nfell O\nnew O\n\nyork O\nwon O\n")
    fine("predict", tmp_path / "across", path, tmp_path / "out", "--scheme", "bio")
    assert len(tags(tmp_path / "out")) == 5


def test_a_pipeline_that_was_trained_on_sentences_gets_sentences(
    data: Path, tmp_path: Path
) -> None:
    """Its features could look at documents, but it has never seen one."""
    bare = [written(tmp_path / n, stories(30, i), marker="") for i, n in enumerate(("a", "b"))]
    fine("train", *bare, "-s", "bio", "-o", tmp_path / "model")
    fine("predict", tmp_path / "model", bare[1], tmp_path / "alone", "--scheme", "bio")
    fine("predict", tmp_path / "model", data / "dev", tmp_path / "out", "--scheme", "bio")
    nlp = spacy.load(tmp_path / "model")
    assert looks_at_documents(nlp)
    assert not takes_documents(nlp)
    docs = [Doc(nlp.vocab, words=[w for w, _ in rows]) for s in stories(30, 1) for rows in s]
    assert tags(tmp_path / "out") == [tag for doc in nlp.pipe(docs) for tag in tagged(doc)]


# explain


def explained(*arguments: object) -> Any:
    return json.loads(fine("explain", *arguments, "--json").stdout)


def test_sentences_are_explained_as_parts_of_documents(data: Path) -> None:
    """What is shown is what 'predict' does, and counts from the first token of the sentence."""
    model, dev = data / "model", data / "dev"
    nlp = spacy.load(model)
    sentences = [rows for story in stories(30, 1) for rows in story]
    found = explained(model, dev, "--limit", 0)
    assert [one["sentence"] for one in found] == list(range(60))
    assert [one["tokens"] for one in found] == [[word for word, _ in rows] for rows in sentences]
    for one, rows in zip(found, sentences):
        (at,) = [i for i, (_, tag) in enumerate(rows) if tag != "O"]
        (span,) = one["spans"]
        assert (span["start"], span["end"], span["label"]) == (at, at + 1, rows[at][1][2:])
        assert span["text"] == rows[at][0]
        for name in ("against_outside", "against_runner_up"):
            assert span[name]["tokens"] == [at]
            assert {reason["token"] for reason in span[name]["reasons"]} == {at}
    doc = next(iter(documents(nlp, dev)))
    second = found[1]["spans"][0]
    assert second["probability"] == pytest.approx(
        ner(nlp).span_probability(doc, 6, 7, second["label"])
    )
    features = [reason["feature"] for reason in second["against_outside"]["reasons"]]
    before = sentences[0][1][0]
    assert f"before_earlier={before!r}" in features
    alone = explained(model, dev, "--limit", 0, "--sentence", 1, "--documents", "none")
    reasons = [r["feature"] for s in alone[0]["spans"] for r in s["against_outside"]["reasons"]]
    assert not any(reason.startswith("before_earlier=") for reason in reasons)
    assert explained(model, dev, "--limit", 0, "--sentence", 1) == found[1:2]


def documents(nlp: Language, path: Path) -> Iterator[Doc]:
    corpus = conll_corpus(path, scheme="bio", unit="document", keep_sentences=True)
    return (pair.predicted for pair in corpus(nlp))


def test_the_runner_up_differs_in_one_sentence(data: Path) -> None:
    """It is the most probable one without the span, of all that the recogniser knows."""
    nlp = spacy.load(data / "model")
    pipe = ner(nlp)
    for doc in list(documents(nlp, data / "dev"))[:5]:
        analyses = [analysis.spans for analysis in pipe.nbest([doc], 400)[0]]
        spans = [(1, 2, "PER"), *analyses[0]]
        for span, found in zip(spans, explain(pipe, doc, [Span(*span) for span in spans])):
            rival = next(one for one in analyses if Span(*span) not in one)
            assert found.runner_up is not None
            assert found.best == (span in analyses[0])
            there = [s for s in rival if set(range(s.start, s.end)) & set(found.runner_up.tokens)]
            assert found.runner_up.spans == there


def test_spans_of_a_sentence_can_be_asked_for(data: Path) -> None:
    line = ["explain", data / "model", data / "dev", "--sentence", 3]
    printed = fine(*line, "--span", "1:2:LOC").stdout
    name = stories(30, 1)[1][1][1][0]
    assert printed.startswith(f"LOC {name!r}, tokens 1:2, probability ")
    result = run(*line, "--span", "2:4:LOC")
    assert result.exit_code == 1
    assert "Sentence 3: (2, 4, 'LOC') is no span of 3 tokens" in result.stderr


# train


def chosen(*arguments: object) -> Any:
    """The config that `train` would use."""
    printed = fine("train", *arguments, "-s", "bio", "-o", "-", "--print-config").stdout
    return load_config_from_str(printed)


def is_by_document(config: Any) -> bool:
    """Whether Docs are documents, in training and in use; or else nowhere."""
    bound = config["components"]["iobes_ner"]["sentence_bound"]
    readers = [config["corpora"][name] for name in ("train", "dev")]
    assert all((r["unit"] == "document") == r["keep_sentences"] == bound for r in readers)
    return bool(bound)


def test_documents_are_taken_where_both_files_have_them(data: Path, tmp_path: Path) -> None:
    marked, bare = data / "train", written(tmp_path / "bare", stories(9), marker="")
    one = tmp_path / "one"
    one.write_text(MARKER + bare.read_text())
    late = tmp_path / "late"
    late.write_text(bare.read_text() + marked.read_text())
    assert is_by_document(chosen(marked, data / "dev"))
    for train, dev in ((marked, bare), (bare, marked), (marked, one), (late, marked)):
        assert not is_by_document(chosen(train, dev))
    assert not is_by_document(chosen(marked, marked, "--documents", "none"))
    assert not is_by_document(chosen(marked, marked, "--documents", "tokens"))
    assert not is_by_document(chosen(marked, one))
    one.write_text(one.read_text() + "-DOCSTART- O\n")  # and nothing behind it
    assert not is_by_document(chosen(marked, one))
    other = chosen(marked, marked, "--config", "ner_cnn")
    assert other["corpora"]["train"]["unit"] == "sentence"


def test_directories_of_documents(data: Path, tmp_path: Path) -> None:
    """Every file has to begin with a marker."""
    for name, marker in (("a", MARKER), ("b", MARKER), ("c", MARKER)):
        written(tmp_path / name, stories(1), marker)
    assert is_by_document(chosen(tmp_path, data / "dev"))
    written(tmp_path / "c", stories(1), marker="")
    assert not is_by_document(chosen(tmp_path, data / "dev"))


def test_a_corpus_is_no_document(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there are few markers, Docs would be too long."""
    monkeypatch.setattr(training_corpus, "LONG", 8)
    assert not is_by_document(chosen(data / "train", data / "dev"))
    monkeypatch.setattr(training_corpus, "LONG", 9)
    assert is_by_document(chosen(data / "train", data / "dev"))


def test_a_sourced_component_gets_documents(data: Path, tmp_path: Path) -> None:
    """The config does not say what its features look at, but the model does."""
    config = load_config_from_str(fine(*command(data, tmp_path, "--print-config")).stdout)
    config["components"]["iobes_ner"] = {"source": str(data / "model")}
    config.to_disk(tmp_path / "config.cfg")
    files = [data / "train", data / "dev", "--config", tmp_path / "config.cfg"]
    found = chosen(*files)
    assert [found["corpora"][n]["unit"] for n in ("train", "dev")] == ["document"] * 2
    result = fine("train", *files, "-s", "bio", "-o", tmp_path / "model", "--max-steps", 2)
    assert "score 100.00" in result.stdout
    assert takes_documents(spacy.load(tmp_path / "model"))


def test_what_features_look_at_may_be_overridden(data: Path) -> None:
    """Where they look at sentences, a Doc is one."""
    setting = ["--components.iobes_ner.model.tok2vec.document", "false"]
    assert not is_by_document(chosen(data / "train", data / "dev", *setting))
    found = chosen(data / "train", data / "dev", "--corpora.dev.limit", 5)
    assert is_by_document(found)
    assert found["corpora"]["dev"]["limit"] == 5


def test_spans_that_touch_where_a_sentence_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only in a document, and wherever the file is cut into parts."""
    path = tmp_path / "in"
    text = "-DOCSTART- O\n\nrain O\nAda B-PER\n\nGrace B-PER\nfell O\nlast B-LOC\n\n"
    path.write_text(text.replace("Grace B-PER", "Grace O") + text)
    line = ["train", path, path, "-s", "bio", "--model-scheme", "io", "-o", tmp_path / "m"]
    for chunk in (1, 20, files.CHUNK):
        monkeypatch.setattr(files, "CHUNK", chunk)
        result = run(*line)
        assert result.exit_code == 1
        said = "PER 'Ada' (line 13) and PER 'Grace' (line 15) touch where 'rain Ada' ends"
        assert said in result.stderr
        assert "or take each sentence for itself (--documents none)" in result.stderr
    fine(*line, "--documents", "none", "--max-steps", 1)
    path.write_text("-DOCSTART- O\n\nAda B-PER\n\nAda B-PER\n\n" * 2)  # alike, but two
    assert "where 'Ada' ends and the next sentence" in run(*line).stderr
    path.write_text(text.replace("Grace B-PER", "Grace B-LOC") * 2)
    fine(*line, "--max-steps", 1)


def test_the_schedule_counts_documents(data: Path) -> None:
    """One epoch has as many batches as the batcher makes of documents."""
    corpus = conll_corpus(data / "train", scheme="bio")
    found = corpus.check(spacy.blank("en"))
    assert found.lengths == [5, 3] * 60
    assert found.opens == [*range(0, 120, 2)]
    assert corpus.by_document().size.lengths == [8] * 60


def test_settings_still_win(data: Path) -> None:
    config = chosen(data / "train", data / "dev", "--components.iobes_ner.sentence_bound", "false")
    assert config["components"]["iobes_ner"]["sentence_bound"] is False


def test_the_score_is_that_of_what_predict_writes(data: Path, tmp_path: Path) -> None:
    fine("predict", data / "model", data / "dev", tmp_path / "out", "--scheme", "bio")
    scored = fine("score", data / "dev", tmp_path / "out", "-s", "bio", "-p", "raise").stdout
    lines = (data / "stdout").read_text().splitlines()
    wanted = [row for row in scored.splitlines() if not row.startswith("token accuracy")]
    assert lines == [*wanted, f"{data / 'model'}: the pipeline"]
    assert "score 100.00" in lines
    assert f"{data / 'train'}: 120 sentences, 480 tokens" in (data / "stderr").read_text()
    stored = load_config(data / "model" / "config.cfg")
    assert is_by_document(stored)


def test_documents_help(data: Path, tmp_path: Path) -> None:
    result = fine(*command(data, tmp_path / "model", "--documents", "none"))
    score = next(x for x in result.stdout.splitlines() if x.startswith("score"))
    assert float(score.split()[1]) < 95


def test_tune_reads_documents_as_predict_does(data: Path, tmp_path: Path) -> None:
    bare = written(tmp_path / "bare", stories(30, 1), marker="")
    scores = []
    line: list[object]
    for path, more in ((data / "dev", []), (data / "dev", ["--documents", "none"]), (bare, [])):
        line = ["tune", data / "model", path, "-s", "bio", "-o", tmp_path / "tuned"]
        found = fine(*line, *more).stdout
        row = next(row.split() for row in found.splitlines() if row.startswith("+0.0"))
        scores.append(float(row[3]))
    assert scores[0] == 100
    assert scores[1] == scores[2] < 95


# the reader


def examples_of(path: Path, **more: Any) -> list[Example]:
    return list(conll_corpus(path, scheme="bio", unit="document", **more)(spacy.blank("en")))


def test_sentence_starts_are_kept(data: Path) -> None:
    for pair in examples_of(data / "dev", keep_sentences=True):
        for doc in (pair.predicted, pair.reference):
            assert [sentence.start for sentence in doc.sents] == [0, 5]
        assert not pair.predicted.has_annotation("ENT_IOB")
    for pair in examples_of(data / "dev"):
        assert not pair.predicted.has_annotation("SENT_START")
        assert pair.reference.has_annotation("SENT_START")


def test_docbins_bring_no_sentences_but_a_component_may(tmp_path: Path) -> None:
    """Nothing but their place tells the tokens apart."""
    nlp: Any = fast(settings={"templates": ["bias"], "document": True})
    nlp.add_pipe("sentencizer", first=True)
    words, ents = ["a", "b", "b", "."] * 3, ["B-X", "O", "O", "O"] * 3
    starts: list[Any] = [True, False, False, False] * 3
    stored = DocBin(docs=[Doc(nlp.vocab, words=words, ents=ents, sent_starts=starts)])
    stored.to_disk(tmp_path / "in.spacy")
    pairs = list(Corpus(tmp_path / "in.spacy")(nlp))
    assert [pair.predicted.has_annotation("SENT_START") for pair in pairs] == [False]
    optimizer = nlp.initialize(lambda: pairs)
    for _ in range(20):
        nlp.update(pairs, sgd=optimizer, annotates=["sentencizer"])
    words = ["q", "r", "s", "."] * 2
    assert entities([nlp(Doc(nlp.vocab, words=words))]) == [[(0, 1, "X"), (4, 5, "X")]]


def test_augmented_documents_keep_their_sentences(data: Path) -> None:
    """Where they still have the same tokens."""
    nlp = spacy.blank("en")

    def lowered(nlp: Language, example: Example) -> Iterator[Example]:
        words = [token.text.lower() for token in example.reference]
        for some in (words, words[:-1]):
            reference = Doc(nlp.vocab, words=some)
            yield Example(Doc(nlp.vocab, words=some), reference)

    corpus = conll_corpus(
        data / "dev", scheme="bio", unit="document", keep_sentences=True, augmenter=lowered
    )
    for same, other in pairwise(list(corpus(nlp))[:2]):
        assert [sentence.start for sentence in same.predicted.sents] == [0, 5]
        assert not other.predicted.has_annotation("SENT_START")
