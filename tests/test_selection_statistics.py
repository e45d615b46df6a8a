"""Samples, calibration and coverage: exact intervals, unbiased audits, hand-made figures."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize  # type: ignore[import-untyped]

from spacy_iobes import Span
from spacy_iobes.errors import SettingError, UnknownNameError
from spacy_iobes.selection import (
    FLOOR,
    RULES,
    Batch,
    Calibration,
    Estimate,
    Reading,
    at_most,
    estimate,
    get_rule,
    next_batch,
    positives,
)

from .selection_views import FixedView


def exactly(found: int, population: int, positive: int, sample: int) -> Fraction:
    """The probability of a number of positives in a sample, by counting samples."""
    ways = comb(positive, found) * comb(population - positive, sample - found)
    return Fraction(ways, comb(population, sample))


@given(st.data())
def test_the_tail_is_that_of_counted_samples(data: st.DataObject) -> None:
    population = data.draw(st.integers(1, 40))
    positive, sample = (data.draw(st.integers(0, population)) for _ in range(2))
    found = data.draw(st.integers(-1, sample))
    wanted = sum(
        (
            exactly(k, population, positive, sample)
            for k in range(max(0, sample - population + positive), found + 1)
            if k <= positive
        ),
        Fraction(0),
    )
    assert at_most(found, population, positive, sample) == pytest.approx(float(wanted), abs=1e-10)


@pytest.mark.parametrize(
    ("population", "sample", "level"), [(12, 5, 0.9), (20, 7, 0.95), (9, 9, 0.5)]
)
def test_ends_of_the_interval_are_the_last_that_are_not_improbable(
    population: int, sample: int, level: float
) -> None:
    tail = Fraction(1 - level).limit_denominator(10**6) / 2
    for found in range(sample + 1):
        numbers = range(found, population - (sample - found) + 1)
        kept = [
            k
            for k in numbers
            if sum(exactly(j, population, k, sample) for j in range(found, min(k, sample) + 1))
            > tail
            and sum(
                exactly(j, population, k, sample)
                for j in range(max(0, sample - population + k), found + 1)
            )
            > tail
        ]
        assert positives(population, sample, found, level) == (kept[0], kept[-1])


@pytest.mark.parametrize(("population", "sample"), [(15, 6), (30, 10), (50, 3)])
def test_the_interval_has_the_truth_often_enough_whatever_it_is(
    population: int, sample: int
) -> None:
    for positive in range(population + 1):
        held = Fraction(0)
        for found in range(max(0, sample - population + positive), min(positive, sample) + 1):
            low, high = positives(population, sample, found, 0.95)
            held += exactly(found, population, positive, sample) * (low <= positive <= high)
        assert held >= Fraction(95, 100)


def test_an_empty_sample_says_nothing_and_a_full_one_everything() -> None:
    assert positives(100, 0, 0, 0.95) == (0, 100)
    assert positives(10, 10, 3, 0.95) == (3, 3)
    for wrong in ((5, 6, 0, 0.95), (5, 3, 4, 0.95), (5, 3, 1, 1.0)):
        with pytest.raises(SettingError):
            positives(*wrong)


def test_calibration_is_the_most_probable_by_another_optimiser() -> None:
    random = np.random.default_rng(3)
    expected = np.exp(random.uniform(-7, 0.5, 200))
    found = random.poisson(0.6 * expected**0.8).astype(float)

    def negative(at: np.ndarray) -> float:
        logs = at[0] + at[1] * np.log(expected)
        prior = 0.5 * (at[0] ** 2 + ((at[1] - 1) / 0.5) ** 2)
        return float(np.exp(logs).sum() - found @ logs + prior)

    wanted = minimize(negative, np.array([0.0, 1.0]), method="Nelder-Mead", tol=1e-12).x
    assert tuple(Calibration.fitted(expected, found)) == pytest.approx(tuple(wanted), abs=1e-4)


def test_calibration_without_surprises_changes_little_and_zeros_do_no_harm() -> None:
    assert Calibration()(np.array([0.25, 2.0])) == pytest.approx([0.25, 2.0])
    expected = np.full(400, 0.5)
    found = np.tile([0.0, 1.0], 200)
    assert Calibration.fitted(expected, found)(np.array([0.5])) == pytest.approx([0.5], rel=0.02)
    low = Calibration.fitted(np.zeros(50), np.zeros(50))
    assert 0 < low(np.array([0.0]))[0] < 10 * FLOOR


def span(start: int) -> Span:
    return Span(start, start + 1, "X")


def test_an_estimate_by_hand() -> None:
    view = FixedView(np.array([0.0, 0.0, 0.0, 0.0, 0.5, 0.25, 0.25, 0.0, 0.0, 0.0]))
    reading = Reading(
        answers={0: (span(0), span(1)), 1: (span(0),), 2: (), 3: ()}, rejected={7}, audit={2, 3}
    )
    known = estimate(view, reading, 10)
    assert (known.read, known.left, known.mentions) == (5, 5, 3)
    assert known.expected == pytest.approx(1.0)
    assert known.coverage == pytest.approx(0.75)
    assert (known.audited, known.surprises) == (2, 0)
    # two of seven sentences drawn, none positive: five positives give that with 1/21 > 0.025, and
    # no number is beyond; 1.5 mentions in a sentence that has any
    assert known.low == pytest.approx(3 / (3 + 5 * 1.5))
    assert known.high == 1.0
    assert known.corrected is not None
    assert known.low <= known.corrected <= known.high


def test_nothing_found_is_no_coverage_and_everything_read_is_all_of_it() -> None:
    view = FixedView(np.array([0.2, 0.0]))
    assert estimate(view, Reading(), 2).coverage == 0.0
    assert estimate(FixedView(np.zeros(2)), Reading(), 2).coverage is None
    known = estimate(view, Reading(answers={0: (span(0),), 1: ()}), 2)
    assert (known.low, known.high, known.coverage, known.left) == (1.0, 1.0, 1.0, 0)


def audited(seed: int, truth: np.ndarray, noise: np.ndarray) -> list[tuple[int, int, Estimate]]:
    """Rounds of a loop whose view is a noisy guess; positives left that the audit does not know.

    What was read changes the view, as learning would.
    """
    reading, rounds = Reading(), list[tuple[int, int, Estimate]]()
    size = len(truth)
    for number in range(8):
        seen = sum(len(spans) for spans in reading.taught().values())
        view = FixedView(truth * 0.5 + noise * (1 + seen % 3))
        batch = next_batch(view, reading, (), 20, 0.25, seed, number)
        reading.begin(batch)
        for sentence in batch.sentences:
            reading.answer(sentence, [span(k) for k in range(truth[sentence])])
        known = estimate(view, reading, size)
        unread = sorted(set(range(size)) - reading.read)
        rounds.append((int((truth[unread] > 0).sum()), len(unread), known))
    return rounds


def test_the_audit_is_a_random_sample_of_what_the_ranking_has_not_chosen() -> None:
    random = np.random.default_rng(0)
    truth = (random.random(400) < 0.15).astype(int)
    noise = random.random(400)
    runs = [audited(seed, truth, noise) for seed in range(300)]
    for number in (0, 3, 7):
        guesses, right, held = [], [], []
        for run in runs:
            positive, unread, known = run[number]
            guesses.append(unread * known.surprises / known.audited)
            right.append(positive)
            left = sum(truth) - known.mentions
            true = known.mentions / (known.mentions + left)
            held.append(known.low <= true <= known.high)
        error = np.std(np.subtract(guesses, right)) / np.sqrt(len(runs))
        assert abs(np.mean(guesses) - np.mean(right)) < 4 * error  # unbiased
        assert np.mean(held) >= 0.95


def test_rules_of_stopping() -> None:
    def known(coverage: float | None, low: float, mentions: int = 5) -> Estimate:
        return Estimate(10, 5, mentions, 1.0, coverage, 3, 0, low, 1.0, 0.95, coverage)

    history = [known(0.995, 0.5), known(0.98, 0.5), known(0.991, 0.9), known(0.992, 0.99)]
    rule = get_rule("estimate")
    assert rule.met(history, 0.99, 2)
    assert not rule.met(history, 0.99, 3)
    assert rule.met(history[:1], 0.99)
    assert not rule.met([], 0.99)
    assert get_rule("audit").met(history, 0.99)
    assert not get_rule("audit").met(history[:-1], 0.99)
    assert not get_rule("never").met(history, 0.01)
    for name in RULES:  # nobody stops before something was found
        assert not get_rule(name).met([known(1.0, 1.0, mentions=0)], 0.5)
    with pytest.raises(UnknownNameError, match="estimate, corrected, audit, never"):
        get_rule("soon")
    with pytest.raises(SettingError, match="patience"):
        rule.met(history, 0.99, 0)


@settings(max_examples=60)
@given(st.data())
def test_batches_of_any_reading(data: st.DataObject) -> None:
    size = data.draw(st.integers(1, 40))
    numbers = st.sets(st.integers(0, size - 1))
    read, drawn = data.draw(numbers), data.draw(numbers)
    rejected = data.draw(st.sets(st.sampled_from(sorted(read)))) if read else set()
    skipped = data.draw(numbers) - read
    reading = Reading({s: (span(0),) for s in read - rejected}, rejected, read & drawn - rejected)
    view = FixedView(np.array(data.draw(st.lists(st.floats(0, 3), min_size=size, max_size=size))))
    share = data.draw(st.sampled_from([0.0, 0.1, 0.5]))
    wanted = data.draw(st.integers(1, 15))
    batch = next_batch(view, reading, skipped, wanted, share, 7, 2)
    assert batch == next_batch(view, reading, skipped, wanted, share, 7, 2)
    chosen = set(batch.sentences)
    assert len(chosen) == len(batch.sentences) == min(wanted, size - len(read | skipped))
    assert not chosen & (read | skipped)
    assert set(batch.audit) <= chosen
    assert set(batch.promoted) <= reading.audit
    assert len(batch.audit) == min(
        round(wanted * share), max(0, len(chosen) - (wanted - round(wanted * share)))
    )
    assert batch.expected == tuple(view.expected[s] for s in batch.sentences)
    if not reading.mentions:
        return
    ranked = [s for s in batch.sentences if s not in batch.audit]
    rest = set(range(size)) - read - skipped - chosen
    for sentence in ranked:  # nothing better is left, in the audit neither
        assert all(view.expected[sentence] >= view.expected[other] for other in rest)
    worst = min((view.expected[s] for s in ranked), default=np.inf)
    behind = reading.audit - set(batch.promoted)
    assert all(view.expected[s] <= worst for s in behind) or len(chosen) < wanted


def test_a_reading_keeps_the_last_expectations() -> None:
    reading = Reading(audit={3})
    reading.begin(Batch((1, 2), (2,), (3,), (0.5, 0.25)))
    assert reading.audit == {2}
    assert reading.predicted == {1: 0.5, 2: 0.25}
    reading.answer(1, [span(2), span(0)])
    assert reading.answers[1] == (span(0), span(2))
    assert reading.taught() == {1: (span(0), span(2))}
    reading.answer(2, [])
    assert 2 not in reading.taught()
    reading.reject(1)
    assert (reading.read, reading.mentions) == ({1, 2}, 0)
    reading.take_back(1)
    assert reading.read == {2}
    reading.begin(Batch(tuple(range(10, 1500)), (), (), tuple([0.1] * 1490)))
    assert len(reading.predicted) == 1000
    assert 1 not in reading.predicted
