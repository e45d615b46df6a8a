"""Schemes and policies are found by name or alias, or refused with the list of those there are."""

from __future__ import annotations

import pytest

from spacy_iobes import POLICIES, SCHEMES, convert, parse, repair, validate, write
from spacy_iobes.codes import get_policy, get_scheme
from spacy_iobes.errors import IobesError, UnknownNameError

SCHEME_NAMES = [
    "io",
    "iob1",
    "bio",
    "ioe1",
    "ioe2",
    "iobes",
    "bilou",
    "bmewo",
    "bmes",
    "bie",
    "bia",
    "be",
]
SCHEME_ALIASES = {
    "triv": "io",
    "iob2": "bio",
    "bioes": "iobes",
    "biluo": "bilou",
    "bmeow": "bmewo",
    "bmeso": "bmes",
}
POLICY_NAMES = ["raise", "begin", "discard", "ncrfpp", "stanza", "nearest"]
POLICY_ALIASES = {"none": "raise", "conlleval": "begin", "strict": "discard"}


def spellings(name: str) -> list[str]:
    return [name, name.upper(), name.title(), f" {name}\n"]


def test_the_names() -> None:
    assert list(SCHEMES) == SCHEME_NAMES
    assert list(POLICIES) == POLICY_NAMES
    assert [scheme.name for scheme in SCHEMES.values()] == SCHEME_NAMES
    assert [policy.name for policy in POLICIES.values()] == POLICY_NAMES


@pytest.mark.parametrize(
    ("alias", "name"), [(name, name) for name in SCHEME_NAMES] + list(SCHEME_ALIASES.items())
)
def test_schemes_in_any_case(alias: str, name: str) -> None:
    assert {get_scheme(spelling).name for spelling in spellings(alias)} == {name}


@pytest.mark.parametrize(
    ("alias", "name"), [(name, name) for name in POLICY_NAMES] + list(POLICY_ALIASES.items())
)
def test_policies_in_any_case(alias: str, name: str) -> None:
    assert {get_policy(spelling).name for spelling in spellings(alias)} == {name}


def test_objects_are_as_good_as_names() -> None:
    bio, iobes, begin = SCHEMES["bio"], SCHEMES["iobes"], POLICIES["begin"]
    assert parse(["I-X"], bio, begin) == [(0, 1, "X")]
    assert convert(["I-X"], bio, iobes, begin) == ["S-X"]
    assert repair(["I-X"], bio, begin).tags == ["B-X"]
    assert [violation.kind for violation in validate(["I-X"], bio)] == ["start"]


@pytest.mark.parametrize("name", ["", "xyz", "bio2", "io b", "begin"])
def test_unknown_scheme(name: str) -> None:
    with pytest.raises(UnknownNameError) as error:
        parse(["O"], name)
    assert error.value.name == name
    assert list(error.value.known) == SCHEME_NAMES
    assert repr(name) in str(error.value)
    assert all(known in str(error.value) for known in SCHEME_NAMES)


@pytest.mark.parametrize("name", ["", "xyz", "bio"])
def test_unknown_policy(name: str) -> None:
    with pytest.raises(UnknownNameError) as error:
        parse(["O"], "bio", name)
    assert list(error.value.known) == [*POLICY_NAMES, "best"]
    assert repr(name) in str(error.value)
    assert all(known in str(error.value) for known in POLICY_NAMES)


def test_unknown_names_are_refused_by_every_verb() -> None:
    with pytest.raises(UnknownNameError):
        validate([], "xyz")
    with pytest.raises(UnknownNameError):
        write([], 0, "xyz")
    with pytest.raises(UnknownNameError):
        convert([], "bio", "xyz")
    with pytest.raises(UnknownNameError):
        repair([], "bio", "xyz")


def test_a_near_miss_is_named() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'begin'"):
        get_policy("begins")


@pytest.mark.parametrize("name", ["iob", "IOB", " Iob "])
def test_iob_is_refused_because_it_is_two_schemes(name: str) -> None:
    with pytest.raises(UnknownNameError, match="'iob1' or 'iob2'"):
        parse(["B-X"], name)


def test_unknown_names_are_value_errors_of_ours() -> None:
    assert issubclass(UnknownNameError, IobesError)
    assert issubclass(UnknownNameError, ValueError)
