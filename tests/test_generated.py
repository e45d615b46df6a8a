"""Generated documents: the same for a seed everywhere, sound, and neither too easy nor too hard."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable
from hashlib import sha256
from itertools import pairwise

import pytest

from spacy_iobes import SCHEMES, validate_many, write_many
from spacy_iobes.errors import InexpressibleError
from spacy_iobes.generate import (
    DEPTH,
    LABELS,
    GeneratedSentence,
    form,
    generated,
    invented,
    limited,
)

DIGEST = "9f8897e5550ecf1c59d207390fcb1ddb118de24bd3805c5f50fc90dce3d66df1"
"""Of 200 sentences: other sentences for a seed are another corpus, which must be meant."""


def digest(sentences: Iterable[GeneratedSentence]) -> str:
    found = sha256()
    for words, layers, opens in sentences:
        found.update(repr((words, [[tuple(x) for x in y] for y in layers], opens)).encode())
    return found.hexdigest()


@pytest.fixture(scope="module")
def some() -> list[GeneratedSentence]:
    return list(limited(7, 4000))


def test_a_seed_is_a_corpus() -> None:
    assert digest(limited(0, 200)) == DIGEST
    assert digest(limited(1, 200)) != DIGEST


def test_hashes_of_words_play_no_part() -> None:
    code = "from spacy_iobes.generate import limited; print([*limited(0, 200)])"
    wanted = f"{list(limited(0, 200))}\n"
    for seed in ("1", "2"):
        env = os.environ | {"PYTHONHASHSEED": seed, "PYTHONUTF8": "1"}
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, env=env, capture_output=True, encoding="utf8", check=True)
        assert done.stdout == wanted


def test_a_larger_corpus_begins_with_the_smaller_one() -> None:
    assert list(limited(3, 40)) == list(limited(3, 90))[:40]
    by_tokens = list(limited(3, tokens=500))
    assert by_tokens == list(limited(3, len(by_tokens)))
    sizes = [len(sentence.words) for sentence in by_tokens]
    assert sum(sizes[:-1]) < 500 <= sum(sizes)
    assert list(limited(3, 0)) == []


def test_layers_are_sound(some: list[GeneratedSentence]) -> None:
    for sentence in some:
        assert len(sentence.layers) == DEPTH
        assert all(word and not any(c.isspace() for c in word) for word in sentence.words)
        for layer in sentence.layers:
            assert all(a.end <= b.start for a, b in pairwise(layer))
            assert all(0 <= s < e <= len(sentence.words) and x in LABELS for s, e, x in layer)
        for outer, inner in pairwise(sentence.layers):
            for start, end, _ in inner:
                homes = [o for o in outer if o.start <= start and end <= o.end]
                assert len(homes) == 1
                assert homes[0].end - homes[0].start > end - start


def test_sizes(some: list[GeneratedSentence]) -> None:
    opens = [number for number, sentence in enumerate(some) if sentence.opens]
    lengths = [after - at for at, after in pairwise(opens)]
    assert opens[0] == 0
    assert (min(lengths), max(lengths)) == (4, 16)
    sizes = {end - start for sentence in some for start, end, _ in sentence.spans}
    assert sizes == {1, 2, 3, 4, 5, 6}
    assert 10 < sum(len(sentence.words) for sentence in some) / len(some) < 16


def test_shares_of_labels(some: list[GeneratedSentence]) -> None:
    labels = Counter(span.label for sentence in some for span in sentence.spans)
    common = {label: count / labels.total() for label, count in labels.items() if label != "SHIP"}
    assert set(common) == {"DATE", "LOC", "ORG", "PER"}
    assert all(0.18 < share < 0.32 for share in common.values())
    ships = sum(any(x.label == "SHIP" for x in sentence.spans) for sentence in some)
    assert 0.007 < ships / len(some) < 0.016
    assert 0.05 < sum(not sentence.spans for sentence in some) / len(some) < 0.3


def test_nesting(some: list[GeneratedSentence]) -> None:
    pairs = Counter[tuple[str, str]]()
    for sentence in some:
        for outer, inner in pairwise(sentence.layers):
            for o in outer:
                pairs.update((o.label, i.label) for i in inner if o.start <= i.start < o.end)
    wanted = {("ORG", "LOC"), ("ORG", "PER"), ("ORG", "ORG"), ("LOC", "LOC"), ("LOC", "PER")}
    assert wanted | {("DATE", "DATE"), ("SHIP", "PER")} == set(pairs)
    assert any(sentence.layers[2] for sentence in some)
    nested = sum(bool(sentence.layers[1]) for sentence in some)
    assert 0.2 < nested / len(some) < 0.45


def test_words_are_ambiguous_and_many_are_new(some: list[GeneratedSentence]) -> None:
    labels: dict[str, set[str]] = {}
    outside, split = set[str](), len(some) // 2
    halves: list[set[str]] = [set(), set()]
    for number, sentence in enumerate(some):
        inside = [word for start, end, _ in sentence.spans for word in sentence.words[start:end]]
        for start, end, label in sentence.spans:
            for word in sentence.words[start:end]:
                labels.setdefault(word, set()).add(label)
        halves[number >= split].update(word for word in inside if word.isalpha())
        outside.update(sentence.words)
        for start, end, _ in sentence.spans:
            outside.difference_update(sentence.words[start:end])
    assert sum({"PER", "ORG", "LOC"} <= found for found in labels.values()) > 20
    assert len({word.lower() for word in halves[0]} & outside) > 20  # Rose and rose, May and may
    new = len(halves[1] - halves[0]) / len(halves[1])
    assert new > 0.5


def test_mentions_of_one_label_touch_now_and_then(some: list[GeneratedSentence]) -> None:
    def touch(sentence: GeneratedSentence) -> bool:
        return any(a.end == b.start and a.label == b.label for a, b in pairwise(sentence.spans))

    assert 0.02 < sum(map(touch, some)) / len(some) < 0.08
    with pytest.raises(InexpressibleError):
        write_many([s.spans for s in some], [len(s.words) for s in some], "io")


@pytest.mark.parametrize("scheme", [name for name in SCHEMES if name != "io"])
def test_gold_is_legal(some: list[GeneratedSentence], scheme: str) -> None:
    lengths = [len(sentence.words) for sentence in some]
    for layer in zip(*(sentence.layers for sentence in some)):
        tags = write_many(layer, lengths, scheme)
        assert not list(validate_many(tags, scheme).rows())


def test_a_form_holds_what_it_is_made_of() -> None:
    town = form("LOC", "Port Venn")
    assert form("ORG", form("ORG", "Bank of", town), "Press") == (
        ("Bank", "of", "Port", "Venn", "Press"),
        ((0, 0, 5, "ORG"), (1, 0, 4, "ORG"), (2, 2, 4, "LOC")),
    )


def test_names_are_made_of_syllables() -> None:
    assert invented(lambda: 0.5, ("moor", "ford")) == "Murdford"
    assert next(generated(5)).opens
