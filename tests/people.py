"""Column files about people in places, which a recogniser learns in no time."""

from __future__ import annotations

import random
from pathlib import Path

from spacy_iobes import convert

PEOPLE = ("Ada Lovelace", "Grace", "Wangari Muta Maathai", "Charles Babbage")
PLACES = ("New York", "Kisumu", "Rio de Janeiro", "Nairobi")
Rows = list[tuple[str, str]]


def sentences(count: int, seed: int = 0) -> list[Rows]:
    """Words with their tags in bio."""
    choose = random.Random(seed)
    found = []
    for _ in range(count):
        rows = [("Then", "O")] * choose.randint(0, 1)
        for text, label in ((choose.choice(PEOPLE), "PER"), (choose.choice(PLACES), "LOC")):
            words = text.split()
            rows += [(word, f"{'I' if i else 'B'}-{label}") for i, word in enumerate(words)]
            rows.append((choose.choice(["visited", "saw", "."]), "O"))
        found.append(rows)
    return found


def column_file(path: Path, count: int, seed: int = 0, scheme: str = "bio") -> Path:
    """Write them to a file."""
    blocks = []
    for rows in sentences(count, seed):
        words, tags = zip(*rows)
        pairs = zip(words, convert(list(tags), "bio", scheme))
        blocks.append("".join(f"{word} {tag}\n" for word, tag in pairs))
    path.write_text("\n".join(blocks), encoding="utf8")
    return path
