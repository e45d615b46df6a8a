"""Column files in `spacy train`: what the examples hold, and what stops training, and where."""

from __future__ import annotations

import gzip
import inspect
import json
import random
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.lang.en import English
from spacy.language import Language
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_config, registry

from spacy_iobes import SCHEMES, Span
from spacy_iobes.corpus import (
    ColumnReader,
    ExampleOptions,
    ReadOptions,
    conll_corpus,
    files,
    training_corpus,
)
from spacy_iobes.corpus.formats import columns as column_format
from spacy_iobes.corpus.formats.options import option_fields
from spacy_iobes.errors import (
    ColumnError,
    CorpusError,
    FileError,
    InexpressibleError,
    MalformedTagsError,
    SettingError,
    UnknownNameError,
    UnreadableTagError,
)

from . import by_hand
from .shared import SHARED, beside, needs_shared

NAME = "spacy-iobes.ConllCorpus.v1"
TEXT = "Ada B-PER\nLovelace I-PER\nin O\nLondon B-LOC\n\nNo O\none -\nknows !\n"


@pytest.fixture(scope="module")
def nlp() -> Language:
    return spacy.blank("en")


def corpus(place: object, **settings: Any) -> Any:
    return registry.readers.get(NAME)(**({"path": place, "scheme": "bio"} | settings))


def written(folder: Path, text: str, name: str = "file.conll") -> Path:
    path = folder / name
    path.write_bytes(text.encode())
    return path


def references(nlp: Language, path: object, **settings: Any) -> list[Doc]:
    return [example.reference for example in corpus(path, **settings)(nlp)]


def words(docs: list[Doc]) -> list[list[str]]:
    return [[token.text for token in doc] for doc in docs]


def spans(doc: Doc) -> list[tuple[int, int, str]]:
    return [(ent.start, ent.end, ent.label_) for ent in doc.ents]


def test_what_an_example_holds(nlp: Language, tmp_path: Path) -> None:
    first, second = corpus(written(tmp_path, TEXT))(nlp)
    reference, predicted = first.reference, first.predicted
    assert words([reference, predicted]) == [["Ada", "Lovelace", "in", "London"]] * 2
    assert spans(reference) == [(0, 2, "PER"), (3, 4, "LOC")]
    assert reference.user_data["iobes_tags"] == ["B-PER", "I-PER", "O", "B-LOC"]
    assert reference.has_unknown_spaces
    assert [token.is_sent_start for token in reference] == [True, False, False, False]
    assert not any(token.tag_ for token in reference)
    assert not predicted.has_annotation("ENT_IOB")
    assert not predicted.has_annotation("SENT_START")
    assert not predicted.user_data
    assert [token.ent_iob for token in second.reference] == [2, 0, 3]  # outside, missing, blocked
    assert second.reference.user_data["iobes_tags"] == ["O", "-", "!"]


def test_every_epoch_begins_anew(nlp: Language, tmp_path: Path) -> None:
    read = corpus(written(tmp_path, TEXT))
    assert [len(list(read(nlp))) for _ in range(3)] == [2, 2, 2]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_scheme_gives_the_same_entities(nlp: Language, tmp_path: Path, scheme: str) -> None:
    wanted = [Span(0, 3, "creative-work"), Span(3, 4, "B-side"), Span(6, 8, "X")]
    tags = by_hand.encode(wanted, 9, scheme)
    text = "".join(f"w{i}\t{tag}\n" for i, tag in enumerate(tags))
    (doc,) = references(nlp, written(tmp_path, text), scheme=scheme)
    assert spans(doc) == [tuple(span) for span in wanted]


def test_the_scheme_may_be_left_out_where_all_readings_agree(nlp: Language, tmp_path: Path) -> None:
    one, two = references(nlp, written(tmp_path, TEXT), scheme=None)
    assert spans(one) == [(0, 2, "PER"), (3, 4, "LOC")]
    assert [token.ent_iob for token in two] == [2, 0, 3]
    path = written(tmp_path, "a B-X\nb I-X\nc E-X\n\nd E-X\n")
    with pytest.raises(FileError, match=r"name the scheme of its tags \(--scheme\)"):
        references(nlp, path, scheme=None)


def test_a_share_of_the_documents_is_held_out(nlp: Language, tmp_path: Path) -> None:
    """Sentences, where there are fewer than ten documents; what is left is the rest."""
    marked = "".join(f"-DOCSTART- O\n\na{i} O\n\nb{i} O\n\n" for i in range(20))
    for text, unit, count in (
        (marked, 2, 2),
        (marked.rpartition("-DOCSTART-")[0], 2, 2),
        (f"{TEXT}\n" * 9, 1, 2),
    ):
        path = written(tmp_path, text)
        every = words(references(nlp, path))
        for seed in range(3):
            train, dev = (
                words(references(nlp, path, part=part, seed=seed)) for part in ("train", "dev")
            )
            assert len(dev) == count * unit
            assert sorted(train + dev) == sorted(every)
            again = references(nlp, path, part="dev", seed=seed)
            assert words(again) == dev
        if unit > 1:
            names = {sentence[0][1:] for sentence in dev}
            assert len(names) == count  # whole documents
            docs = references(nlp, path, part="dev", seed=seed, unit="document")
            assert [word for doc in words(docs) for word in doc] == [w for s in dev for w in s]
    assert len(references(nlp, path, part="dev", share=0.5)) == 9
    with pytest.raises(SettingError, match="between 0 and 1"):
        references(nlp, path, part="dev", share=1.0)
    with pytest.raises(CorpusError, match="one sentence cannot be held out from itself"):
        references(nlp, written(tmp_path, "a B-X\n"), part="train")


DOCUMENTS = {
    "marker": "-DOCSTART- O\n\na O\n\nb O\n\n-DOCSTART- O\n\nc O\n",
    "marker in the first sentence": "-DOCSTART- O\na O\n\nb O\n\n-DOCSTART- O\nc O\n",
    "medline": "###MEDLINE:1\n\na O\n\nb O\n\n###MEDLINE:2\n\nc O\n",
    "newdoc": "# newdoc id = 1\n# text\na O\n\nb O\n\n# newdoc\nc O\n",
    "before the first marker": "a O\n\nb O\n\n-DOCSTART- O\n\nc O\n",
    "empty document": "-DOCSTART-\n\na O\n\nb O\n\n-DOCSTART-\n\n-DOCSTART-\n\nc O\n\n-DOCSTART-",
    "line ends": "-DOCSTART- O\r\n\r\na O\r\n\r\nb O\r\n\r\n-DOCSTART- O\r\n\r\nc O\r\n",
}


@pytest.mark.parametrize("text", DOCUMENTS.values(), ids=DOCUMENTS)
@pytest.mark.parametrize("chunk", [1, 7, 1 << 20])
def test_documents(
    nlp: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, chunk: int
) -> None:
    monkeypatch.setattr(files, "CHUNK", chunk)
    docs = references(nlp, written(tmp_path, text), unit="document", comment="#")
    assert words(docs) == [["a", "b"], ["c"]]
    assert [[sent.text for sent in doc.sents] for doc in docs] == [["a", "b"], ["c"]]


def test_a_document_has_the_spans_of_its_sentences(nlp: Language, tmp_path: Path) -> None:
    (doc,) = references(nlp, written(tmp_path, TEXT), unit="document")
    assert spans(doc) == [(0, 2, "PER"), (3, 4, "LOC")]
    assert [token.ent_iob for token in doc] == [3, 1, 2, 3, 2, 0, 3]
    assert [token.i for token in doc if token.is_sent_start] == [0, 4]
    assert len(doc.user_data["iobes_tags"]) == 7


def test_a_span_ends_with_its_sentence(nlp: Language, tmp_path: Path) -> None:
    path = written(tmp_path, "a B-X\n\nb I-X\n")
    (doc,) = references(nlp, path, unit="document", scheme="iob1", policy="begin")
    assert spans(doc) == [(0, 1, "X"), (1, 2, "X")]


def test_columns(nlp: Language, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes("# é\nB-X,1,New York,é\nO,2,x,y\n".encode("latin-1"))
    settings = {"delimiter": "comma", "token": 2, "tag": 0, "comment": "#"}
    (doc,) = references(nlp, path, encoding="latin-1", **settings)
    assert words([doc]) == [["New York", "x"]]
    assert spans(doc) == [(0, 1, "X")]


def test_a_directory_in_the_order_of_names_without_hidden_files(
    nlp: Language, tmp_path: Path
) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / ".hidden").mkdir()
    for name in ("b", "sub/c", "a"):
        written(tmp_path, f"{name} O\n", name)
    written(tmp_path, "a b c d\n", ".notes")
    written(tmp_path, "a b c d\n", ".hidden/file")
    written(tmp_path, "", "z")
    assert words(references(nlp, tmp_path)) == [["a"], ["b"], ["sub/c"]]


def settings_table() -> list[str]:
    """The settings of examples as rows of a table, and those of reading by name."""
    return [
        f"| `{each.name}` | `{json.dumps(each.default)}` | {each.metadata['about']} |"
        for each in option_fields(ExampleOptions)
    ]


def test_docs_list_every_setting(nlp: Language) -> None:
    page = beside("docs/pipeline.md").read_text(encoding="utf8")
    assert "\n".join(settings_table()) in page
    names = {each.name for cls in (ExampleOptions, ReadOptions) for each in option_fields(cls)}
    assert set(inspect.signature(conll_corpus).parameters) == {"path", *names}
    for each in option_fields(ReadOptions):
        assert f"`{each.name}`" in page


def test_limit_counts_docs(nlp: Language, tmp_path: Path) -> None:
    path = written(tmp_path, DOCUMENTS["marker"])
    assert words(references(nlp, path, limit=2)) == [["a"], ["b"]]
    assert words(references(nlp, path, limit=1, unit="document")) == [["a", "b"]]
    assert len(references(nlp, path, limit=9)) == 3


def test_shuffle(nlp: Language, tmp_path: Path) -> None:
    path = written(tmp_path, "".join(f"w{i} O\n\n" for i in range(50)))
    plain = words(references(nlp, path))
    random.seed(1)
    read = corpus(path, shuffle=True)
    first, second = ([[t.text for t in e.reference] for e in read(nlp)] for _ in range(2))
    assert first != second
    assert sorted(first) == sorted(second) == sorted(plain)


def test_augmenter(nlp: Language, tmp_path: Path) -> None:
    def twice(nlp: Language, example: Example) -> Iterator[Example]:
        yield example
        yield example

    path = written(tmp_path, TEXT)
    assert len(list(corpus(path, augmenter=twice)(nlp))) == 4
    lower = registry.augmenters.get("spacy.lower_case.v1")(level=1.0)
    example = next(corpus(path, augmenter=lower)(nlp))
    assert words([example.reference]) == [["ada", "lovelace", "in", "london"]]
    assert spans(example.reference) == [(0, 2, "PER"), (3, 4, "LOC")]


def test_tags_for_a_tagger(nlp: Language, tmp_path: Path) -> None:
    one, two = references(nlp, written(tmp_path, TEXT), tag_scheme="iobes")
    assert [token.tag_ for token in one] == ["B-PER", "E-PER", "O", "S-LOC"]
    assert [token.tag_ for token in two] == ["O", "", "O"]  # nothing is learnt from a missing one
    assert one.user_data["iobes_tags"] == ["B-PER", "I-PER", "O", "B-LOC"]
    path = written(tmp_path, "a O\nb B-X\nc B-X\n")
    with pytest.raises(InexpressibleError, match=f"{path}, line 2, 'b': io cannot tell apart"):
        references(nlp, path, tag_scheme="io")


def watched(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The readers of column files that are made."""
    made: list[Any] = []

    class Watched(ColumnReader):
        def __init__(self, *args: Any):
            super().__init__(*args)
            made.append(self)

    monkeypatch.setattr(column_format, "ColumnReader", Watched)
    return made


def test_it_streams(nlp: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = watched(monkeypatch)
    monkeypatch.setattr(files, "CHUNK", 100)
    monkeypatch.setattr(training_corpus, "HOLD", 0)
    read = corpus(written(tmp_path, "a O\n\n" * 1000))
    assert len(list(read(nlp))) == 1000
    next(read(nlp))
    assert made[-1].sentences < 100


BAD = {
    "illegal": ("a O\nb B-X\n\nc O\nd I-X\n", MalformedTagsError, 5, "'d': O -> I-X"),
    "after a missing token": (
        "a -\nb I-X\n",
        MalformedTagsError,
        2,
        "a token without a tag -> I-X",
    ),
    "after a blocked token": ("a !\nb I-X\n", MalformedTagsError, 2, "'b'"),
    "unreadable": ("a O\nb X-Y\n", MalformedTagsError, 2, "'X-Y' is not a tag of bio"),
    "ragged": ("a O\nb x O\n", ColumnError, 2, "3 columns where line 1 has 2"),
    "no tag": ("a O\nb\n", ColumnError, 2, "1 column where line 1 has 2"),
    "no label": ("a O\nb B\n", InexpressibleError, 2, "'b': an entity of a Doc needs a label"),
    "no token": ("a\tO\n\tO\n", FileError, 2, "a token is empty"),
}


@pytest.mark.parametrize(("text", "error", "line", "said"), BAD.values(), ids=BAD)
def test_bad_gold_stops_before_the_first_example(
    nlp: Language, tmp_path: Path, text: str, error: type[Exception], line: int, said: str
) -> None:
    good = "good\tO\n\n" if "\t" in text else "good O\n\n"
    path = written(tmp_path, good * 3 + text)
    with pytest.raises(error, match=re.escape(said)) as caught:
        next(corpus(path)(nlp))
    assert re.search(rf"{re.escape(str(path))}(:|, line ){6 + line}:?\b", str(caught.value))


def test_every_violation_of_a_file_is_told(nlp: Language, tmp_path: Path) -> None:
    path = written(tmp_path, "a I-X\n\n" * 10)
    with pytest.raises(MalformedTagsError) as caught:
        references(nlp, path)
    assert [(v.file, v.line, v.token) for v in caught.value.violations] == [
        (str(path), line, "a") for line in range(1, 20, 2)
    ]
    assert len(references(nlp, path, policy="begin")) == 10


def test_before_a_token_without_a_tag_a_span_must_have_ended(nlp: Language, tmp_path: Path) -> None:
    path = written(tmp_path, "a B-X\nb -\nc S-X\nd !\ne O\n")
    with pytest.raises(MalformedTagsError) as caught:
        references(nlp, path, scheme="iobes")
    ((line, token, index, message),) = [
        (v.line, v.token, v.index, v.message) for v in caught.value.violations
    ]
    assert (line, token, index) == (1, "a", 1)
    assert message.startswith("B-X -> a token without a tag")
    (doc,) = references(nlp, path, scheme="iobes", policy="begin")
    assert spans(doc) == [(0, 1, "X"), (2, 3, "X")]


def test_unreadable_tags_are_repaired_by_no_policy(nlp: Language, tmp_path: Path) -> None:
    path = written(tmp_path, "a O\nb -\nc X-Y\n")
    with pytest.raises(UnreadableTagError, match=f"{path}, line 3, 'c': 'X-Y' is not a tag"):
        references(nlp, path, policy="begin")


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"scheme": "nope"}, UnknownNameError, "io, iob1, bio"),
        ({"policy": "nope"}, UnknownNameError, "raise, begin"),
        ({"policy": "best"}, UnknownNameError, "raise, begin"),
        ({"tag_scheme": "nope"}, UnknownNameError, "io, iob1, bio"),
        ({"unit": "page"}, UnknownNameError, "sentence, document"),
        ({"path": None}, FileError, "--paths.train"),
        ({"delimiter": ""}, SettingError, "--delimiter"),
    ],
)
def test_bad_settings(settings: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        corpus("file", **settings)


def test_a_file_is_read_again_only_if_it_has_changed(
    nlp: Language, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, made = written(tmp_path, "a B-X\n\nb O\n"), watched(monkeypatch)
    read = corpus(path)
    next(read(nlp))
    count = len(made)
    assert len(list(read(nlp))) == 2  # the first time it did not come to the end
    for example in read(nlp):
        example.reference.set_ents([])  # which is nobody else's
    assert [len(example.reference.ents) for example in read(nlp)] == [1, 0]
    assert len(made) == count
    path.write_text("a B-X\n\nb O\n\nc O\n")
    assert len(list(read(nlp))) == 3
    assert len(made) > count


def test_nothing_to_read(nlp: Language, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file"):
        references(nlp, tmp_path / "nothing")
    with pytest.raises(FileError, match="a folder without files"):
        references(nlp, tmp_path)
    for text in ("", "\n\n", "-DOCSTART- O\n\n"):
        with pytest.raises(FileError, match="no token to train on"):
            references(nlp, written(tmp_path, text))


CONFIG = """
[nlp]
lang = "en"
pipeline = ["ner", "tagger"]

[components]

[components.ner]
factory = "ner"

[components.tagger]
factory = "tagger"

[corpora]

[corpora.train]
@readers = "spacy-iobes.ConllCorpus.v1"
path = ${paths.train}
scheme = "iobes"
tag_scheme = "bilou"
shuffle = true

[corpora.dev]
@readers = "spacy-iobes.ConllCorpus.v1"
path = ${paths.dev}
scheme = "iobes"
tag_scheme = "bilou"
unit = "document"

[paths]
train = null
dev = null

[training]
max_steps = 30
eval_frequency = 15
"""
SENTENCE = "Ada\tB-PER\nLovelace\tE-PER\nsaw\tO\nLondon\tS-LOC\nagain\t-\n\n"


def train(folder: Path, text: str, *options: str) -> subprocess.CompletedProcess[str]:
    config, data = folder / "config.cfg", folder / "train.conll"
    config.write_text(CONFIG)
    data.write_text(text)
    filled = load_config(config, interpolate=False)
    full = English.from_config(filled, auto_fill=True, validate=False).config
    full.to_disk(config)
    command = [sys.executable, "-m", "spacy", "train", str(config), "--output", str(folder / "out")]
    command += ["--paths.train", str(data), "--paths.dev", str(data), *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_spacy_train(tmp_path: Path) -> None:
    done = train(tmp_path, SENTENCE * 20)
    assert done.returncode == 0, done.stderr
    nlp = spacy.load(tmp_path / "out" / "model-last")
    assert set(nlp.pipe_labels["tagger"]) == {"B-PER", "L-PER", "O", "U-LOC"}
    doc = nlp("Ada Lovelace saw London again")
    assert spans(doc) == [(0, 2, "PER"), (3, 4, "LOC")]
    assert [token.tag_ for token in doc][:4] == ["B-PER", "L-PER", "O", "U-LOC"]


def test_spacy_train_stops_at_bad_gold(tmp_path: Path) -> None:
    done = train(tmp_path, SENTENCE * 20 + "a\tI-PER\n")
    assert done.returncode != 0
    assert f"{tmp_path / 'train.conll'}:121: 'a': the sentence start -> I-PER" in done.stderr
    done = train(tmp_path, SENTENCE, "--corpora.train.unit", "page")
    assert done.returncode != 0
    assert "'document'" in done.stdout + done.stderr


@needs_shared
@pytest.mark.parametrize(
    ("file", "settings"),
    [
        ("wnut17/emerging.dev.conll", {}),
        ("wnut17/emerging.test.annotated", {}),
        ("conll2002/ned.testa", {"unit": "document"}),
        ("uner/en_ewt-ud-dev.iob2.gz", {"token": 1, "tag": 2, "comment": "#"}),
        ("masakhaner1/luo/train.txt", {}),
    ],
)
def test_published_corpora(nlp: Language, file: str, settings: dict[str, Any]) -> None:
    """Counted by hand: in BIO each entity has one B, and each document of CoNLL-2002 one marker."""
    path = SHARED / "data" / file
    data = path.read_bytes()
    text = (gzip.decompress(data) if file.endswith("gz") else data).decode("utf-8-sig")
    rows = [re.split(r"[ \t]+", line.strip("\r")) for line in text.split("\n") if line.strip()]
    rows = [row for row in rows if not (row[0] == "#" and settings.get("comment"))]
    tokens = [row for row in rows if row[0] != "-DOCSTART-"]
    column = settings.get("tag", -1)
    docs = references(nlp, path, **settings)
    assert sum(len(doc.ents) for doc in docs) == sum(row[column][0] == "B" for row in tokens) > 200
    wanted = [row[settings.get("token", 0)] for row in tokens]
    assert [token.text for doc in docs for token in doc] == wanted
    if settings.get("unit") == "document":
        assert len(docs) == len(rows) - len(tokens) > 50
