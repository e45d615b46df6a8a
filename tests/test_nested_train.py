"""`train --nested` and `tune`: nested mentions from every kind of file to a pipeline."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.tokens import Doc

from spacy_iobes import Signature
from spacy_iobes.pipeline import best_tuned, dev_examples

from .commands import fine, run
from .mention_sets import NAMES
from .nested_recognizers import SENTENCES, examples, learn, make, nested_ner

GENES, OTHERS = ["IL-2", "NF-kB", "GATA", "TNF"], ["gene", "promoter", "receptor"]
FOUND = [("IL-2 promoter", "DNA"), ("IL-2", "protein")]
Sentence = tuple[list[str], list[tuple[int, int, str]]]


def sentences(count: int, seed: int = 0) -> list[Sentence]:
    """Sentences in which a protein may lie in a DNA, and that in another DNA."""
    draw = random.Random(seed)
    found: list[Sentence] = []
    for _ in range(count):
        gene = draw.choice(GENES)
        words, spans = ["the", gene, draw.choice(OTHERS)], [(1, 3, "DNA"), (1, 2, "protein")]
        if draw.random() < 0.3:
            words, spans = [*words, "region"], [*spans, (1, 4, "DNA")]
        found.append(([*words, "binds", draw.choice(["it", "them"])], spans))
    return found


def columns(path: Path, data: list[Sentence]) -> Path:
    """Three columns of tags, the longest spans first."""
    lines = []
    for words, spans in data:
        layers = [["O"] * len(words) for _ in range(3)]
        ordered = sorted(spans, key=lambda span: span[0] - span[1])
        for layer, (start, end, label) in zip(layers, ordered):
            layer[start:end] = [f"{'I' if i else 'B'}-{label}" for i in range(end - start)]
        lines += ["\t".join(row) for row in zip(words, *layers)] + [""]
    path.write_text("\n".join(lines) + "\n", encoding="utf8")
    return path


def json_lines(path: Path, data: list[Sentence]) -> Path:
    rows = [{"tokens": words, "spans": spans} for words, spans in data]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf8")
    return path


LAYERS = ("--scheme", "bio", "--layer", 1, "--layer", 2, "--layer", 3)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data in every form, and a pipeline that was trained on columns."""
    folder = tmp_path_factory.mktemp("nested")
    for name, count in (("train", 80), ("dev", 20)):
        rows = sentences(count, seed=count)
        columns(folder / f"{name}.tsv", rows)
        json_lines(folder / f"{name}.jsonl", rows)
        source = folder / f"{name}.tsv"
        fine("convert", source, folder / f"{name}.spacy", *LAYERS, "--spans-key", "sc")
    files = [folder / "train.tsv", folder / "dev.tsv"]
    result = fine("train", *files, "--nested", *LAYERS, "--output", folder / "model")
    (folder / "stdout").write_text(result.stdout)
    (folder / "stderr").write_text(result.stderr)
    return folder


def found(folder: Path, key: str = "sc") -> list[tuple[str, str]]:
    doc = spacy.load(folder)("the IL-2 promoter binds it")
    return [(span.text, span.label_) for span in doc.spans[key]]


def test_spacy_opens_it(data: Path) -> None:
    assert sorted(found(data / "model")) == sorted(FOUND)


def test_what_it_says(data: Path) -> None:
    told, said = (data / "stderr").read_text(), (data / "stdout").read_text()
    assert "train.tsv: 80 sentences" in told
    assert "mentions of 2 labels" in told
    assert "sentences in which gold mentions overlap" in said
    meta = json.loads((data / "model" / "meta.json").read_text())["performance"]
    assert meta["iobes_nested_f"] == 1.0
    assert str(Signature()) == meta["iobes_nested_signature"]
    assert str(Signature()) in said


def test_how_many_tags_are_repaired_is_told(data: Path, tmp_path: Path) -> None:
    """Three spans of each of two files begin with I."""
    for name in ("train", "dev"):
        text = (data / f"{name}.tsv").read_text(encoding="utf8")
        (tmp_path / name).write_text(text.replace("B-", "I-", 3), encoding="utf8")
    files = (tmp_path / "train", tmp_path / "dev")
    more = ("--nested", *LAYERS, "--max-steps", 2, "--output", tmp_path / "model")
    assert run("train", *files, *more).exit_code == 1
    result = fine("train", *files, *more, "--policy", "begin")
    assert result.stderr.count("3 violations repaired (begin)") == 2
    assert "violations repaired: 0 in the predictions, 3 in the gold" in result.stdout


@pytest.mark.parametrize("kind", ["jsonl", "spacy"])
def test_other_files_give_the_same_mentions(data: Path, kind: str, tmp_path: Path) -> None:
    files = [data / f"{name}.{kind}" for name in ("train", "dev")]
    fine("train", *files, "--nested", "--output", tmp_path / "model", "--max-steps", 60)
    assert sorted(found(tmp_path / "model")) == sorted(FOUND)


def test_another_group(data: Path, tmp_path: Path) -> None:
    files = [data / "train.tsv", data / "dev.tsv"]
    more = ("--spans-key", "mine", "--max-steps", 60, "--output", tmp_path / "model")
    fine("train", *files, "--nested", *LAYERS, *more)
    assert sorted(found(tmp_path / "model", "mine")) == sorted(FOUND)


@pytest.mark.parametrize("name", ["nested_cnn", "nested_mean", "nested_wide_deep"])
def test_other_configs(data: Path, name: str, tmp_path: Path) -> None:
    files = [data / "train.spacy", data / "dev.spacy"]
    more: list[Any] = ["--config", name, "--max-steps", 4, "--output", tmp_path / "model"]
    fine("train", *files, "--nested", *more)
    assert spacy.load(tmp_path / "model").pipe_names[-1] == "iobes_nested_ner"


def test_it_prints_a_config_that_spacy_takes(data: Path, tmp_path: Path) -> None:
    files = [data / "train.tsv", data / "dev.tsv"]
    result = fine("train", *files, "--nested", *LAYERS, "--print-config")
    config = spacy.util.load_config_from_str(result.stdout)
    assert config["corpora"]["train"]["@readers"] == "spacy-iobes.NestedCorpus.v1"
    assert config["components"]["iobes_nested_ner"]["representation"] == "edge"


def checkpoint(folder: Path, dev: Path, label: str, shift: float) -> float:
    """A pipeline for which mentions of a label (or all) begin more seldom; its untuned F1 on dev.

    But for that it knows what is true.
    """
    nlp = learn(make(), examples())
    reader = {"@readers": "spacy-iobes.NestedCorpus.v1", "path": str(dev)}
    nlp.config["corpora"] = {"dev": reader}
    nlp.config["training"]["dev_corpus"] = "corpora.dev"
    pipe: Any = nested_ner(nlp)
    output = pipe.model.get_ref("output_layer")
    for name in ("W", "b"):  # the best answers are the same, but it is less sure of them
        output.set_param(name, output.get_param(name) * 0.1)
    scores = output.get_param("b").copy().reshape(len(pipe.labels), -1)
    starts = ["S" in name for name in NAMES]
    for number, name in enumerate(pipe.labels):
        if label in ("", name):
            scores[number, starts] += shift
    output.set_param("b", scores.reshape(-1))
    folder.parent.mkdir(exist_ok=True)
    nlp.to_disk(folder)
    return float(nlp.evaluate(dev_examples(nlp))["iobes_nested_f"])


def test_the_checkpoint_that_is_best_with_its_bias(tmp_path: Path) -> None:
    """One that knows all but says little without a bias, and one that knows one label of two."""
    dev = json_lines(tmp_path / "dev.jsonl", [(text.split(), spans) for text, spans in SENTENCES])
    one, other, said = tmp_path / "one", tmp_path / "other", list[str]()
    shy, half = [one / "model-last", other / "model-best"], [one / "model-best"]
    half.append(other / "model-last")
    scores = [checkpoint(folder, dev, "", -3.0) for folder in shy]
    scores += [checkpoint(folder, dev, "X", -100.0) for folder in half]
    assert scores[0] == scores[1] < scores[2] == scores[3] < 1
    nlp, folder = best_tuned(one, said.append)
    assert folder == one / "model-last"
    assert "the last checkpoint is better than the best one, each with its bias" in said[0]
    stored: Any = spacy.load(folder).get_pipe("iobes_nested_ner")
    assert stored.entity_bias == nested_ner(nlp).entity_bias > 0
    assert best_tuned(other, said.append)[1] == other / "model-best"
    assert len(said) == 3  # one bias each, and that the last is better


def test_tune(data: Path, tmp_path: Path) -> None:
    result = fine("tune", data / "model", data / "dev.spacy", "--output", tmp_path / "tuned")
    assert "best bias" in result.stdout
    meta = json.loads((tmp_path / "tuned" / "meta.json").read_text())["performance"]
    assert meta["iobes_nested_f"] == 1.0


def test_tune_takes_what_train_takes(data: Path, tmp_path: Path) -> None:
    """The same data lead to the same figures, whatever they are stored as."""
    tables = [
        fine("tune", data / "model", data / f"dev.{kind}", *more).stdout
        for kind, more in (("spacy", ()), ("tsv", LAYERS), ("jsonl", ()))
    ]
    assert tables[0] == tables[1] == tables[2]
    folder = tmp_path / "brat"
    fine("convert", data / "dev.spacy", folder, "--to", "brat", "--spans-key", "sc")
    assert "best bias" in fine("tune", data / "model", folder).stdout
    bad = tmp_path / "bad.tsv"
    bad.write_text((data / "dev.tsv").read_text().replace("B-", "I-", 2))
    assert run("tune", data / "model", bad, *LAYERS).exit_code == 1
    result = fine("tune", data / "model", bad, *LAYERS, "--policy", "begin")
    assert "bad.tsv: 2 violations repaired (begin)" in result.stderr


def test_tune_says_what_it_cannot_use(data: Path, tmp_path: Path) -> None:
    model = data / "model"
    row = {"tokens": ["a", "b"], "spans": [[0, 1, "X"], [1, 1, "X"]]}
    (tmp_path / "empty.jsonl").write_text(json.dumps(row))
    told = run("tune", model, tmp_path / "empty.jsonl")
    assert told.stderr.count("1 mention empty") == 1
    cases: list[tuple[list[object], str]] = [
        ([data / "dev.tsv", "-s", "bio", "--layer", 4], "no column 4 for the tag"),
        ([data / "dev.jsonl", "--layer", 1], "this is for column files"),
        ([data / "none.jsonl"], "there is no such file"),
    ]
    for arguments, said in cases:
        result = run("tune", model, *arguments)
        assert result.exit_code == 2, arguments
        assert said in " ".join(result.stderr.split())


# predict


def spans_in(path: Path) -> list[Any]:
    """The mentions of JSON lines."""
    rows = (json.loads(line) for line in path.read_text(encoding="utf8").splitlines())
    return [sorted((s["start"], s["end"], s["label"]) for s in row["spans"]) for row in rows]


@pytest.mark.parametrize("kind", ["tsv", "jsonl", "spacy"])
def test_predict_reads_what_train_reads(data: Path, kind: str, tmp_path: Path) -> None:
    """The mentions are those that the pipeline finds in the same tokens."""
    out, more = tmp_path / "out.jsonl", ["--set", "output-offsets=tokens"]
    said = fine("predict", data / "model", data / f"dev.{kind}", out, *more).stdout
    nlp = spacy.load(data / "model")
    wanted = []
    for words, _ in sentences(20, seed=20):
        doc = nlp(Doc(nlp.vocab, words=words))
        wanted.append(sorted((s.start, s.end, s.label_) for s in doc.spans["sc"]))
    assert spans_in(out) == wanted
    assert f"out.jsonl: {sum(map(len, wanted))} mentions in " in said
    assert [json.loads(row)["tokens"] for row in out.read_text().splitlines()] == [
        words for words, _ in sentences(20, seed=20)
    ]
    assert "score 100.00" in fine("score", data / "dev.jsonl", out).stdout


@pytest.mark.parametrize(
    ("name", "options", "read"),
    [
        ("out.tsv", ["--layer", 1, "--layer", 2, "--layer", 3], LAYERS),
        ("out.tsv", ["--set", "layers=3", "--set", "order=outermost"], LAYERS),
        (
            "out.tsv",
            ["--set", "only-tags", "--set", "order=innermost", "--scheme", "iobes"],
            ("--scheme", "iobes", *LAYERS[2:]),
        ),
        ("out.tsv", ["--append"], ("--layer", 4, "--layer", 5, "--layer", 6, "-s", "bio")),
        ("out.jsonl", [], ()),
        ("out.jsonl", ["--set", "output-offsets=tokens", "--unit", "document"], ()),
        ("out.spacy", [], ()),
    ],
)
def test_predict_writes_what_score_reads(
    data: Path, name: str, options: list[Any], read: tuple[Any, ...], tmp_path: Path
) -> None:
    fine("predict", data / "model", data / "dev.tsv", tmp_path / name, *options)
    assert "score 100.00" in fine("score", data / "dev.jsonl", tmp_path / name, *read).stdout


def test_predict_a_column_for_each_label(data: Path, tmp_path: Path) -> None:
    """Of a DNA in another one only the outer one has room."""
    out, spans = tmp_path / "out.tsv", [spans for _, spans in sentences(20, seed=20)]
    inner = sum(len(each) == 3 for each in spans)
    options = ["--set", "order=label", "--set", "output-header", "--lossy"]
    said = fine("predict", data / "model", data / "dev.jsonl", out, *options).stdout
    assert f"{inner} mentions overlapping" in said
    assert out.read_text().startswith("token\tDNA\tprotein\n")
    read = ["--scheme", "bio", "--header", "--layout", "json"]
    found = json.loads(fine("score", data / "dev.jsonl", out, *read).stdout)
    total = sum(map(len, spans))
    assert (found["correct"], found["predicted"]) == (total - inner, total - inner)
    assert 1 < inner < found["gold"] == total


def test_predict_columns_keep_documents(data: Path, tmp_path: Path) -> None:
    rows = ["the", "IL-2", "promoter", "", "it", "", "-DOCSTART-", "", "the", "TNF", "gene", ""]
    (tmp_path / "in").write_text("\n".join(["-DOCSTART-", "", *rows]))
    fine("predict", data / "model", tmp_path / "in", tmp_path / "out")
    assert (tmp_path / "out").read_text().split("\n\n") == [
        "-DOCSTART-",
        "the O O\nIL-2 B-DNA B-protein\npromoter I-DNA O",
        "it O O",
        "-DOCSTART-",
        "the O O\nTNF B-DNA B-protein\ngene I-DNA O\n",
    ]


def test_predict_texts(data: Path, tmp_path: Path) -> None:
    model, text = data / "model", "the IL-2 promoter binds it\nthe TNF gene"
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "a.txt").write_text(text)
    wanted = [[(4, 8, "protein"), (4, 17, "DNA"), (31, 34, "protein"), (31, 39, "DNA")]]
    rows = [{"text": text, "spans": [[0, 3, "wrong"]]}, {"text": text}]
    (tmp_path / "in.jsonl").write_text(json.dumps(rows[0]))
    (tmp_path / "bare.jsonl").write_text(json.dumps(rows[1]))
    lines = ["--sentences", "lines"]
    for source in ("texts", "texts/a.txt", "in.jsonl", "bare.jsonl"):
        fine("predict", model, tmp_path / source, tmp_path / "out.jsonl", *lines)
        assert spans_in(tmp_path / "out.jsonl") == wanted
    fine("predict", model, tmp_path / "texts", tmp_path / "brat", "--to", "brat", *lines)
    assert (tmp_path / "brat" / "0.txt").read_text() == text
    assert (tmp_path / "brat" / "0.ann").read_text().count("\n") == 4


def test_predict_by_a_pipeline_that_finds_both(data: Path, tmp_path: Path) -> None:
    nlp = spacy.load(data / "model")
    ruler: Any = nlp.add_pipe("entity_ruler")
    ruler.add_patterns([{"label": "GENE", "pattern": "IL-2"}])
    nlp.to_disk(tmp_path / "model")
    (tmp_path / "in").write_text("the\nIL-2\npromoter\n")
    said = fine("predict", tmp_path / "model", tmp_path / "in", tmp_path / "out").stderr
    assert "entities are written, not the span group (--spans-key sc writes it)" in said
    assert (tmp_path / "out").read_text() == "the O\nIL-2 B-GENE\npromoter O\n"
    fine("predict", tmp_path / "model", tmp_path / "in", tmp_path / "out", "-g", "sc")
    rows = ["the O O", "IL-2 B-DNA B-protein", "promoter I-DNA O"]
    assert (tmp_path / "out").read_text().splitlines() == rows


def test_predict_is_whole_or_not_at_all(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.tsv"
    out.write_text("before")
    arguments = ["predict", data / "model", data / "dev.tsv", out, "--set", "layers=1"]
    refused = run(*arguments)
    assert refused.exit_code == 1
    assert "leave them out (--lossy)" in refused.stderr
    assert out.read_text() == "before"
    assert "overlap others in all columns, the first at" in fine(*arguments, "--lossy").stdout
    (tmp_path / "bad.jsonl").write_text('{"text": "a"}\n{"txt": "b"}\n')
    bad = run("predict", data / "model", tmp_path / "bad.jsonl", out)
    assert "bad.jsonl, line 2: no text" in bad.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.jsonl", "out.tsv"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--to", "x"], "Unknown format 'x'. Known: columns, docbin, jsonl"),
        (["--to", "docbin"], "end in .spacy"),
        (["--unit", "page"], "sentence, document"),
        (["--spans-key", "other"], "No component writes the span group 'other'"),
    ],
)
def test_predict_says_what_does_not_fit(
    data: Path, tmp_path: Path, options: list[Any], said: str
) -> None:
    result = run("predict", data / "model", data / "dev.tsv", tmp_path / "out", *options)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.split())
    assert not list(tmp_path.iterdir())


def test_what_does_not_fit(data: Path, tmp_path: Path) -> None:
    files = [data / "train.tsv", data / "dev.tsv"]
    output = ("--output", tmp_path / "model")
    flat = run("train", *files, "--nested", *LAYERS, "--config", "ner_fast", *output)
    assert flat.exit_code == 2
    assert "no component that finds nested mentions" in flat.stderr
    none = run("train", data / "train.spacy", data / "dev.spacy", "--nested", *output)
    assert none.exit_code == 0
    other = ("--nested", "--spans-key", "other")
    lost = run("train", data / "train.spacy", data / "dev.spacy", *other, *output, "--force")
    assert lost.exit_code == 2
    assert "other" in lost.stderr
    missing = run("train", data / "none.tsv", data / "dev.tsv", "--nested", *LAYERS, *output)
    assert missing.exit_code == 2
    assert "there is no such file" in missing.stderr
