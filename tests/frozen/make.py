"""Makes what lies beside it. It was run once, by version 0.1.0; later versions only read it.

    python make.py FOLDER    (with 0.1.0 installed, from the folder of this file)

`expected.json` holds what 0.1.0 says of all of it. Test: tests/test_frozen.py.
"""

import hashlib
import json
import os
import shutil
import sys
from pathlib import Path

import spacy
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import load_config, registry
from typer.testing import CliRunner

from spacy_iobes.about import __version__
from spacy_iobes.cli import app
from spacy_iobes.selection.pool import Pool
from spacy_iobes.selection.session import Session
from spacy_iobes.selection.settings import Settings
from spacy_iobes.span import Span

HERE = Path(__file__).parent
FILES = HERE.parent / "cases" / "files"
TEXT = "Charles Babbage left Paris , and the University of Texas bought Acme Corp. ."
SCORED = {
    "words": "Ada met Bob Smith and Grace in Paris .",
    "gold": "B-PER O B-PER I-PER O B-PER O B-LOC O",
    "tags": "B-PER O I-PER I-PER O B-ORG O I-LOC O",
    "ents": "B-PER O B-PER O O B-ORG O B-LOC O",
}


def command(*arguments: object) -> None:
    """Run a command that must do well."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output


def entities(nlp: spacy.Language) -> list[list[object]]:
    """What the flat model finds in a text, with the probability of each entity."""
    doc = nlp(TEXT)
    ner = nlp.get_pipe("iobes_ner")
    spans = [Span(ent.start, ent.end, ent.label_) for ent in doc.ents]
    found = [ner.span_probability(doc, *span) for span in spans]
    return [[*span, round(p, 6)] for span, p in zip(spans, found)]


def mentions(nlp: spacy.Language) -> list[list[object]]:
    """What the nested model finds in a text, with the probability of each mention."""
    doc = nlp(TEXT)
    ner = nlp.get_pipe("iobes_nested_ner")
    spans = [Span(s.start, s.end, s.label_) for s in doc.spans["sc"]]
    found = [ner.span_probability(doc, *span) for span in spans]
    return [[*span, round(p, 6)] for span, p in zip(spans, found)]


def reader_docs(config: Path, files: Path) -> dict[str, list[object]]:
    """What each reader of a config reads, with the vocabulary of English."""
    nlp = spacy.blank("en")
    overrides = {"paths.files": str(files)}
    readers = registry.resolve(load_config(config, overrides, interpolate=True))["corpora"]
    found = {}
    for name, reader in readers.items():
        docs = [example.reference for example in reader(nlp)]
        found[name] = [
            {
                "words": [token.text for token in doc],
                "spaces": [bool(token.whitespace_) for token in doc],
                "sentences": [token.i for token in doc if token.is_sent_start],
                "entities": [f"{token.ent_iob}{token.ent_type_}" for token in doc],
                "spans": {
                    key: sorted([s.start, s.end, s.label_] for s in group)
                    for key, group in doc.spans.items()
                },
            }
            for doc in docs
        ]
    return found


def session(folder: Path) -> dict[str, object]:
    """Answer a batch and a half."""
    nlp = spacy.blank("en")
    docs = []
    for number in range(12):
        words = f"On day {number} Ada met Bob Smith in Paris .".split()
        docs.append(Doc(nlp.vocab, words=words))
    pool = Pool.of(docs, ["PER"])
    with Session.create(folder, pool, Settings(("PER",), batch=4, audit=0.25, seed=1)) as made:
        for number in range(6):
            task = made.task()
            while task is None:
                made.wait()
                task = made.task()
            spans = [Span(3, 4, "PER"), Span(5, 7, "PER")]
            made.decide(task.sentence, "skip" if number == 2 else "accept", spans[: number % 3])
        made.wait()
    return state(folder)


def scorers(folder: Path) -> dict[str, object]:
    """Store a pipeline whose config names both scorers; return what they give."""
    nlp = spacy.blank("en")
    settings = {"scheme": "bio", "repair": "begin", "gold_repair": "discard"}
    tags = {"@scorers": "spacy-iobes.tag_scorer.v1", **settings}
    spans = {"@scorers": "spacy-iobes.span_scorer.v1", **settings}
    recipe = {"scheme": "bio", "policy": "begin"}
    nlp.add_pipe("iobes_repairer", "tags", config={**recipe, "scorer": tags})
    nlp.add_pipe("iobes_repairer", "ents", config={**recipe, "source": "ents", "scorer": spans})
    nlp.to_disk(folder)
    return {name: nlp.get_pipe(name).scorer(scored_examples(nlp)) for name in nlp.pipe_names}


def scored_examples(nlp: spacy.Language) -> list[Example]:
    """Four entities, of which the tags have three and the predicted entities two."""
    words, gold, tags, ents = (column.split() for column in SCORED.values())
    predicted = Doc(nlp.vocab, words=words, ents=ents)
    predicted.user_data["iobes_tags"] = tags
    return [Example(predicted, Doc(nlp.vocab, words=words, ents=gold))]


def state(folder: Path) -> dict[str, object]:
    """What a session says when it is opened again."""
    with Session.open(folder) as opened:
        opened.wait()
        progress = opened.progress()
        task = opened.task()
        assert task is not None
        return {
            "decisions": [
                [made.sentence, made.answer, [list(span) for span in made.spans]]
                for made in opened.decisions
            ],
            "read": progress.read,
            "mentions": progress.mentions,
            "next": task.sentence,
        }


def weights(folder: Path) -> str:
    """The hash of a model's file."""
    return hashlib.sha256((folder / "model").read_bytes()).hexdigest()


def main() -> None:
    """Make everything."""
    assert __version__ == "0.1.0", __version__
    place = Path(sys.argv[1]).resolve()
    os.chdir(FILES)  # so that configs hold no other path
    for name in ("flat", "nested", "scorers", "session"):
        shutil.rmtree(place / name, ignore_errors=True)
    gold, nested = "gold.bio", "nested.jsonl"
    command("train", gold, gold, "-s", "bio", "-o", place / "flat", "--max-steps", 20)
    command("train", nested, nested, "--nested", "-o", place / "nested", "--max-steps", 20)
    expected = {
        "flat": entities(spacy.load(place / "flat")),
        "nested": mentions(spacy.load(place / "nested")),
        "weights": {
            "flat": weights(place / "flat" / "iobes_ner"),
            "nested": weights(place / "nested" / "iobes_nested_ner"),
        },
        "readers": reader_docs(HERE / "readers.cfg", FILES),
        "scored": SCORED,
        "scorers": scorers(place / "scorers"),
        "session": session(place / "session"),
    }
    lines = [f"{json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in expected.items()]
    (place / "expected.json").write_text("{%s}\n" % ",\n".join(lines), encoding="utf8")


if __name__ == "__main__":
    main()
