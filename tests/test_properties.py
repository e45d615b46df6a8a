"""What must hold for all input: identities between the verbs."""

from __future__ import annotations

from hypothesis import assume, given
from hypothesis import strategies as st

from spacy_iobes import (
    CodedTags,
    convert,
    convert_many,
    parse,
    parse_many,
    repair,
    repair_many,
    validate,
    validate_many,
    write,
    write_many,
)

from . import by_hand, strategies

NAMES = {"X": "Z-1", "Y": "O-", "creative-work": "B", "B-side": "", "O": "I-X", "": "Y"}


def rename(tags: list[str]) -> list[str]:
    """The same tags with every label replaced by another one."""
    parts = [tag.partition("-") for tag in tags]
    return [p if p == "O" else by_hand.tag(p, NAMES[label]) for p, _, label in parts]


@given(st.data(), strategies.schemes)
def test_what_is_written_is_read_again(data: st.DataObject, scheme: str) -> None:
    spans, length = data.draw(strategies.spans(scheme))
    shuffled = data.draw(st.permutations(spans))
    tags = write(shuffled, length, scheme)
    assert len(tags) == length
    assert tuple(tags) == by_hand.encode(spans, length, scheme)
    assert validate(tags, scheme) == []
    assert parse(tags, scheme) == spans


@given(st.data(), strategies.schemes)
def test_many_are_written_as_one_by_one(data: st.DataObject, scheme: str) -> None:
    drawn = data.draw(st.lists(strategies.spans(scheme), max_size=5))
    spans, lengths = [spans for spans, _ in drawn], [length for _, length in drawn]
    tags = write_many(spans, lengths, scheme)
    assert tags == [write(row, length, scheme) for row, length in drawn]
    assert write_many(parse_many(tags, scheme), lengths, scheme) == tags


@given(st.data(), strategies.schemes, strategies.schemes)
def test_there_and_back(data: st.DataObject, source: str, target: str) -> None:
    spans, length = data.draw(strategies.spans(source))
    assume(by_hand.expressible(spans, target))
    tags = list(by_hand.encode(spans, length, source))
    assert convert(convert(tags, source, target), target, source) == tags


@given(st.data(), strategies.schemes, strategies.repairs)
def test_what_is_repaired_stays_as_it_is(data: st.DataObject, scheme: str, policy: str) -> None:
    tags = data.draw(strategies.sentences(scheme))
    once = repair(tags, scheme, policy)
    again = repair(once.tags, scheme, policy)
    assert (again.tags, again.spans, again.violations) == (once.tags, once.spans, [])
    assert once.violations == validate(tags, scheme)
    assert once.spans == parse(tags, scheme, policy) == parse(once.tags, scheme)
    if not once.violations:
        assert once.tags == tags


@given(st.data(), strategies.schemes)
def test_begin_loses_no_token_and_adds_none(data: st.DataObject, scheme: str) -> None:
    tags = data.draw(strategies.sentences(scheme))
    spans = parse(tags, scheme, "begin")
    covered = [i for start, end, _ in spans for i in range(start, end)]
    said = by_hand.spoken(tags, scheme)
    inside = [i for i, tag in enumerate(said) if tag.partition("-")[0] in by_hand.ROLES]
    assert covered == inside
    assert all(said[i].partition("-")[2] == label for s, e, label in spans for i in range(s, e))


@given(st.data(), strategies.schemes, strategies.repairs)
def test_many_are_read_as_one_by_one(data: st.DataObject, scheme: str, policy: str) -> None:
    corpus = data.draw(strategies.corpora(scheme))
    assert list(parse_many(corpus, scheme, policy)) == [parse(t, scheme, policy) for t in corpus]
    assert list(validate_many(corpus, scheme)) == [validate(t, scheme) for t in corpus]
    tags, spans, violations = repair_many(corpus, scheme, policy)
    one_by_one = [repair(t, scheme, policy) for t in corpus]
    assert list(zip(tags, spans, violations)) == one_by_one
    target = "bio" if scheme != "bio" else "iobes"
    expected = [convert(t, scheme, target, policy) for t in corpus]
    assert convert_many(corpus, scheme, target, policy) == expected


@given(st.data(), strategies.schemes, strategies.repairs)
def test_codes_are_read_as_lists(data: st.DataObject, scheme: str, policy: str) -> None:
    corpus = data.draw(strategies.corpora(scheme))
    names = data.draw(st.permutations(by_hand.all_tags(scheme, strategies.LABELS)))
    codes = [names.index(tag) for tags in corpus for tag in tags]
    coded = CodedTags.from_lengths(codes, [len(tags) for tags in corpus], names)
    assert coded.lists() == corpus
    assert list(parse_many(coded, scheme, policy)) == list(parse_many(corpus, scheme, policy))
    assert list(repair_many(coded, scheme, policy).tags) == repair_many(corpus, scheme, policy).tags


@given(st.data(), strategies.schemes, strategies.schemes, strategies.repairs)
def test_names_of_labels_do_not_matter(
    data: st.DataObject, source: str, target: str, policy: str
) -> None:
    tags = data.draw(strategies.sentences(source))
    assume(by_hand.expressible(parse(tags, source, policy), target))
    renamed = convert(rename(tags), source, target, policy)
    assert renamed == rename(convert(tags, source, target, policy))


@given(st.data(), strategies.schemes, strategies.repairs)
def test_an_outside_token_keeps_neighbours_apart(
    data: st.DataObject, scheme: str, policy: str
) -> None:
    """Policies that judge gap by gap read two sentences with O between them like each alone."""
    assume(policy not in ("nearest", "ncrfpp"))  # these look across an O
    assume(scheme != "be")  # and so does all of this scheme
    a, b = (data.draw(strategies.sentences(scheme)) for _ in range(2))
    behind = len(a) + 1
    expected = [
        *parse(a, scheme, policy),
        *((start + behind, end + behind, label) for start, end, label in parse(b, scheme, policy)),
    ]
    assert parse([*a, "O", *b], scheme, policy) == expected
