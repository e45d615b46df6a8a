"""The mistakes of predictions, one by one: in words, or as data."""

from __future__ import annotations

from typing import Any

from ..scoring.files import ALL, FileReport, Located
from ..scoring.signature import Signature
from .application import SHOWN, counted, echo
from .output import print_json
from .tasks import Task


def show_mistakes(task: Task, signature: Signature, limit: int | None, json: bool) -> None:
    """List the mistakes of every prediction, at most so many; 0 is all."""
    locate = (ALL if json else SHOWN) if limit is None else limit or ALL
    results = []
    for name, report in task.reports(signature, locate=locate):
        if json:
            results.append(as_data(report, name))
        else:
            list_mistakes(report, name)
    if json:
        print_json(results)
    else:
        echo(f"signature {report.signature}")


def list_mistakes(report: FileReport, name: str) -> None:
    """Print the mistakes that were asked for, and how many there are of each kind."""
    for located in report.located:
        echo(in_words(located, name))
    total = sum(report.kinds.values())
    if total > len(report.located):
        more = total - len(report.located)
        echo(f"{name}: and {more:,} more (--limit 0 shows all)")
    kinds = sorted(report.kinds.items(), key=lambda kind: -kind[1])
    said = ", ".join(f"{count:,} {kind}" for kind, count in kinds if count)
    echo(f"{name}: {counted(total, 'mistake')}{f' ({said})' if said else ''}")


def as_data(report: FileReport, name: str) -> dict[str, Any]:
    """The mistakes of a file, and once each the sentences they are in."""
    sentences = {found.sentence.number: found.sentence.tokens for found in report.located}
    return {
        "file": name,
        "signature": str(report.signature),
        "total": sum(report.kinds.values()),
        "kinds": report.kinds,
        "mistakes": [flat(found) for found in report.located],
        "sentences": [{"sentence": n, "tokens": tokens} for n, tokens in sentences.items()],
    }


def flat(located: Located) -> dict[str, Any]:
    """A mistake as one dict."""
    mistake = located.mistake
    texts = (_text(located, span) for span in (mistake.gold, mistake.predicted))
    return {
        **vars(mistake),
        **dict(zip(("gold_text", "predicted_text"), texts)),
        "gold_line": located.gold_line,
        "predicted_line": located.predicted_line,
    }


def _text(located: Located, span: tuple[int, int, str] | None) -> str | None:
    return None if span is None else located.sentence.text(*span[:2])


def in_words(located: Located, name: str) -> str:
    """A mistake in one line."""
    mistake = located.mistake
    sides = [
        f"{side} {span[2]} {_text(located, span)!r}"
        for side, span in (("gold", mistake.gold), ("predicted", mistake.predicted))
        if span is not None
    ]
    return f"{name}:{located.predicted_line}: {mistake.kind}: {', '.join(sides)}"
