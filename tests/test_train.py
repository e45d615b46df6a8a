"""The command `train`: a pipeline out of column files and DocBins, and what can go wrong."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import spacy
from spacy.util import load_config

from spacy_iobes import Signature
from spacy_iobes.corpus import TrainingCorpus, TrainingSize, is_pipeline, put
from spacy_iobes.errors import FileError
from spacy_iobes.pipeline import EntityRecognizer, Table, TrainingOptions, config_file, shipped
from spacy_iobes.pipeline.training_config import training_config

from .commands import fine, run
from .people import column_file
from .shared import CONFIGS, beside, patient, require_heeded

TEXT = "Then Grace visited New York"
FOUND = [("Grace", "PER"), ("New York", "LOC")]
WEIGHTS = Path("iobes_ner", "model")


def found(folder: Path) -> list[tuple[str, str]]:
    return [(entity.text, entity.label_) for entity in spacy.load(folder)(TEXT).ents]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with data, and a pipeline that was trained on them."""
    folder = tmp_path_factory.mktemp("train")
    column_file(folder / "train.bio", 60)
    column_file(folder / "dev.bio", 20, seed=1)
    result = fine(*command(folder, "model"))
    (folder / "stdout").write_text(result.stdout)
    (folder / "stderr").write_text(result.stderr)
    return folder


def command(folder: Path, output: str, *more: object) -> list[object]:
    files = [folder / "train.bio", folder / "dev.bio"]
    return ["train", *files, "--scheme", "bio", "--output", folder / output, *more]


# a pipeline comes out


def test_spacy_opens_it(data: Path) -> None:
    assert found(data / "model") == FOUND
    assert is_pipeline(data / "model")
    assert not list(data.glob("model.*"))


def test_the_table_is_what_score_says_of_what_predict_writes(data: Path, tmp_path: Path) -> None:
    fine("predict", data / "model", data / "dev.bio", tmp_path / "out", "--scheme", "bio")
    scored = fine("score", data / "dev.bio", tmp_path / "out", "-s", "bio", "-p", "raise").stdout
    lines = (data / "stdout").read_text().splitlines()
    wanted = [line for line in scored.splitlines() if not line.startswith("token accuracy")]
    assert lines == [*wanted, f"{data / 'model'}: the pipeline"]


def test_the_meta_data_have_the_score_and_its_recipe(data: Path) -> None:
    meta = json.loads((data / "model" / "meta.json").read_text())["performance"]
    signature = Signature.parse(meta["iobes_signature"])
    assert (signature.scheme, signature.policy, signature.gold_policy) == ("bio", "raise", "raise")
    score = next(x for x in (data / "stdout").read_text().splitlines() if x.startswith("score"))
    assert float(score.split()[1]) == pytest.approx(100 * meta["iobes_f"], abs=0.01)
    assert meta["ents_f"] == meta["iobes_f"] > 0.95
    assert set(meta["iobes_f_per_type"]) == {"LOC", "PER"}


def test_progress_goes_to_standard_error(data: Path) -> None:
    lines = (data / "stderr").read_text().splitlines()
    assert lines[0].startswith(f"{data / 'train.bio'}: 60 sentences, ")
    assert lines[0].endswith("120 entities of 2 labels")
    assert " ".join(lines[2].split()) == "E # LOSS IOBES... IOBES_F IOBES_P IOBES_R SCORE"
    config = load_config(data / "model" / "config.cfg")["training"]
    steps = [int(line.split()[1]) for line in lines[4:-1]]
    assert steps == list(range(0, steps[-1] + 1, config["eval_frequency"]))
    assert lines[-1].startswith("trained in ")
    assert "model-last" not in " ".join(lines)


def test_docbins_give_the_same_pipeline(data: Path, tmp_path: Path) -> None:
    for name in ("train", "dev"):
        fine("convert", data / f"{name}.bio", tmp_path / f"{name}.spacy", "-s", "bio")
    files = [tmp_path / f"{name}.spacy" for name in ("train", "dev")]
    result = fine("train", *files, "--output", tmp_path / "model")
    assert (tmp_path / "model" / WEIGHTS).read_bytes() == (data / "model" / WEIGHTS).read_bytes()
    assert "scheme:iobes" in result.stdout
    assert "60 Docs" in result.stderr
    (tmp_path / "folder").mkdir()
    files[0].rename(tmp_path / "folder" / "train.spacy")
    fine("train", tmp_path / "folder", files[1], "-o", tmp_path / "again", "--max-steps", 4)


@pytest.mark.parametrize("scheme", ["iob1", "iobes", "ioe2", "bilou"])
def test_any_scheme_in(scheme: str, data: Path, tmp_path: Path) -> None:
    files = [column_file(tmp_path / "train", 60, 0, scheme), column_file(tmp_path / "dev", 20, 1)]
    fine("convert", files[1], files[1], "--scheme", "bio", "--to-scheme", scheme)
    result = fine("train", *files, "-s", scheme, "-o", tmp_path / "model")
    assert (tmp_path / "model" / WEIGHTS).read_bytes() == (data / "model" / WEIGHTS).read_bytes()
    assert f"scheme:{scheme}" in result.stdout


def test_columns_are_chosen_by_the_options(tmp_path: Path, data: Path) -> None:
    """The tag first, comments, commas, and markers that are tokens."""
    for name in ("train", "dev"):
        rows = [line.split() for line in (data / f"{name}.bio").read_text().splitlines()]
        lines = [f"{row[1]},{row[0]}" if row else "" for row in rows]
        (tmp_path / name).write_text("\n".join(["# by hand", *lines, ""]))
    options = ["--delimiter", "comma", "--token", 1, "--tag", 0, "--comment", "#"]
    files = [tmp_path / "train", tmp_path / "dev"]
    fine("train", *files, "-s", "bio", "-o", tmp_path / "model", *options, "--documents", "tokens")
    assert (tmp_path / "model" / WEIGHTS).read_bytes() == (data / "model" / WEIGHTS).read_bytes()
    reader = load_config(tmp_path / "model" / "config.cfg")["corpora"]["train"]
    assert (reader["delimiter"], reader["documents"]) == ("comma", "tokens")


def test_markers_can_be_tokens(tmp_path: Path) -> None:
    path = tmp_path / "data"
    path.write_text("-DOCSTART- O\n\nAda B-PER\nmet O\nGrace B-PER\n")
    line = ["train", path, path, "-s", "bio", "-o", tmp_path / "model", "--max-steps", 2]
    assert f"{path}: 1 sentence, 3 tokens, 2 entities of 1 label\n" in fine(*line).stderr
    result = fine(*line, "--documents", "tokens")
    assert f"{path}: 2 sentences, 4 tokens, 2 entities of 1 label\n" in result.stderr
    corpora = load_config(tmp_path / "model" / "config.cfg")["corpora"]
    assert corpora["dev"]["documents"] == "tokens"


def test_the_model_tags_in_a_scheme_of_its_own(data: Path, tmp_path: Path) -> None:
    more = ["--model-scheme", "biluo", "--lang", "de", "--seed", 3, "--output", tmp_path / "m"]
    fine(*command(data, "-", *more))
    nlp = spacy.load(tmp_path / "m")
    pipe = nlp.get_pipe("iobes_ner")
    assert isinstance(pipe, EntityRecognizer)
    assert (pipe.scheme.name, nlp.lang) == ("bilou", "de")
    config: Any = nlp.config
    assert config["training"]["seed"] == config["system"]["seed"] == 3


def test_a_seed_says_it_all(data: Path, tmp_path: Path) -> None:
    for name, seed in (("first", 0), ("second", 1)):
        fine(*command(data, "-", "--output", tmp_path / name, "--seed", seed))
    weights = [(tmp_path / name / WEIGHTS).read_bytes() for name in ("first", "second")]
    assert weights[0] == (data / "model" / WEIGHTS).read_bytes() != weights[1]


def test_the_seed_is_said_in_one_way(data: Path) -> None:
    for setting in ("--training.seed", "--system.seed"):
        result = run(*command(data, "-", "--seed", 3, setting, 4, "--print-config"))
        assert result.exit_code == 2
        assert "say the seed in one way" in result.stderr
        printed = fine(*command(data, "-", setting, 4, "--print-config")).stdout
        config = spacy.util.load_config_from_str(printed, interpolate=True)
        assert config["training"]["seed"] == 4  # which is the one that counts


# the config


def test_spacy_train_does_the_same_with_the_config_that_is_printed(
    data: Path, tmp_path: Path
) -> None:
    printed = fine(*command(data, "nowhere", "--print-config"))
    assert not (data / "nowhere").exists()
    (tmp_path / "config.cfg").write_text(printed.stdout)
    line = [sys.executable, "-m", "spacy", "train", "config.cfg", "--output", "model"]
    done = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    mine, its = data / "model", tmp_path / "model" / "model-best"
    assert (its / WEIGHTS).read_bytes() == (mine / WEIGHTS).read_bytes()
    assert load_config(its / "config.cfg") == load_config(mine / "config.cfg")


def test_settings_can_be_overridden(data: Path) -> None:
    more = ["--training.batcher.size=50", "--training.patience", 7, "--corpora.dev.limit", 5]
    printed = fine(*command(data, "-", "--print-config", *more)).stdout
    config = spacy.util.load_config_from_str(printed)
    assert config["training"]["batcher"]["size"] == 50
    assert config["training"]["patience"] == 7
    assert config["corpora"]["dev"]["limit"] == 5


def of_size(docs: int, length: int) -> TrainingCorpus:
    corpus = TrainingCorpus("x")
    corpus.size = TrainingSize(Counter(X=docs), lengths=[length] * docs)
    return corpus


@pytest.mark.parametrize(
    ("train", "dev", "looks", "epochs"),
    [
        (15_000, 3_000, (5, 5), (5, 5)),  # about once an epoch
        (500, 500, (10, 20), (10, 20)),  # small data are seen more often
        (500, 5_000, (5, 6), (10, 20)),  # and large dev data are not looked at so often
        (10, 10, (5, 20), (20, 30)),
    ],
)
def test_the_schedule_fits_the_data(
    train: int, dev: int, looks: tuple[int, int], epochs: tuple[int, int]
) -> None:
    config = training_config(of_size(train, 15), of_size(dev, 15))["training"]
    epoch = train * 15 / 120
    assert epochs[0] * 0.8 <= config["max_steps"] / epoch <= epochs[1] * 1.3
    assert looks[0] <= config["max_steps"] / config["eval_frequency"] <= looks[1]
    assert config["max_steps"] - config["max_steps"] % config["eval_frequency"] > 0
    assert config["patience"] == 3 * config["eval_frequency"]


def test_how_long_to_train() -> None:
    data = of_size(100, 60), of_size(100, 60)
    config = training_config(*data, TrainingOptions(epochs=4))["training"]
    assert (config["max_steps"], config["eval_frequency"], config["patience"]) == (200, 50, 0)
    config = training_config(*data, TrainingOptions(max_steps=30))["training"]
    assert config["max_steps"] == 30
    assert config["max_steps"] % config["eval_frequency"] == 0
    config = training_config(*data, overrides={"training.max_steps": 31})["training"]
    assert config["max_steps"] == 31
    assert config["eval_frequency"] == 31 // 5
    overrides = {"training.eval_frequency": 9, "training.max_steps": 90}
    config = training_config(*data, overrides=overrides)["training"]
    assert (config["max_steps"], config["eval_frequency"]) == (90, 9)


def test_another_config_keeps_its_own_settings(data: Path, tmp_path: Path) -> None:
    config = training_config(of_size(9, 9), of_size(9, 9), TrainingOptions("ner_cnn"))
    original = load_config(CONFIGS / "ner_cnn.cfg")
    for name in ("max_steps", "patience", "batcher"):
        assert config["training"][name] == original["training"][name]
    assert config["training"]["eval_frequency"] == 1  # a look in every pass, which has one step
    (tmp_path / "mine.cfg").write_text((CONFIGS / "ner_cnn.cfg").read_text(encoding="utf8"))
    config = training_config(
        of_size(9, 9), of_size(9, 9), TrainingOptions(str(tmp_path / "mine.cfg"))
    )
    assert config["training"]["eval_frequency"] == original["training"]["eval_frequency"]
    config = training_config(of_size(9, 9), of_size(9, 9), TrainingOptions("ner_cnn", epochs=2))
    assert config["training"]["patience"] == 0
    config = training_config(of_size(9, 9), of_size(9, 9), TrainingOptions("ner_cnn", max_steps=7))
    assert config["training"]["max_steps"] == 7
    assert config["training"]["patience"] == original["training"]["patience"]
    nlp = spacy.blank("en")
    nlp.add_pipe("ner")  # spaCy's own
    nlp.config.to_disk(tmp_path / "its.cfg")
    more = ["--config", tmp_path / "its.cfg", "-o", tmp_path / "model", "--max-steps", 4]
    result = fine(*command(data, "-", *more, "--training.eval_frequency", 2))
    assert spacy.load(tmp_path / "model").pipe_names == ["ner"]
    assert "micro average" in result.stdout


def test_the_configs_ship_with_the_package() -> None:
    folder = beside("configs")
    assert {path.name for path in folder.glob("*.cfg")} == {f"{name}.cfg" for name in shipped()}
    for name, path in shipped().items():
        assert path.read_bytes() == (folder / path.name).read_bytes()
        assert config_file(name) == path


# malformed and odd data


def test_malformed_tags_are_refused_with_their_lines(data: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.bio"
    bad.write_text("Ada B-PER\n\nin O\nRome I-LOC\n" + (data / "train.bio").read_text())
    line = ["train", bad, data / "dev.bio", "-s", "bio", "-o", tmp_path / "model"]
    result = run(*line)
    assert result.exit_code == 1
    assert f"{bad}:4: 'Rome': O -> I-LOC" in result.stderr
    assert not (tmp_path / "model").exists()
    fine(*line, "--policy", "begin", "--max-steps", 4)
    line = ["train", data / "train.bio", bad, "-s", "bio", "-o", tmp_path / "model"]
    assert run(*line).exit_code == 1
    result = fine(*line, "-p", "begin", "--max-steps", 4)
    assert f"{bad}: 61 sentences" in result.stderr
    assert "1 violation repaired (begin)" in result.stderr
    assert "violations repaired: 0 in the predictions, 1 in the gold" in result.stdout
    assert "|policy:raise|gold_policy:begin|" in result.stdout


def test_tokens_without_annotation_are_taken(data: Path, tmp_path: Path) -> None:
    text = (data / "train.bio").read_text().replace("Then O", "Then -", 3)
    (tmp_path / "train").write_text(text)
    fine("train", tmp_path / "train", data / "dev.bio", "-s", "bio", "-o", tmp_path / "model")
    assert found(tmp_path / "model") == FOUND


def test_labels_that_are_not_in_the_training_data(data: Path, tmp_path: Path) -> None:
    dev = tmp_path / "dev.bio"
    dev.write_text("Ada B-SHIP\nis O\nBabbage B-PER\n\nAda B-SHIP\n")
    more = ["--scheme", "bio", "--output", tmp_path / "model", "--max-steps", 2]
    result = fine("train", data / "train.bio", dev, *more)
    assert f"{dev}: has labels that {data / 'train.bio'} has not" in result.stderr
    assert "which cannot be found: SHIP (2)" in result.stderr


def test_what_cannot_be_trained_on(data: Path, tmp_path: Path) -> None:
    good = data / "train.bio"
    files = {"empty": "", "outside": "a O\nb O\n", "blank": "\n\n\n", "ragged": "a B-X\nb\n"}
    files |= {"one": "a B-X\n", "vague": "a B-X\nb I-X\nc E-X\n\nd E-X\n"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "none.spacy").write_text("no DocBin")
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    for name in ("a.bio", "b.spacy"):
        (mixed / name).write_text("")
    scheme = ["--scheme", "bio"]
    cases: list[tuple[list[object], str]] = [
        ([tmp_path / "missing", good, *scheme], "there is no such file"),
        ([good, tmp_path / "missing.spacy", *scheme], "there is no such file"),
        ([tmp_path / "empty", good, *scheme], "there is no token to train on"),
        ([good, tmp_path / "blank", *scheme], "there is no token to train on"),
        ([tmp_path / "outside", good, *scheme], "outside: there is no entity in 1 sentence"),
        ([good, tmp_path / "outside", *scheme], "the right column (--tag, --layer)?"),
        ([tmp_path / "ragged", good, *scheme], "ragged, line 2"),
        ([tmp_path / "none.spacy", good, *scheme], "not a DocBin"),
        ([mixed, good, *scheme], "b.spacy: not a DocBin"),
        ([tmp_path / "one", *scheme], "one sentence cannot be held out from itself: name DEV"),
        (["-", good, *scheme], "can be read only once"),
        ([tmp_path / "vague", good], "vague: name the scheme of its tags (--scheme): it is"),
        ([good, good, "--scheme", "ibo"], "Unknown scheme 'ibo'"),
        ([good, good, *scheme, "--policy", "fix"], "Unknown policy 'fix'"),
        ([good, good, *scheme, "--model-scheme", "ibo"], "Unknown scheme 'ibo'"),
        ([good, good, *scheme, "--lang", "qq"], "spaCy has no language 'qq'"),
        (
            [good, good, *scheme, "--config", "nope"],
            "ner_wide_deep, nested_cnn, nested_fast, nested_mean, nested_wide_deep; or",
        ),
        ([good, good, *scheme, "--config", good], "not a config that can be used"),
        ([good, good, *scheme, "--sheme", "x"], "There is no option --sheme"),
        ([good, good, good, *scheme], "is one argument too many"),
        ([good, good, *scheme, "--paths.train", "x"], "TRAIN and DEV say which files"),
        ([good, good, *scheme, "--trainig.max_steps", 5], "no setting 'trainig.max_steps'"),
        ([good, good, *scheme, "--training.max_step", 5], "training has: "),
        ([good, good, *scheme, "--training.max_steps", "x"], "max_steps: "),
        ([good, good, *scheme, "--training.dropout", 5], "the config"),  # in spaCy's words
        ([good, good, *scheme, "--nlp.pipeline", "[]"], "no component that finds entities"),
        (
            [good, good, *scheme, "--config", "tagger_iobes", "--model-scheme", "bio"],
            "no iobes_ner",
        ),
        ([good, good, *scheme, "--epochs", 2, "--max-steps", 5], "Say how long in one way"),
    ]
    output = tmp_path / "model"
    for arguments, message in cases:
        result = run("train", *arguments, "--output", output)
        said = " ".join(result.stderr.replace("│", " ").split())
        assert (result.exit_code, message in said) == (2, True), result.output
        assert not list(tmp_path.glob("model*"))
    result = run("train", good, good, *scheme)
    assert "say where the pipeline goes" in result.stderr


def test_mentions_that_overlap_are_for_nested_recognisers(data: Path, tmp_path: Path) -> None:
    row = {"tokens": ["a", "b"], "spans": [[0, 2, "X"], [1, 2, "Y"]]}
    (tmp_path / "bad.jsonl").write_text(json.dumps(row))
    result = run("train", tmp_path / "bad.jsonl", data / "dev.bio", "-o", tmp_path / "model")
    assert result.exit_code == 1
    assert result.stderr == (
        f"Error: {tmp_path / 'bad.jsonl'}, line 1, 'b': X 'a b' and Y 'b' overlap, which entities "
        "cannot. Find nested mentions (--nested), or keep one.\n"
    )
    assert not (tmp_path / "model").exists()


def test_a_tenth_of_train_is_held_out_where_there_is_no_dev(data: Path, tmp_path: Path) -> None:
    line = ["train", data / "train.bio", "-s", "bio", "--max-steps", 4]
    result = fine(*line, "-o", tmp_path / "model", "--training.batcher.size", 50)
    path = data / "train.bio"
    assert f"{path}: 6 of 60 sentences are held out to choose by (seed 0)\n" in result.stderr
    assert f"{path}: 54 sentences, " in result.stderr
    assert f"{path}: 6 sentences, " in result.stderr
    config = load_config(tmp_path / "model" / "config.cfg")
    parts = {name: config["corpora"][name]["part"] for name in ("train", "dev")}
    assert (parts, config["training"]["batcher"]["size"]) == ({"train": "train", "dev": "dev"}, 50)
    printed = fine(*line, "--print-config", "--seed", 7).stdout
    seeds = [x["seed"] for x in spacy.util.load_config_from_str(printed)["corpora"].values()]
    assert seeds == [7, 7]


TOUCHING = "he O\n\nin O\nAda B-PER\nGrace B-PER\nHopper I-PER\n\n"
SPLITTING = "iob1, bio, ioe1, ioe2, iobes, bilou, bmewo, bmes, bie, bia, be"


@pytest.mark.parametrize(
    "setting", [["--model-scheme", "io"], ["--components.iobes_ner.scheme", "io"]]
)
def test_spans_that_the_scheme_of_the_model_cannot_hold(
    setting: list[str], data: Path, tmp_path: Path
) -> None:
    """They are named before training begins; dev data, which teach nothing, may have them."""
    bad, good = tmp_path / "bad.bio", data / "train.bio"
    bad.write_text(good.read_text() + "\n" + TOUCHING)
    more = ["-s", "bio", "-o", tmp_path / "model", "--max-steps", 2]
    result = run("train", bad, data / "dev.bio", *more, *setting)
    line = len(good.read_text().splitlines()) + 5
    assert result.exit_code == 1
    assert " ".join(result.stderr.split()) == (
        f"Error: {bad}: PER 'Ada' (line {line}) and PER 'Grace Hopper' (line {line + 1}) touch in "
        "'in Ada Grace Hopper': a model that tags in io cannot tell them apart. Choose a scheme "
        f"that can (--model-scheme): {SPLITTING}."
    )
    assert not list(tmp_path.glob("model*"))
    fine("train", good, bad, *more, *setting)
    fine("train", bad, data / "dev.bio", *more)


def test_touching_entities_of_a_docbin(data: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.bio").write_text(TOUCHING)
    fine("convert", tmp_path / "bad.bio", tmp_path / "bad.spacy", "-s", "bio")
    files = [tmp_path / "bad.spacy", data / "dev.bio", "-s", "bio", "-o", tmp_path / "model"]
    result = run("train", *files, "--model-scheme", "io")
    assert result.exit_code == 1
    assert "PER 'Ada' (Doc 1, token 1) and PER 'Grace Hopper' (Doc 1, token 2)" in result.stderr
    fine("train", *files, "--model-scheme", "bio", "--max-steps", 1)


@pytest.mark.parametrize("name", ["a$b", "$", "${paths}", "a$$b"])
def test_a_path_that_a_config_would_misread(
    name: str, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Refused as an input; from inside its directory, and as an output, it does no harm."""
    folder = tmp_path / name
    folder.mkdir()
    for file in ("train.bio", "dev.bio"):
        (folder / file).write_text((data / file).read_text())
    more = ["-s", "bio", "-o", folder / "model", "--max-steps", 2]
    result = run("train", folder / "train.bio", folder / "dev.bio", *more)
    assert result.exit_code == 2
    assert f"{folder / 'train.bio'}: has a $ in it" in result.stderr
    assert not (folder / "model").exists()
    monkeypatch.chdir(folder)
    fine("train", "train.bio", "dev.bio", *more)
    assert is_pipeline(folder / "model")
    result = run("train", "train.bio", "dev.bio", *more, "--comment", "$")
    assert "comment = '$': has a $ in it" in result.stderr


def test_malformed_entities_of_a_docbin(data: Path, tmp_path: Path) -> None:
    from spacy.tokens import DocBin

    from .docs import with_entities

    DocBin(docs=[with_entities(["O", "I-PER"])]).to_disk(tmp_path / "bad.spacy")
    result = run("train", tmp_path / "bad.spacy", data / "dev.bio", "-s", "bio", "-o", tmp_path)
    assert result.exit_code in (1, 2)
    result = run("train", tmp_path / "bad.spacy", data / "dev.bio", "-s", "bio", "-o", "model")
    assert result.exit_code == 1
    assert "bad.spacy, Doc 0, token 1" in result.stderr
    assert "Name a policy (--policy)" in result.stderr
    fine("train", tmp_path / "bad.spacy", "-p", "begin", "--print-config", data / "dev.bio")


# the directory


def test_a_pipeline_gives_way_to_another(data: Path, tmp_path: Path) -> None:
    line = command(data, "-", "--output", tmp_path / "deep" / "model", "--max-steps", 4)
    fine(*line)
    before = (tmp_path / "deep" / "model" / WEIGHTS).read_bytes()
    fine(*line, "--seed", 5)
    assert (tmp_path / "deep" / "model" / WEIGHTS).read_bytes() != before
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["model"]


def test_what_is_no_pipeline_is_not_lost(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    line = command(data, "-", "--output", folder, "--max-steps", 4)
    fine(*line)  # nothing was in there
    (folder / "diary").write_text("dear diary")
    result = run(*line)
    assert result.exit_code == 2
    assert "something else than a pipeline" in result.stderr
    assert (folder / "diary").exists()
    (tmp_path / "file").write_text("")
    result = run(*command(data, "-", "--output", tmp_path / "file"))
    assert "a file is in the way" in result.stderr
    result = run(*command(data, "", "--force"))
    assert f"{data}: {data / 'train.bio'} is in there, and would be lost" in result.stderr
    monkeypatch.chdir(folder)
    result = run(*line, "--force")
    assert "the working directory is in there" in result.stderr
    monkeypatch.chdir(tmp_path)
    fine(*line, "--force")
    assert is_pipeline(folder)


def test_a_failure_leaves_what_was_there(data: Path, tmp_path: Path) -> None:
    target = tmp_path / "model"
    line = command(data, "-", "--output", target)
    fine(*line, "--max-steps", 4)
    before = {path: path.read_bytes() for path in target.rglob("*") if path.is_file()}
    assert run(*line, "--training.dropout", 5).exit_code == 2
    assert {path: path.read_bytes() for path in target.rglob("*") if path.is_file()} == before
    assert list(tmp_path.iterdir()) == [target]


def test_a_directory_that_cannot_take_the_place_of_another(tmp_path: Path) -> None:
    for name in ("old", "work"):
        (tmp_path / name).mkdir()
    (tmp_path / "old" / "file").write_text("kept")
    with pytest.raises(FileError, match="cannot be written"):
        put(tmp_path / "work" / "new", tmp_path / "old")
    assert (tmp_path / "old" / "file").read_text() == "kept"


def interrupted(name: str, line: list[object], looks: int) -> tuple[int, str]:
    """Run a command that trains for ever, end it after so many looks at the dev data.

    Gives its exit code and the last line that it said.
    """
    if sys.platform == "win32":
        pytest.skip("a process cannot be asked to end here")
    require_heeded(name)
    started = patient(*line, "--max-steps", 1_000_000)
    with subprocess.Popen(started, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        while not process.stderr.readline().startswith("---"):
            pass
        for _ in range(looks):
            process.stderr.readline()
        process.send_signal(getattr(signal, name))
        said = process.stderr.read()
    return process.returncode, said.splitlines()[-1]


@pytest.mark.parametrize(("name", "code"), [("SIGINT", 130), ("SIGTERM", 143)])
def test_interrupted_training_leaves_a_checkpoint(
    name: str, code: int, data: Path, tmp_path: Path
) -> None:
    target = tmp_path / "model"
    settings = ["--training.eval_frequency", 10, "--training.patience", 0]
    line = command(data, "-", "--output", target, *settings)
    returned, last = interrupted(name, line, looks=3)
    assert returned == code
    assert last.startswith(f"Ended early: {target} holds the best checkpoint so far (F1 ")
    assert list(tmp_path.iterdir()) == [target]
    assert found(target) == FOUND


@pytest.mark.parametrize("looks", [1, 3])  # the last checkpoint, and the best one
def test_interrupted_training_signs_as_a_finished_one(
    looks: int, data: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.bio"
    bad.write_text("in O\nRome I-LOC\n\n" + (data / "dev.bio").read_text())
    line: list[object] = ["train", data / "train.bio", bad, "-s", "bio", "-p", "begin"]
    fine(*line, "-o", tmp_path / "whole", "--max-steps", 4)
    often = 10 if looks > 1 else 10**6
    settings = ["--training.eval_frequency", often, "--training.patience", 0]
    interrupted("SIGINT", [*line, "-o", tmp_path / "part", *settings], looks)
    metas = [json.loads((tmp_path / n / "meta.json").read_text()) for n in ("whole", "part")]
    signatures = [meta["performance"]["iobes_signature"] for meta in metas]
    assert signatures[0] == signatures[1]
    assert Signature.parse(signatures[1]).gold_policy == "begin"
    assert Signature.parse(signatures[1]).scheme == "bio"


def test_interrupted_training_does_not_replace_a_pipeline(data: Path, tmp_path: Path) -> None:
    target = tmp_path / "model"
    fine(*command(data, "-", "--output", target, "--max-steps", 2, "--lang", "de"))
    settings = ["--training.eval_frequency", 10, "--training.patience", 0]
    _, last = interrupted("SIGINT", command(data, "-", "--output", target, *settings), looks=3)
    assert last.startswith(f"Ended early: {target} is as it was, and ")
    assert spacy.load(target).lang == "de"
    kept = Path(last.partition(", and ")[2].partition(" is the best checkpoint")[0])
    assert found(kept) == FOUND
    fine(*command(data, "-", "--output", target, "--max-steps", 2))  # it is in nobody's way


def test_training_that_is_interrupted_early(data: Path, tmp_path: Path) -> None:
    """Dev data were looked at after the first step only, so the last weights are kept."""
    target = tmp_path / "model"
    settings = ["--training.eval_frequency", 10**6, "--training.patience", 0]
    _, last = interrupted("SIGINT", command(data, "-", "--output", target, *settings), looks=1)
    assert last == f"Ended early: {target} holds the last checkpoint, which has no score yet"
    assert spacy.load(target).pipe_names == ["iobes_ner"]


def test_the_configs_that_come_with_the_package(tmp_path: Path) -> None:
    data = column_file(tmp_path / "data", 5)
    for name in ("ner_fast", "ner_cnn", "ner_wide_deep"):
        result = fine("train", data, data, "-s", "bio", "--config", name, "--print-config")
        assert "[components.iobes_ner]" in result.stdout


def bias(model: Path) -> float:
    recogniser: Any = spacy.load(model).get_pipe("iobes_ner")
    return float(recogniser.entity_bias)


def test_the_bias_is_tuned_on_dev_data(tmp_path: Path) -> None:
    """Of words that are names in two of five places: whoever finds them all has the better F1."""
    data = tmp_path / "data"
    tags = ("B-X", "O", "O", "B-X", "O")
    data.write_text("".join(f"alpha {tag}\nbeta O\n\n" for tag in tags * 20))
    files = [data, data, "-s", "bio"]
    plain = fine("train", *files, "-o", tmp_path / "plain", "--no-tune")
    tuned = fine("train", *files, "-o", tmp_path / "tuned")
    found = json.loads(fine("tune", tmp_path / "plain", data, "-s", "bio", "--json").stdout)
    assert found["best"] > 0
    assert "entity_bias" not in plain.stderr
    assert f"entity_bias {found['best']:+.1f}: dev F1 57.14, without it" in tuned.stderr
    assert bias(tmp_path / "plain") == 0.0
    assert bias(tmp_path / "tuned") == found["best"]
    assert "score 57.14" in tuned.stdout  # precision 2 in 5, recall 1


def test_a_bias_of_the_config_is_kept(data: Path, tmp_path: Path) -> None:
    files = [data / "train.bio", data / "dev.bio", "-s", "bio", "--max-steps", 1]
    setting = ["--components.iobes_ner.entity_bias", "0.5"]
    result = fine("train", *files, "-o", tmp_path / "model", *setting)
    assert bias(tmp_path / "model") == 0.5
    assert "entity_bias" not in result.stderr


def test_a_component_of_another_pipeline_goes_on_from_there(data: Path, tmp_path: Path) -> None:
    files = [data / "train.bio", data / "dev.bio", "-s", "bio"]
    (tmp_path / "config.cfg").write_text(fine("train", *files, "--print-config").stdout)
    config = load_config(tmp_path / "config.cfg", interpolate=False)
    config["components"]["iobes_ner"] = {"source": str(data / "model")}
    config.to_disk(tmp_path / "config.cfg")
    settings = ["--config", tmp_path / "config.cfg", "--max-steps", 2]
    assert "source = " in fine("train", *files, *settings, "--print-config").stdout
    first = fine("train", *files, *settings, "-o", tmp_path / "model").stderr
    rows = [line.split() for line in first.splitlines() if line.split()[:2] == ["0", "0"]]
    assert float(rows[0][3]) > 90  # before it has learnt anything here


def test_the_last_step_of_a_short_training_is_looked_at(data: Path, tmp_path: Path) -> None:
    files = [data / "train.bio", data / "dev.bio", "-s", "bio", "--config", "ner_wide_deep"]
    config = fine("train", *files, "--max-steps", 7, "--print-config").stdout
    steps = {line for line in config.splitlines() if line.startswith(("max_st", "eval_fr"))}
    assert "max_steps = 7" in steps
    assert not {f"eval_frequency = {n}" for n in range(1, 8)}.isdisjoint(steps)
    result = run("train", *files[:4], "--max-steps", 5, "--training.eval_frequency", 50, "-o", "x")
    assert result.exit_code != 0
    assert "before the dev data are looked at" in result.stderr


def test_a_language_has_its_own_tokenizer(data: Path) -> None:
    files = [data / "train.bio", data / "dev.bio", "-s", "bio", "--print-config"]
    assert '"spacy.zh.ChineseTokenizer"' in fine("train", *files, "--lang", "zh").stdout
    assert '"spacy.Tokenizer.v1"' in fine("train", *files, "--lang", "de").stdout


@pytest.mark.parametrize(
    ("scores", "first"),
    [((0.11, 0.0, 0.0), True), ((0.0, 0.0), True), ((0.0, 0.2, 0.1), False), ((0.3,), False)],
)
def test_a_first_look_that_is_the_best_is_noticed(scores: tuple[float, ...], first: bool) -> None:
    log = StringIO()
    table = Table(log)
    lines = ["E    #       LOSS IOBES...  IOBES_F  SCORE \n", "---  ------  ----  ----  ------\n"]
    lines += [
        f"  {n}  {9 * n}   1830.12   {100 * f:.2f}    {f:.2f}\n" for n, f in enumerate(scores)
    ]
    for line in lines:
        table.write(line)
    assert (table.scores, table.first_is_best) == ([*scores], first)
    assert log.getvalue() == "".join(lines)


def test_a_first_look_that_is_the_best_is_told(data: Path, tmp_path: Path) -> None:
    more = ["--config", "ner_cnn", "--epochs", 1, "-o", tmp_path / "model"]
    result = fine(*command(data, "-", *more, "--training.optimizer.learn_rate", 0.0))
    assert "the first look at the dev data was the best" in result.stderr
