"""What to read next: sentences chosen by rank, and some drawn at random as an audit."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence, Set
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import SettingError
from ..names import known_name
from .pool import Pool
from .ranking import get_ranking
from .settings import Start
from .view import View

if TYPE_CHECKING:
    from .reading import Reading


class Batch(NamedTuple):
    """`sentences` to read, in this order; those of them in `audit` were drawn at random.

    `promoted` are audited sentences of before that the ranking chooses now: they need not be read
    again, and are learned from. `expected` has what the model expects of each of the sentences.
    """

    sentences: tuple[int, ...]
    audit: tuple[int, ...] = ()
    promoted: tuple[int, ...] = ()
    expected: tuple[float, ...] = ()


def first_batch(
    pool: Pool,
    size: int,
    share: float = 0.0,
    seed: int = 0,
    start: str = "first",
    words: Sequence[str] = (),
    done: Set[int] = frozenset(),
) -> Batch:
    """What to read when nothing is known but, perhaps, what is `done`.

    The `first` sentences, `random` ones, or those with one of the `words` (without regard to case;
    the first ones with the most of them, then the first others).
    """
    _require(size, share)
    known_name("start", start, Start)
    if bool(words) != (start == "words"):
        raise SettingError("Words to begin with go with the start 'words', which needs some.")
    random = np.random.default_rng([seed, 0])
    order = np.arange(len(pool))
    if start == "random":
        order = random.permutation(order)
    elif start == "words":
        order = np.argsort(-_hits(pool, words), kind="stable")
    unread = [sentence for sentence in order.tolist() if sentence not in done]
    return _batch(unread, set(), None, size, share, random)


def next_batch(
    view: View,
    reading: Reading,
    skipped: Collection[int],
    size: int,
    share: float,
    seed: int,
    number: int,
    ranking: str = "expected",
) -> Batch:
    """What to read when a model has learned; the same for the same arguments.

    While no mention was found, a model knows nothing, and sentences are drawn at random.
    """
    _require(size, share)
    random = np.random.default_rng([seed, number])
    rule = get_ranking(ranking if reading.mentions else "random")
    order = np.argsort(-rule.values(view, random), kind="stable")
    chosen = (reading.read - reading.audit) | set(skipped)
    unchosen = [sentence for sentence in order.tolist() if sentence not in chosen]
    return _batch(unchosen, reading.audit & reading.read, view, size, share, random)


def _batch(
    ranked: Sequence[int],
    audited: Set[int],
    view: View | None,
    size: int,
    share: float,
    random: np.random.Generator,
) -> Batch:
    """The first sentences of an order, and an audit of the rest; nothing is read twice."""
    wanted = size - round(size * share)
    taken, promoted, rest = list[int](), list[int](), list[int]()
    for sentence in ranked:
        if len(taken) == wanted:
            if sentence not in audited:
                rest.append(sentence)
        else:
            (promoted if sentence in audited else taken).append(sentence)
    count = min(size - wanted, len(rest))
    audit = random.choice(np.sort(rest), count, replace=False).tolist() if count else []
    mixed = list(taken)
    for sentence, place in zip(audit, np.sort(random.integers(0, len(taken) + 1, count)).tolist()):
        mixed.insert(place, sentence)
    expected = () if view is None else tuple(float(view.expected[sentence]) for sentence in mixed)
    return Batch(tuple(mixed), tuple(sorted(audit)), tuple(sorted(promoted)), expected)


def _hits(pool: Pool, words: Sequence[str]) -> NDArray[np.int64]:
    """How many of the words are in each sentence; a word may be several tokens."""
    patterns = [re.compile(rf"(?<!\w){re.escape(word.lower())}(?!\w)") for word in words]
    hits = np.zeros(len(pool), dtype=np.int64)
    for sentence in range(len(pool)):
        texts, spaces = pool.words(sentence)
        text = "".join(t + " " * s for t, s in zip(texts, spaces)).lower()
        hits[sentence] = sum(bool(pattern.search(text)) for pattern in patterns)
    return hits


def _require(size: int, share: float) -> None:
    if size < 1 or not 0 <= share < 1:
        raise SettingError(
            f"A batch has at least 1 sentence, and a share from 0 to below 1 of it is audited: not "
            f"{size} and {share}."
        )
