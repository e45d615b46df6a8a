"""How tools do tag jobs, and those of this package."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import spacy_iobes as ours
from spacy_iobes.codes import code_tags

from .corpora import Sentences
from .tools import Tool, Tools

POLICIES = ("begin", "discard", "ncrfpp", "stanza", "nearest")


def each(function: Callable[[Any], Any]) -> Callable[[Sentences], list[Any]]:
    """A function of one sentence as one of many."""
    return lambda sentences: [function(sentence) for sentence in sentences]


def spans_by(span: Callable[[Any], tuple[int, int, str]]) -> Callable[[Any], object]:
    """Compare lists of spans, each read by `span` as (start, end, label)."""
    return lambda output: [[span(item) for item in sentence] for sentence in output]


our_spans = spans_by(tuple)


def our_tools() -> Tools:
    """What this package does."""
    tools: Tools = {f"parse {scheme}": our_parsers(scheme) for scheme in ("bio", "iobes", "bilou")}
    for scheme in ("bio", "iobes"):
        validate = partial(ours.validate_many, scheme=scheme)
        plain = Tool("ours validate_many", validate, legal)
        single = each(partial(ours.validate, scheme=scheme))
        alone = Tool("ours validate, one by one", single, each(lambda found: not found))
        tools[f"validate {scheme}"] = [plain, alone, coded(plain)]
    for scheme in ("iobes", "bilou"):
        convert = partial(ours.convert_many, source="bio", target=scheme)
        plain = Tool("ours convert_many", convert, list)
        single = each(partial(ours.convert, source="bio", target=scheme))
        alone = Tool("ours convert, one by one", single)
        tools[f"convert bio to {scheme}"] = [plain, alone, coded(plain)]
    single = each(partial(ours.repair, scheme="bio", policy="begin"))
    alone = Tool("ours repair, begin, one by one", single, each(lambda found: found.tags))
    tools["repair bio"] = [*map(our_repairer, POLICIES), alone]
    return tools


def our_parsers(scheme: str) -> list[Tool]:
    """All ways to parse, from columns to one sentence at a time."""
    many = partial(ours.parse_many, scheme=scheme)
    columns = Tool("ours parse_many", many, our_spans)
    return [
        columns,
        Tool(
            "ours parse_many, all Spans built", lambda sentences: list(many(sentences)), our_spans
        ),
        Tool("ours parse, one by one", each(partial(ours.parse, scheme=scheme)), our_spans),
        coded(columns),
    ]


def our_repairer(policy: str) -> Tool:
    """Repair under one policy: tags, spans and violations."""
    run = partial(ours.repair_many, scheme="bio", policy=policy)
    return Tool(f"ours repair_many, {policy}", run, lambda output: output.tags)


def coded(tool: Tool) -> Tool:
    """The same tool on integers instead of str."""
    return replace(tool, name=f"{tool.name}, integer codes", prepare=code_tags)


def legal(violations: ours.ViolationColumns) -> list[bool]:
    """Whether each sentence is legal."""
    wrong = set(violations.sentence.tolist())
    return [sentence not in wrong for sentence in range(len(violations))]
