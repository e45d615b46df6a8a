"""Invented people, places, organisations, ships and days, for generated documents.

Every document has a cast of its own: some of its names are well known, others are made of syllables
and stand in no other document. The same words name people, places and organisations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

T = TypeVar("T")
Draw = Callable[[], float]
"""Gives numbers from 0 to 1, the only source of chance: its numbers are the same everywhere."""

FRESH = 0.45  # of names are made for their document


def listed(words: str) -> tuple[str, ...]:
    """Words with spaces between them."""
    return tuple(words.split())


GIVEN = listed(
    """
    Ilsa Doran Mirel Tavin Orla Besk Jorun Petra Anwen Kasimir Lioba Edda Rurik Sunniva
    Tamsin Ottilie Rose Mark Grant Hope Will Bill May June April Frank Miles Grace Dean
    Faith Sandy
    """
)
SURNAMES = listed(
    """
    Tarnell Orrick Quillan Brannoch Sorrel Venn Calderwick Hask Odmar Ravelin Thessen
    Umbrell Pell Marrowell Lockett Fenwold Harbor March Ferry Lantern Market Bay Quarry Millrace
    """
)
TOWNS = listed(
    """
    Aldermoor Westmarch Saltmere Tarnell Orrick Brannoch Venn Calderwick Hask Odmar Ravelin
    Fenwold Eastfold Grimsell Lockett Northwold Ostwick Penhallen Quarrow Sorrel
    """
)
FIRMS = listed(
    """
    Tarnell Orrick Venn Pell Sorrel Ravelin Quillan Anvil Beacon Meridian Compass Harbor
    Summit Northwold Lantern Keystone Westmarch Saltmere
    """
)
SHIPS = ("Morning Star", "Grey Heron", "Venn", "Westmarch", "Good Hope", "Tarnell", "Lantern")
ONSETS = listed("b br c cr d dr f g gl h j k kr l m n p pr qu r s sk st t th tr v w z")
VOWELS = ("a", "e", "i", "o", "u", "ae", "ei", "é", "ö")
MIDDLES = listed("l ld lm n nd nn r rd rl rr s sk t v x")
ENDS_OF_PEOPLE = listed("en er ick an ell son ov ari ing old ward ett is wick")
ENDS_OF_PLACES = listed("moor mere ford wick ton stead ell ia old haven ward by en")
ENDS_OF_FIRMS = listed("ex tec on en ell ia or ick is um an")
MONTHS = listed(
    """
    January February March April May June July August September October November December
    """
)
WEEKDAYS = listed("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")
SEASONS = ("spring", "summer", "autumn", "winter")
TRADES = (
    "Shipping",
    "Mills",
    "Motors",
    "Press",
    "Foods",
    "Bank",
    "Glass",
    "Timber",
    "Rail",
    "Energy",
)
OFFICES = (
    "Port Authority",
    "City Council",
    "Chamber of Commerce",
    "Water Board",
    "Court",
    "Police",
)
CAUSES = ("Foundation", "Institute", "Trust", "Prize Committee", "Society", "School")


class Form(NamedTuple):
    """Words, and the mentions in them: how deep each lies, its start, its end, its label."""

    words: tuple[str, ...]
    mentions: tuple[tuple[int, int, int, str], ...] = ()


Cast = dict[str, tuple[Form, ...]]
"""What may stand in each slot of a sentence."""


def pick(draw: Draw, several: Sequence[T]) -> T:
    """One of several things."""
    return several[int(draw() * len(several))]


def form(label: str, *pieces: str | Form) -> Form:
    """A mention made of words and of other mentions, which then lie inside of it."""
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
    """A name made of syllables."""
    middle = pick(draw, VOWELS) + pick(draw, MIDDLES) if draw() < 0.4 else ""
    start = pick(draw, ONSETS) + pick(draw, VOWELS) + pick(draw, MIDDLES)
    return (start + middle + pick(draw, ends)).capitalize()


def name(draw: Draw, known: Sequence[str], ends: Sequence[str]) -> str:
    """A name that is known from other documents, or a new one."""
    return invented(draw, ends) if draw() < FRESH else pick(draw, known)


def person(draw: Draw) -> list[Form]:
    """How a document names one person: the last of the forms is the surname."""
    given = name(draw, GIVEN, ENDS_OF_PEOPLE)
    surname = name(draw, SURNAMES, ENDS_OF_PEOPLE)
    chance = draw()
    if chance < 0.12:
        full = form("PER", given, pick(draw, GIVEN), surname)
    elif chance < 0.2:
        full = form("PER", given, pick(draw, ("van", "of", "de la")), surname)
    elif chance < 0.3:
        full = form("PER", given[0] + ".", surname)
    elif chance < 0.35:
        full = form("PER", given, f"{surname}-{name(draw, SURNAMES, ENDS_OF_PEOPLE)}")
    else:
        full = form("PER", given, surname)
    short = form("PER", given) if chance > 0.85 else full
    return [full, full, short, form("PER", surname)]


def place(draw: Draw, people: Sequence[Form]) -> Form:
    """A place; some are named after others, or after people."""
    town = name(draw, TOWNS, ENDS_OF_PLACES)
    chance = draw()
    if chance < 0.6:
        return form("LOC", town)
    if chance < 0.7:
        return form("LOC", pick(draw, ("Port", "New", "Mount", "Saint", "Lake")), town)
    if chance < 0.8:
        return form("LOC", town, pick(draw, ("Mills", "Bridge", "Bay", "Harbor", "Ferry")))
    if chance < 0.86:
        return form("LOC", pick(draw, ("Lower", "Upper", "West")), form("LOC", town))
    if chance < 0.92:
        return form("LOC", pick(draw, ("Port of", "Gulf of", "Isle of")), form("LOC", town))
    return form("LOC", pick(draw, people), pick(draw, ("Square", "Street", "Park")))


def organisation(draw: Draw, people: Sequence[Form], towns: Sequence[Form]) -> list[Form]:
    """How a document names one organisation: in full, and perhaps in short."""
    chance = draw()
    where = pick(draw, towns)
    if chance < 0.2:
        firm = name(draw, FIRMS, ENDS_OF_FIRMS)
        full = form("ORG", firm, pick(draw, TRADES)) if chance < 0.12 else form("ORG", firm)
        return [full, form("ORG", firm)]
    if chance < 0.3:
        founder = name(draw, SURNAMES, ENDS_OF_PEOPLE)
        full = form("ORG", form("PER", founder), pick(draw, ("& Sons", "Brothers", "& Co.")))
        return [full, form("ORG", founder)]
    if chance < 0.42:
        full = form("ORG", pick(draw, people), pick(draw, CAUSES))
    elif chance < 0.62:
        full = form("ORG", where, pick(draw, OFFICES))
    elif chance < 0.76:
        full = form("ORG", pick(draw, ("University of", "Bank of", "Museum of")), where)
    elif chance < 0.82:
        town = form("LOC", name(draw, TOWNS, ENDS_OF_PLACES))
        full = form("ORG", "Bank of", where, "in", town)
    elif chance < 0.9:
        college = form("ORG", where, pick(draw, ("University", "College")))
        full = form("ORG", college, pick(draw, ("Hospital", "Press", "Library")))
    else:
        return [form("ORG", where, pick(draw, ("United", "Rovers", "Athletic"))), _city(where)]
    letters = "".join(word[0] for word in full.words if word[0].isupper())
    return [full, form("ORG", letters)] if len(letters) > 1 else [full]


def _city(where: Form) -> Form:
    """A team by the name of its town."""
    return form("ORG", *where.words)


def day(draw: Draw) -> Form:
    """A day, on which things happen."""
    year, month = str(1840 + int(draw() * 200)), pick(draw, MONTHS)
    number, chance = 1 + int(draw() * 28), draw()
    if chance < 0.25:
        return form("DATE", str(number), month, year)
    if chance < 0.4:
        return form("DATE", month, str(number))
    if chance < 0.5:
        return form("DATE", f"{year}-{1 + int(draw() * 12):02}-{number:02}")
    if chance < 0.6:
        return form("DATE", pick(draw, WEEKDAYS), ",", str(number), month)
    return form("DATE", pick(draw, WEEKDAYS))


def time(draw: Draw) -> Form:
    """A month, a season or a year, in which things happen."""
    year, chance = str(1840 + int(draw() * 200)), draw()
    if chance < 0.3:
        return form("DATE", pick(draw, MONTHS))
    if chance < 0.5:
        return form("DATE", pick(draw, MONTHS), year)
    if chance < 0.65:
        return form("DATE", "the", pick(draw, SEASONS), "of", form("DATE", year))
    return form("DATE", year)


def ship(draw: Draw, people: Sequence[Form]) -> Form:
    """A ship; some are named after people."""
    if draw() < 0.3:
        return form("SHIP", pick(draw, ("Lady", "Captain", "Queen")), pick(draw, people))
    return form("SHIP", name(draw, SHIPS, ENDS_OF_PLACES))


def amount(draw: Draw) -> Form:
    """A number or a sum, which is no mention, though it may look like a year."""
    number, chance = 1 + int(draw() * 99), draw()
    if chance < 0.3:
        return Form((str(1840 + int(draw() * 200)),))
    if chance < 0.5:
        return Form((f"{number},{int(draw() * 1000):03}",))
    if chance < 0.6:
        return Form((f"{number / 10}", "million"))
    return Form((str(number),))


def cast(draw: Draw) -> Cast:
    """Who and what one document is about."""
    folk = [person(draw) for _ in range(5)]
    people = tuple(each for forms in folk for each in forms)
    places = tuple(place(draw, people) for _ in range(5))
    towns = [each for each in places if len(each.mentions) == 1] or [form("LOC", pick(draw, TOWNS))]
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
