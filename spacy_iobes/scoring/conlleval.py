"""A report as the conlleval script prints it, to the byte."""

from __future__ import annotations

from .report import Report


def as_conlleval(report: Report, encoding: str = "utf8") -> str:
    """What conlleval prints, which has no word for undefined (it prints 0) and none for a recipe.

    Labels are padded to 17 bytes in the encoding of the files.
    """
    counts = report.counts
    correct, predicted, gold = counts.totals
    text = f"processed {counts.tokens} tokens with {gold} phrases; "
    text += f"found: {predicted} phrases; correct: {correct}.\n"
    if counts.tokens:
        known = counts.tokens - counts.missing
        text += f"accuracy: {100 * (counts.right_tokens or 0) / known:6.2f}%; "
        text += f"{_hundred(correct, predicted, gold)}\n"
    for label, numbers in zip(counts.labels, counts.exact.tolist()):
        row = _hundred(*numbers)
        pad = " " * (17 - len(label.encode(encoding)))
        # an empty label is listed once for each side that has it
        times = 1 if label else bool(numbers[1]) + bool(numbers[2])
        text += f"{pad}{label}: {row}  {numbers[1]}\n" * times
    return text


def _hundred(correct: int, predicted: int, gold: int) -> str:
    """Precision, recall and F1 with the same operations in the same order as conlleval."""
    precision = 100 * correct / predicted if predicted else 0.0
    recall = 100 * correct / gold if gold else 0.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return f"precision: {precision:6.2f}%; recall: {recall:6.2f}%; FB1: {f1:6.2f}"
