"""A span group of Docs as columns of tags in a chosen order, and what the columns cannot hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from spacy.tokens import Doc

from ..codes.scheme import Scheme
from ..errors import AlignmentError, InexpressibleError, SpanError
from ..span import Span
from .doc_columns import DocFile, TagColumns
from .findings import Finding, finding_lines
from .layers import ABSENT_TAGS, Order, arranged, fitting, group_layers, misfit_of, tags_of
from .sources import group_spans


@dataclass(frozen=True)
class Arrangement:
    """In which order spans go to how many columns; with `lossy`, what does not fit is left out."""

    order: Order = "group"
    count: int | None = None
    lossy: bool = False


class LayeredColumns(NamedTuple):
    """The tags of each Doc, the labels of the columns (if each has one), and what is left out."""

    columns: list[TagColumns]
    labels: tuple[str, ...]
    findings: list[Finding]


def layered_columns(file: DocFile, key: str, scheme: Scheme, how: Arrangement) -> LayeredColumns:
    """The spans of a group of each Doc as tags; raises for what does not fit unless lossy."""
    file.require_group(key)
    labels = tuple(sorted({span.label for doc in file.docs for span in group_spans(doc, key)}))
    if how.order == "label" and how.count is not None and how.count != len(labels):
        message = f"{file.name}: one column for each label is {len(labels)} columns"
        raise InexpressibleError(f"{message}, not {how.count}.")
    columns, findings = list[TagColumns](), list[Finding]()
    for number, (doc, bounds) in enumerate(zip(file.docs, file.bounds())):
        place = f"{file.name}, Doc {number}"
        try:
            made, left_out = _of_doc(doc, key, scheme, bounds, labels, how)
        except SpanError as error:
            message = f"{place}, spans[{key!r}]: {error}"
            raise type(error)(message, error.spans) from error
        except AlignmentError as error:
            raise AlignmentError(f"{place}, spans[{key!r}]: {error}") from error
        columns.append(made)
        findings += (_finding(kind, span, doc, place) for kind, span in left_out)
    if findings and not how.lossy:
        raise _refusal(findings)
    return LayeredColumns(_filled(file.docs, columns), labels, findings)


def strict_columns(
    file: DocFile, key: str, scheme: Scheme, count: int | None = None
) -> list[TagColumns]:
    """The same in the order of the group; an error says how many other spans do not fit either."""
    try:
        return file.group_columns(key, scheme, count)
    except SpanError as error:
        how = Arrangement(count=count, lossy=True)
        lost = finding_lines(layered_columns(file, key, scheme, how).findings)
        advice = f" In all: {'; '.join(lost)}. --lossy leaves them out." if lost else ""
        raise type(error)(f"{error}{advice}", error.spans) from error


def _of_doc(
    doc: Doc,
    key: str,
    scheme: Scheme,
    bounds: list[int],
    labels: Sequence[str],
    how: Arrangement,
) -> tuple[TagColumns, list[tuple[str, Span]]]:
    layers, absent = group_layers(doc, key)
    misfits = list[tuple[str, Span]]()
    if how.order != "group":
        if absent:
            names = " and ".join(ABSENT_TAGS)
            raise AlignmentError(
                f"tokens without a tag ({names}) belong to layers of the group: write it in the "
                "order of the group (--order group)."
            )
        found = [(misfit_of(span, bounds), span) for span in group_spans(doc, key)]
        layers = arranged([span for kind, span in found if not kind], how.order, labels)
        misfits = [(kind, span) for kind, span in found if kind]
    kept, left_out = fitting(layers, bounds, how.count)
    left_out = sorted(misfits + left_out, key=lambda found: found[1])
    columns = [tags_of(spans, scheme, bounds) for spans in kept]
    columns += [["O"] * len(doc) for _ in range((how.count or 1) - len(columns))]
    for number, index, tag in absent:
        if number < len(columns):
            columns[number][index] = tag
    return columns, left_out


def _filled(docs: Sequence[Doc], columns: list[TagColumns]) -> list[TagColumns]:
    """As many columns for every Doc as the deepest needs."""
    widest = max(map(len, columns), default=1)
    return [
        [*some, *(["O"] * len(doc) for _ in range(widest - len(some)))]
        for doc, some in zip(docs, columns)
    ]


def _finding(kind: str, span: Span, doc: Doc, place: str) -> Finding:
    text = " ".join(token.text for token in doc[span.start : span.end])
    return Finding(kind, f"{place}, token {span.start}", 0, span.label, ((*span[:2], text),))


def _refusal(findings: Sequence[Finding]) -> InexpressibleError:
    """Every kind of what does not fit: how many, and the first."""
    spans = [Span(*found.gone[0][:2], found.label) for found in findings]
    return InexpressibleError(
        f"{'; '.join(finding_lines(findings))}. Choose more columns, another order or a format of "
        "offsets, or leave them out (--lossy).",
        spans,
    )
