"""The recognisers of nested mentions that are compared, as pipelines of spaCy."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

import spacy
from spacy.language import Language
from thinc.api import Adam, Config, Optimizer

from . import ROOT

Encoder = Literal["hashed", "CNN", "wide and deep", "mean"]
Kind = Literal["edge", "state", "per_label", "flat", "spancat", "span finder"]
KEY, CANDIDATES = "sc", "candidates"
"""The span groups of mentions, and of what a span finder suggests."""
LONGEST, THRESHOLD = 10, 0.5
WIDTH = 96
CNN = {
    "@architectures": "spacy.HashEmbedCNN.v2",
    "width": WIDTH,
    "depth": 4,
    "embed_size": 2000,
    "window_size": 1,
    "maxout_pieces": 3,
    "subword_features": True,
    "pretrained_vectors": None,
}
LISTENER = {"@architectures": "spacy.Tok2VecListener.v1", "width": WIDTH, "upstream": "tok2vec"}
SCORER = {"@layers": "spacy.LinearLogistic.v1"}
NGRAMS = {"@misc": "spacy.ngram_range_suggester.v1", "min_size": 1, "max_size": LONGEST}
FOUND = {"@misc": "spacy.preset_spans_suggester.v1", "spans_key": CANDIDATES}
FINDER = {
    "spans_key": CANDIDATES,
    "threshold": THRESHOLD,
    "max_length": LONGEST,
    "model": {
        "@architectures": "spacy.SpanFinder.v1",
        "scorer": SCORER | {"nO": 2},
        "tok2vec": LISTENER,
    },
}


@dataclass(frozen=True)
class System:
    """An encoder, and what decides; a hashed encoder learns for `epochs`, others for a time."""

    encoder: Encoder
    kind: Kind
    epochs: int = 5

    @property
    def hashed(self) -> bool:
        """Whether sparse features are all that there is."""
        return self.encoder == "hashed"

    @property
    def ours(self) -> bool:
        """Whether the component is one of this package."""
        return self.kind not in ("spancat", "span finder")

    @property
    def component(self) -> str:
        """The name of what sets mentions."""
        if self.kind == "flat":
            return "iobes_ner"
        return "iobes_nested_ner" if self.ours else "spancat"

    @property
    def cnns(self) -> int:
        """How many CNNs learn each for itself, and so the share of time that it has."""
        if self.encoder != "mean":
            return 1
        members = component("nested_mean", self.component)["model"]["*"].values()
        return sum("HashedFeatures" not in m["tok2vec"]["@architectures"] for m in members)

    @property
    def words(self) -> int:
        """One step of training is for so many words."""
        return 120 if self.hashed else 400 if self.ours else 300

    @property
    def drop(self) -> float:
        """The dropout of training; hashed features have their own."""
        return 0.0 if self.hashed else 0.2 if self.ours else 0.1

    @property
    def rate(self) -> float:
        """The learning rate at first; it falls to 0 with the time that is left."""
        return 0.002 if self.ours else 0.001

    @property
    def annotates(self) -> list[str]:
        """The components whose predictions others see in training."""
        return ["tok2vec", "span_finder"] if self.kind == "span finder" else []

    def settings(self) -> dict[str, Any]:
        """What the figures depend on, as plain values."""
        return asdict(self)

    def optimizer(self) -> Optimizer:
        """Adam, whose averages are what is evaluated; hashed features have AdaGrad."""
        made: Optimizer = Adam(self.rate, use_averages=not self.hashed)
        return made

    def pipeline(self, language: str) -> Language:
        """A new pipeline."""
        nlp = spacy.blank(language)
        if self.kind == "span finder":
            nlp.add_pipe("tok2vec", config={"model": CNN})
            nlp.add_pipe("span_finder", config=FINDER)
            nlp.add_pipe("spancat", config=spancat(LISTENER, FOUND))
        elif self.kind == "spancat":
            nlp.add_pipe("spancat", config=spancat(CNN, NGRAMS))
        else:
            nlp.add_pipe(self.component, config=self.own())
        return nlp

    def own(self) -> dict[str, Any]:
        """The settings of a component of ours: those of the configs, but for the CNN."""
        name = self.component
        if self.encoder == "mean":
            return component("nested_mean", name) | {"representation": self.kind}
        if self.encoder == "wide and deep":
            config = component("nested_wide_deep", name)
        else:
            config = component("ner_fast" if self.kind == "flat" else "nested_fast", name)
        if not self.hashed:
            config["model"]["tok2vec"] = CNN
        if self.kind == "flat":
            return config | {"sentence_bound": True}
        return config | {"representation": self.kind}


def spancat(tok2vec: dict[str, Any], suggester: dict[str, Any]) -> dict[str, Any]:
    """The settings of a span categorizer; its head is the default one."""
    reducer = {"@layers": "spacy.mean_max_reducer.v1", "hidden_size": 128}
    architecture = "spacy.SpanCategorizer.v1"
    model = {"@architectures": architecture, "scorer": SCORER, "reducer": reducer}
    return {
        "spans_key": KEY,
        "threshold": THRESHOLD,
        "suggester": suggester,
        "model": model | {"tok2vec": tok2vec},
    }


def component(config: str, name: str) -> dict[str, Any]:
    """The settings of a component in a config of this package."""
    read = Config().from_disk(ROOT / "configs" / f"{config}.cfg", interpolate=False)
    found: dict[str, Any] = read["components"][name]
    del found["factory"]
    return found


SPANCAT, CNN_EDGE, HASHED_EDGE, MEAN = "CNN spancat", "CNN edge", "hashed edge", "mean edge"
"""The peer, the rows of ours that are to be faster, and the one that has more time."""
SYSTEMS = {
    HASHED_EDGE: System("hashed", "edge"),
    "hashed state": System("hashed", "state"),
    "hashed per_label": System("hashed", "per_label"),
    "hashed flat": System("hashed", "flat"),
    CNN_EDGE: System("CNN", "edge"),
    SPANCAT: System("CNN", "spancat"),
    "CNN span finder": System("CNN", "span finder"),
    "wide and deep edge": System("wide and deep", "edge"),
    MEAN: System("mean", "edge"),
    "mean state": System("mean", "state"),
    "CNN state": System("CNN", "state"),
    "CNN per_label": System("CNN", "per_label"),
    "CNN flat": System("CNN", "flat"),
}
"""All rows; names have no commas."""
