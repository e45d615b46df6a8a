"""`iobes_ner` listens to a transformer: a small BERT with random weights, made on the spot."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import spacy
from spacy.cli.train import train
from spacy.language import Language
from spacy.tokens import DocBin
from thinc.api import fix_random_seed

from spacy_iobes.errors import ModelError

from .recognizers import SENTENCES, entities, example, examples, ner, parameters

transformers: Any = pytest.importorskip("transformers")
tokenizers: Any = pytest.importorskip("tokenizers")
pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")  # of libraries that are not ours

WIDTH = 16
PLUGINS = ("spacy_transformers", "spacy_curated_transformers")
TEXTS = [text for text, _ in SENTENCES]
TRUTH = entities(pair.reference for pair in examples())


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A folder with a model and its word pieces, as the libraries load them."""
    folder = tmp_path_factory.mktemp("bert")
    pieces = tokenizers.BertWordPieceTokenizer(lowercase=False)
    pieces.train_from_iterator(TEXTS, vocab_size=80, show_progress=False)
    pieces.save_model(str(folder))
    fast = transformers.BertTokenizerFast(str(folder / "vocab.txt"), do_lower_case=False)
    fast.save_pretrained(folder)
    transformers.set_seed(0)
    sizes = {"num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32}
    config = transformers.BertConfig(vocab_size=len(fast), hidden_size=WIDTH, **sizes)
    transformers.BertModel(config).save_pretrained(folder)
    return str(folder)


@pytest.fixture(params=PLUGINS)
def plugin(request: pytest.FixtureRequest) -> str:
    """Each of the plugins that have listeners, where it is installed."""
    name: str = request.param
    if find_spec(name) is None:
        pytest.skip(f"{name.replace('_', '-')} is not installed")
    if "curated" in name and np.lib.NumpyVersion(np.__version__) >= "2.4.0":
        pytest.skip("spacy-curated-transformers does not train under numpy 2.4")
    return name


@pytest.fixture
def nlp(plugin: str, bert: str) -> Language:
    """Two recognisers that share a transformer; not initialised."""
    fix_random_seed(0)
    made = spacy.blank("en")
    listener = (hugging_face if plugin == "spacy_transformers" else curated)(made, bert)
    for name in ("iobes_ner", "second"):
        config = {"model": {"tok2vec": listener}, "scores": True}
        made.add_pipe("iobes_ner", name=name, config=config)
    made.config["training"]["dropout"] = 0.0
    return made


def hugging_face(nlp: Language, bert: str) -> dict[str, Any]:
    """Add the transformer of spacy-transformers; what listens to it."""
    model = {"@architectures": "spacy-transformers.TransformerModel.v3", "name": bert}
    nlp.add_pipe("transformer", config={"model": model})
    return {
        "@architectures": "spacy-transformers.TransformerListener.v1",
        "grad_factor": 1.0,
        "pooling": {"@layers": "reduce_mean.v1"},
        "upstream": "*",
    }


def curated(nlp: Language, bert: str) -> dict[str, Any]:
    """Add the transformer of spacy-curated-transformers; what listens to it."""
    ours = "spacy-curated-transformers"
    model = {
        "@architectures": f"{ours}.BertTransformer.v1",
        "vocab_size": transformers.AutoConfig.from_pretrained(bert).vocab_size,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "hidden_width": WIDTH,
        "intermediate_width": 32,
        "piece_encoder": {"@architectures": f"{ours}.BertWordpieceEncoder.v1"},
        "with_spans": {"@architectures": f"{ours}.WithStridedSpans.v1"},
    }
    nlp.add_pipe("curated_transformer", name="transformer", config={"model": model})
    loader = {"@model_loaders": f"{ours}.HFPieceEncoderLoader.v1", "name": bert}
    nlp.config["initialize"]["components"]["transformer"] = {"piecer_loader": loader}
    return {
        "@architectures": f"{ours}.LastTransformerLayerListener.v1",
        "width": WIDTH,
        "pooling": {"@layers": "reduce_mean.v1"},
        "upstream": "*",
    }


def learn(nlp: Language, steps: int = 40, **settings: Any) -> None:
    optimizer = nlp.resume_training()
    optimizer.learn_rate = 0.01
    for _ in range(steps):
        nlp.update([*examples(), example([])], sgd=optimizer, **settings)


def weights_of(nlp: Language) -> list[Any]:
    """The numbers of the transformer, copied."""
    model: Any = nlp.get_pipe("transformer").model  # type: ignore[attr-defined]
    shims = [shim for node in model.walk() for shim in node.shims]
    found = [value.detach().numpy().copy() for s in shims for value in s._model.parameters()]
    assert found
    return found


def check(nlp: Language) -> None:
    """That a pipeline knows its sentences, and how sure it is."""
    docs = list(nlp.pipe([*TEXTS, ""]))
    assert entities(docs) == [*TRUTH, []]
    assert all(doc.spans["iobes_ner"].attrs["scores"].min() > 0.5 for doc in docs[:-1])


def test_it_learns_and_teaches_and_is_stored(nlp: Language, tmp_path: Path) -> None:
    nlp.initialize(examples)
    before = weights_of(nlp)
    learn(nlp)
    assert any((a != b).any() for a, b in zip(before, weights_of(nlp)))
    check(nlp)
    assert nlp.evaluate(examples(), per_component=True)["second"]["iobes_f"] == 1.0
    nlp.to_disk(tmp_path)
    again = spacy.load(tmp_path)
    check(again)
    check(spacy.load(tmp_path, exclude="second").from_bytes(nlp.to_bytes(exclude=["second"])))
    ner(again).add_label("MORE")
    learn(again, 1)


def test_questions(nlp: Language) -> None:
    nlp.initialize(examples)
    learn(nlp)
    pipe, doc = ner(nlp), nlp(TEXTS[0])
    (analysis,) = pipe.nbest([doc], 1)[0]
    assert [tuple(span) for span in analysis.spans] == TRUTH[0]
    assert pipe.span_probability(doc, 0, 1, "PER") > 0.5
    with pytest.raises(ModelError, match="has not been through"):
        pipe.marginals([nlp.make_doc(TEXTS[0])])


def test_a_transformer_of_its_own(nlp: Language, tmp_path: Path) -> None:
    """The listener is replaced by a copy of what it listened to."""
    nlp.initialize(examples)
    learn(nlp)
    nlp.replace_listeners("transformer", "iobes_ner", ["model.tok2vec"])
    alone = spacy.blank("en", vocab=nlp.vocab)
    alone.add_pipe("iobes_ner", source=nlp)
    check(alone)
    alone.to_disk(tmp_path)
    check(spacy.load(tmp_path))


def test_a_frozen_transformer(nlp: Language, plugin: str) -> None:
    """Frozen and annotating, as spaCy has it, or by a setting of its own."""
    nlp.initialize(examples)
    before, untrained = weights_of(nlp), parameters(ner(nlp))
    if plugin == "spacy_transformers":
        learn(nlp, 5, exclude=["transformer"], annotates=["transformer"])
    else:
        nlp.get_pipe("transformer").frozen = True  # type: ignore[attr-defined]
        learn(nlp, 5)
    for one, other in zip(before, weights_of(nlp)):
        np.testing.assert_array_equal(one, other)
    assert any((parameters(ner(nlp))[name] != untrained[name]).any() for name in untrained)


def test_spacy_train(nlp: Language, plugin: str, tmp_path: Path) -> None:
    """First all of it; then the second recogniser alone, while the first one is frozen."""
    DocBin(docs=[pair.reference for pair in examples()] * 5).to_disk(tmp_path / "data.spacy")
    reader = {"@readers": "spacy.Corpus.v1", "path": str(tmp_path / "data.spacy")}
    config = nlp.config.copy()
    config["corpora"] = {"train": reader, "dev": reader}
    config["training"] |= {"max_steps": 40, "eval_frequency": 20}
    config["training"]["optimizer"]["learn_rate"] = 0.01
    config.to_disk(tmp_path / "config.cfg")
    train(tmp_path / "config.cfg", tmp_path / "model")
    first = spacy.load(tmp_path / "model" / "model-last")
    check(first)
    sourced = {"source": str(tmp_path / "model" / "model-last")}
    config["components"] |= {"transformer": sourced, "iobes_ner": sourced}
    config["initialize"]["components"] = {}
    frozen = ["transformer", "iobes_ner"] if plugin == "spacy_transformers" else ["iobes_ner"]
    config["training"] |= {"frozen_components": frozen, "annotating_components": frozen}
    config["training"] |= {"max_steps": 4, "eval_frequency": 2}
    config.to_disk(tmp_path / "config.cfg")
    train(tmp_path / "config.cfg", tmp_path / "model")
    after = spacy.load(tmp_path / "model" / "model-last")
    if "transformer" in frozen:
        check(after)
    for name, values in parameters(ner(first)).items():
        np.testing.assert_array_equal(values, parameters(ner(after))[name])
    second: Any = after.get_pipe("second")
    assert parameters(second)["W"].any()
