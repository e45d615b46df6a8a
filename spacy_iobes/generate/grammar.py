"""The language of generated documents: their people, places and days, and their sentences.

Its words and patterns are in `data/invented.json`. Every document has a cast of its own: some of
its names are well known, others are made of syllables and stand in no other document. The same
words name people, places and organisations. In patterns, `{PER}` is a slot, `{PER|ORG}` stands for
two sentences, one with each slot, so that what stands there cannot be told from the words around
it. The number before a pattern says how often it is drawn.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

T = TypeVar("T")
Draw = Callable[[], float]
"""Gives numbers from 0 to 1, the only source of chance: its numbers are the same everywhere."""
Pattern = tuple[str | tuple[str, ...], ...]
"""Slots by name, and words between them."""

FRESH = 0.45  # of names are made for their document
FILE = Path(__file__).parents[1] / "data" / "invented.json"
INVENTED: Mapping[str, Any] = json.loads(FILE.read_text(encoding="utf8"))
NAMES: Mapping[str, Sequence[str]] = INVENTED["names"]


class Form(NamedTuple):
    """Words, and the mentions in them: how deep each lies, its start, its end, its label."""

    words: tuple[str, ...]
    mentions: tuple[tuple[int, int, int, str], ...] = ()


Cast = dict[str, tuple[Form, ...]]
"""What may stand in each slot of a sentence."""


def pick(draw: Draw, several: Sequence[T]) -> T:
    """Return one of several things."""
    return several[int(draw() * len(several))]


def word(draw: Draw, kind: str) -> str:
    """Return one of the words of a kind."""
    return pick(draw, NAMES[kind])


def form(label: str, *pieces: str | Form) -> Form:
    """Return a mention made of words and of other mentions, which then lie inside of it."""
    words, inside = list[str](), list[tuple[int, int, int, str]]()
    for piece in pieces:
        if isinstance(piece, str):
            words += piece.split()
        else:
            at = len(words)
            words += piece.words
            inside += [(d + 1, start + at, end + at, other) for d, start, end, other in piece[1]]
    return Form(tuple(words), ((0, 0, len(words), label), *inside))


def invented(draw: Draw, ends: Sequence[str]) -> str:
    """Return a name made of syllables."""
    middle = word(draw, "vowels") + word(draw, "middles") if draw() < 0.4 else ""
    start = word(draw, "onsets") + word(draw, "vowels") + word(draw, "middles")
    return (start + middle + pick(draw, ends)).capitalize()


def name(draw: Draw, known: str, ends: str) -> str:
    """Return a name that is known from other documents, or a new one with one of these ends."""
    return invented(draw, NAMES[ends]) if draw() < FRESH else word(draw, known)


def person(draw: Draw) -> list[Form]:
    """Return how a document names one person: the last of the forms is the surname."""
    given = name(draw, "given", "ends_of_people")
    surname = name(draw, "surnames", "ends_of_people")
    chance = draw()
    if chance < 0.12:
        full = form("PER", given, word(draw, "given"), surname)
    elif chance < 0.2:
        full = form("PER", given, word(draw, "particles"), surname)
    elif chance < 0.3:
        full = form("PER", given[0] + ".", surname)
    elif chance < 0.35:
        full = form("PER", given, f"{surname}-{name(draw, 'surnames', 'ends_of_people')}")
    else:
        full = form("PER", given, surname)
    short = form("PER", given) if chance > 0.85 else full
    return [full, full, short, form("PER", surname)]


def place(draw: Draw, people: Sequence[Form]) -> Form:
    """Return a place; some are named after others, or after people."""
    town = name(draw, "towns", "ends_of_places")
    chance = draw()
    if chance < 0.6:
        return form("LOC", town)
    if chance < 0.7:
        return form("LOC", word(draw, "before_towns"), town)
    if chance < 0.8:
        return form("LOC", town, word(draw, "behind_towns"))
    if chance < 0.86:
        return form("LOC", word(draw, "sides"), form("LOC", town))
    if chance < 0.92:
        return form("LOC", word(draw, "coasts"), form("LOC", town))
    return form("LOC", pick(draw, people), word(draw, "streets"))


def organisation(draw: Draw, people: Sequence[Form], towns: Sequence[Form]) -> list[Form]:
    """Return how a document names one organisation: in full, and perhaps in short."""
    chance = draw()
    where = pick(draw, towns)
    if chance < 0.2:
        firm = name(draw, "firms", "ends_of_firms")
        full = form("ORG", firm, word(draw, "trades")) if chance < 0.12 else form("ORG", firm)
        return [full, form("ORG", firm)]
    if chance < 0.3:
        founder = name(draw, "surnames", "ends_of_people")
        full = form("ORG", form("PER", founder), word(draw, "partners"))
        return [full, form("ORG", founder)]
    if chance < 0.42:
        full = form("ORG", pick(draw, people), word(draw, "causes"))
    elif chance < 0.62:
        full = form("ORG", where, word(draw, "offices"))
    elif chance < 0.76:
        full = form("ORG", word(draw, "bodies"), where)
    elif chance < 0.82:
        town = form("LOC", name(draw, "towns", "ends_of_places"))
        full = form("ORG", "Bank of", where, "in", town)
    elif chance < 0.9:
        college = form("ORG", where, word(draw, "colleges"))
        full = form("ORG", college, word(draw, "of_colleges"))
    else:
        return [form("ORG", where, word(draw, "teams")), _city(where)]
    letters = "".join(word[0] for word in full.words if word[0].isupper())
    return [full, form("ORG", letters)] if len(letters) > 1 else [full]


def _city(where: Form) -> Form:
    """Return a team by the name of its town."""
    return form("ORG", *where.words)


def day(draw: Draw) -> Form:
    """Return a day, on which things happen."""
    year, month = str(1840 + int(draw() * 200)), word(draw, "months")
    number, chance = 1 + int(draw() * 28), draw()
    if chance < 0.25:
        return form("DATE", str(number), month, year)
    if chance < 0.4:
        return form("DATE", month, str(number))
    if chance < 0.5:
        return form("DATE", f"{year}-{1 + int(draw() * 12):02}-{number:02}")
    if chance < 0.6:
        return form("DATE", word(draw, "weekdays"), ",", str(number), month)
    return form("DATE", word(draw, "weekdays"))


def time(draw: Draw) -> Form:
    """Return a month, a season or a year, in which things happen."""
    year, chance = str(1840 + int(draw() * 200)), draw()
    if chance < 0.3:
        return form("DATE", word(draw, "months"))
    if chance < 0.5:
        return form("DATE", word(draw, "months"), year)
    if chance < 0.65:
        return form("DATE", "the", word(draw, "seasons"), "of", form("DATE", year))
    return form("DATE", year)


def ship(draw: Draw, people: Sequence[Form]) -> Form:
    """Return a ship; some are named after people."""
    if draw() < 0.3:
        return form("SHIP", word(draw, "ranks"), pick(draw, people))
    return form("SHIP", name(draw, "ships", "ends_of_places"))


def amount(draw: Draw) -> Form:
    """Return a number or a sum, which is no mention, though it may look like a year."""
    number, chance = 1 + int(draw() * 99), draw()
    if chance < 0.3:
        return Form((str(1840 + int(draw() * 200)),))
    if chance < 0.5:
        return Form((f"{number},{int(draw() * 1000):03}",))
    if chance < 0.6:
        return Form((f"{number / 10}", "million"))
    return Form((str(number),))


def cast(draw: Draw) -> Cast:
    """Return who and what one document is about."""
    folk = [person(draw) for _ in range(5)]
    people = tuple(each for forms in folk for each in forms)
    places = tuple(place(draw, people) for _ in range(5))
    towns = [each for each in places if len(each.mentions) == 1] or [
        form("LOC", word(draw, "towns"))
    ]
    bodies = [organisation(draw, people, towns) for _ in range(4)]
    return {
        "PER": people,
        "SURNAME": tuple(forms[-1] for forms in folk),
        "LOC": places,
        "ORG": tuple(each for forms in bodies for each in forms),
        "DAY": tuple(day(draw) for _ in range(3)),
        "TIME": tuple(time(draw) for _ in range(3)),
        "SHIP": (ship(draw, people),),
        "NUMBER": tuple(amount(draw) for _ in range(5)),
    }


def _written(lines: Sequence[str]) -> Iterator[Pattern]:
    """Yield every pattern, as often as it is to be drawn."""
    for line in lines:
        times, _, rest = line.partition(" ")
        choices = [w[1:-1].split("|") if w.startswith("{") else [""] for w in rest.split()]
        every = [_pattern(rest.split(), slots) for slots in product(*choices)]
        for number in range(max(int(times), len(every))):
            yield every[number % len(every)]


def _pattern(words: list[str], slots: tuple[str, ...]) -> Pattern:
    parts = list[str | tuple[str, ...]]()
    between = list[str]()
    for word, slot in zip(words, slots):
        if slot:
            parts += [tuple(between), slot] if between else [slot]
            between = []
        else:
            between.append(word)
    return (*parts, tuple(between)) if between else tuple(parts)


PARTS = tuple(tuple(_written(lines)) for lines in INVENTED["patterns"].values())
"""What a sentence is made of: of openings, cores and endings, one pattern each."""
COMMON: Cast = {
    slot: tuple(Form((word,)) for word in words) for slot, words in INVENTED["words"].items()
}
"""Words that every document shares."""
