"""The packages that do tag jobs beside ours, as far as they are installed."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from .tag_tools import each, our_tools, spans_by
from .tools import Tool, Tools


def iobes_tools() -> Tools:
    """The iobes package."""
    from iobes import convert, parse

    logging.getLogger("iobes").setLevel(logging.CRITICAL)  # it reports each violation
    spans = spans_by(lambda span: (span.start, span.end, span.type))

    def tool(module: Any, name: str, compared: Callable[[Any], object]) -> list[Tool]:
        return [Tool(f"iobes {name}", each(getattr(module, name)), compared, peer="iobes")]

    return {
        "parse bio": tool(parse, "parse_spans_bio", spans),
        "parse iobes": tool(parse, "parse_spans_iobes", spans),
        "parse bilou": tool(parse, "parse_spans_bilou", spans),
        "validate bio": tool(parse, "validate_tags_bio", list),
        "validate iobes": tool(parse, "validate_tags_iobes", list),
        "convert bio to iobes": tool(convert, "bio_to_iobes", list),
        "convert bio to bilou": tool(convert, "bio_to_bilou", list),
    }


def seqeval_tools() -> Tools:
    """The seqeval package: its lenient reader and its strict one."""
    from seqeval.metrics.sequence_labeling import get_entities
    from seqeval.scheme import IOB2, IOBES, Entities

    lenient = Tool(
        "seqeval get_entities",
        each(get_entities),
        spans_by(lambda entity: (entity[1], entity[2] + 1, entity[0])),
    )

    def strict(scheme: Any) -> Tool:
        return Tool(
            f"seqeval strict Entities, {scheme.__name__}",
            lambda sentences: Entities(sentences, scheme).entities,
            spans_by(lambda entity: (entity.start, entity.end, entity.tag)),
        )

    return {"parse bio": [lenient, strict(IOB2)], "parse iobes": [lenient, strict(IOBES)]}


def seqscore_tools() -> Tools:
    """The seqscore package."""
    from seqscore.encoding import get_encoding
    from seqscore.validation import validate_labels

    bio, bioes, bilou = map(get_encoding, ("BIO", "BIOES", "BILOU"))
    spans = spans_by(lambda mention: (mention.span.start, mention.span.end, mention.type))

    def parse(encoding: Any) -> list[Tool]:
        return [Tool("seqscore decode_labels", each(encoding.decode_labels), spans)]

    def validate(encoding: Any) -> list[Tool]:
        run = each(lambda tags: validate_labels(tags, encoding))
        return [Tool("seqscore validate_labels", run, each(lambda result: result.is_valid()))]

    def convert(target: Any) -> list[Tool]:
        run = each(lambda tags: target.encode_mentions(bio.decode_labels(tags), len(tags)))
        return [Tool("seqscore encode(decode)", run)]

    def repair(method: str) -> Tool:
        run = each(lambda tags: bio.repair_labels(tags, method))
        return Tool(f"seqscore repair_labels, {method}", run, peer=f"seqscore {method}")

    return {
        "parse bio": parse(bio),
        "parse iobes": parse(bioes),
        "parse bilou": parse(bilou),
        "validate bio": validate(bio),
        "validate iobes": validate(bioes),
        "convert bio to iobes": convert(bioes),
        "convert bio to bilou": convert(bilou),
        "repair bio": [repair("conlleval"), repair("discard")],
    }


def spacy_tools() -> Tools:
    """What spaCy has for tags: BILUO only."""
    from spacy.training.iob_utils import iob_to_biluo, tags_to_entities

    spans = spans_by(lambda entity: (entity[1], entity[2] + 1, entity[0]))
    return {
        "parse bilou": [
            Tool("spaCy tags_to_entities", each(tags_to_entities), spans, peer="spaCy")
        ],
        "convert bio to bilou": [Tool("spaCy iob_to_biluo", each(iob_to_biluo), peer="spaCy")],
    }


SOURCES: dict[str, Callable[[], Tools]] = {
    "spacy-iobes": our_tools,
    "iobes": iobes_tools,
    "seqeval": seqeval_tools,
    "seqscore": seqscore_tools,
    "spacy": spacy_tools,
}
