"""What the span groups of references say about the tokens of the predicted Docs."""

from __future__ import annotations

from collections.abc import Iterable

from spacy.tokens import Doc
from spacy.training import Example

from ..codes.known import KnownColumns, KnownSentence, columns_known
from ..codes.violation import MISSING
from ..errors import SpanError
from ..span import Span
from .examples import same_tokens
from .gold import Misaligned, Projection, findable
from .layers import LAYER_MISSING, group_layers
from .sources import group_spans, shown


def mentions_of(
    examples: Iterable[Example],
    key: str,
    misaligned: Misaligned = "raise",
    sentence_bound: bool = False,
    missing_key: str | None = None,
) -> KnownColumns:
    """The mentions of the references, `reference.spans[key]`, as spans of the predicted Docs.

    Nothing is known of a reference that has no such group, nor of tokens in the spans of another
    group, `missing_key`. What no recogniser could find is refused or missing, as with entities.
    """
    found, lengths = [], []
    for example in examples:
        known = known_of(example.reference, key, missing_key)
        if not same_tokens(example.reference, example.predicted):
            known = Projection(example.reference, example.predicted, misaligned).known(known)
        found.append(findable(known, example.predicted, misaligned, sentence_bound))
        lengths.append(len(example.predicted))
    return columns_known(found, lengths)


def known_of(doc: Doc, key: str, missing_key: str | None = None) -> KnownSentence:
    """Return the mentions of a Doc, each once, and the tokens that are not annotated."""
    missing = missing_of(doc, key, missing_key)
    if key not in doc.spans:
        return KnownSentence([], missing)
    return KnownSentence(sorted(set(require_mentions(doc, key, shown(doc)))), missing)


def missing_of(doc: Doc, key: str, missing_key: str | None = None) -> list[int]:
    """Return the tokens of which a span group says nothing, in order.

    These are all tokens of a Doc without the group, those that the attributes of the group list as
    missing in a layer, and those in the spans of another group, `missing_key`.
    """
    if key not in doc.spans:
        return list(range(len(doc)))
    holes = () if missing_key is None else doc.spans.get(missing_key, ())
    tokens = {token for span in holes for token in range(span.start, span.end)}
    if LAYER_MISSING in doc.spans[key].attrs:
        _, absent = group_layers(doc, key)
        tokens.update(index for _, index, tag in absent if tag == MISSING)
    return sorted(tokens)


def require_mentions(doc: Doc, key: str, place: str) -> list[Span]:
    """The spans of a group, each of which must have tokens and a label; `place` names the Doc."""
    spans = group_spans(doc, key)
    for span in spans:
        if not span.label or span.start >= span.end:
            what, advice = "has no label", "Give it one, or leave it out."
            if span.start >= span.end:
                what, advice = "has no tokens", "Remove it from the group."
            text = doc[span.start : span.end].text
            raise SpanError(
                f"{place}: the span {span.start}:{span.end} ({text!r}) in spans[{key!r}] {what}. "
                f"{advice}",
                [span],
            )
    return spans
