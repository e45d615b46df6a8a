"""The sentences of generated documents: openings, cores and endings with slots.

`{PER}` is a slot, `{PER|ORG}` stands for two sentences, one with each slot, so that what stands
there cannot be told from the words around it. A number before a line says how often it is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from .generated_names import Cast, Form

Pattern = tuple[str | tuple[str, ...], ...]
"""Slots by name, and words between them."""

OPENINGS = """
20
2 on {DAY} ,
2 in {LOC} ,
1 according to {PER|ORG} ,
1 meanwhile
1 after a {WORD} {NOUN} ,
1 in {NUMBER} cases
"""
ENDINGS = """
12 .
1 , {PER} said .
1 , {PER|ORG|LOC} said on {DAY} .
1 , but the {NOUN} may {VERB} .
1 in {NUMBER} .
1 in {TIME} .
1 for {PER|ORG|LOC} .
1 ( {NUMBER} ) .
1 " .
"""
CORES = """
8 {PER} arrived in {LOC} on {DAY}
8 {PER} was born in {LOC} in {TIME}
8 {PER} , a {JOB} at {ORG} , left {LOC} before the {NOUN}
6 {PER|ORG|LOC} declined to {VERB} the {NOUN}
6 {PER|ORG|LOC} will {VERB} its {NOUN} for {NUMBER} crowns
6 the {JOB} of {ORG|LOC} met {PER|ORG} near the {NOUN}
6 they went to {LOC|ORG} by {NOUN}
6 shares of {ORG} rose by {NUMBER} on {DAY}
6 {ORG} hired {PER} as a {JOB} in {TIME}
6 {ORG} and {ORG} will {VERB} a {NOUN} in {LOC}
6 we asked {PER|ORG} about {LOC|PER|ORG}
4 {ORG|LOC} beat {ORG|LOC} by {NUMBER} to {NUMBER}
4 Mr. {SURNAME} told {ORG} that the {NOUN} had {DONE}
4 Dr. {SURNAME} of {ORG} said it was {WORD}
4 the {NOUN} of {PER|LOC|ORG} was {WORD}
4 {LOC} 's {NOUN} has {DONE} since {DAY|TIME}
4 {PER} 's {NOUN} was found in {LOC} by {PER}
4 between {TIME} and {TIME} the {NOUN} had {DONE}
4 {PER} , {PER} and {PER} {DONE} the {NOUN}
4 flights from {LOC} to {LOC} were late
4 {NUMBER} people saw the {NOUN} in {LOC}
4 the {WORD} {NOUN} will {VERB} on {DAY}
2 {PER} ( {ORG} ) won in {LOC} in {TIME}
2 a letter from {PER|ORG|LOC} came {DAY}
2 who is {PER|ORG} and what did {PER|ORG} {VERB} in {LOC}
3 yesterday {PER} told {PER} {PER} had {DONE}
2 outside {LOC} {LOC} has a {WORD} {NOUN}
2 for {ORG} {ORG} was a {WORD} {NOUN}
2 when it left {ORG} {ORG} {DONE} the {NOUN}
6 the {NOUN} of the {NOUN} was {WORD}
6 a {JOB} may {VERB} the {NOUN} or the {NOUN}
4 it is not {WORD} to {VERB} a {NOUN}
4 the {JOB} sold {NUMBER} tonnes of {NOUN} at {NUMBER} crowns
4 {NOUN} and {NOUN} {DONE} again
4 {CAPITAL} {NOUN} and a {WORD} {NOUN} {DONE}
3 that {NOUN} , the {CAPITAL} {NOUN} , was {WORD}
1 the ship {SHIP} left {LOC} on {DAY}
1 {PER} sank with the {SHIP} off {LOC}
"""
WORDS = {
    "NOUN": """
        harbor mill bank bridge march field river castle university court council press hospital
        lantern stone road letter report strike game race storm museum school west bay ferry
        quarry market square society police trust college park company city summer grant hope rose
    """,
    "VERB": "march bank sell buy mark bill visit close open press repair field cross build move",
    "DONE": "closed opened left rose sold bought marked crossed built moved grown failed gone",
    "JOB": "chemist dean captain mayor clerk sailor teacher judge banker miller smith cook driver",
    "WORD": "late small grey frank sandy new bold lower long west good royal quiet dear wet",
    "CAPITAL": "Royal National Grey Summer Old Blue Second Harbor Spring Western Great Bank Stone",
}


def _written(text: str) -> Iterator[Pattern]:
    """Every pattern, as often as it is to be drawn."""
    for line in text.strip().splitlines():
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


PARTS = tuple(tuple(_written(text)) for text in (OPENINGS, CORES, ENDINGS))
"""What a sentence is made of: of each of these lists, one pattern."""
COMMON: Cast = {slot: tuple(Form((w,)) for w in text.split()) for slot, text in WORDS.items()}
"""Words that every document shares."""
