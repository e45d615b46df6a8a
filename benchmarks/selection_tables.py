"""The tables of sentence selection, beside the published figures."""

from __future__ import annotations

from statistics import fmean
from typing import Any

from .selection_corpora import AVERAGE, PRINTED_AVERAGE, SETTINGS, SUGGESTED
from .table import Cell, Table
from .targets import at_least

Curves = dict[str, dict[str, Any]]
TARGET = 0.99
FEWER, FASTER, COVERED = 8, 20.0, 0.9


def stop(curve: dict[str, Any], measure: str = "coverage") -> dict[str, Any] | None:
    """The first round in which an estimate reaches the target."""
    rows = (row for row in curve["rounds"] if (row["estimate"][measure] or 0) >= TARGET)
    return next(rows, None)


def reached(curve: dict[str, Any], coverage: float) -> int | None:
    """How many sentences were read when the true coverage reached something."""
    rows = (row["estimate"]["read"] for row in curve["rounds"] if row["coverage"] >= coverage)
    return next(rows, None)


def percent(value: float | None) -> float | None:
    """A share in percent."""
    return None if value is None else 100 * value


def stopped(found: dict[str, Curves]) -> Table:
    """When the estimate is 99 %, and when the published coverage is reached."""
    rows: list[dict[str, Cell]] = []
    for name, curve in found["plain"].items():
        size, published = curve["sentences"], SETTINGS[name].published
        audited = found["audit"].get(name)
        row: dict[str, Cell] = {"label": name}
        row |= {"paper read %": percent(published.read / size)}
        row |= {"paper true %": published.coverage}
        for loop, each in (("plain", curve), ("audit", audited)):
            end = stop(each) if each else None
            row[f"{loop} read %"] = percent(end["estimate"]["read"] / size) if end else None
            row[f"{loop} true %"] = percent(end["coverage"]) if end else None
        for loop, each in (("plain", curve), ("audit", audited)):
            read = reached(each, published.coverage / 100) if each else None
            row[f"{loop}: read for paper's true %"] = percent(read / size) if read else None
        rows.append(row)
    if rows:
        means: dict[str, Cell] = {"label": "mean"}
        for key in list(rows[0])[1:]:
            values = [v for row in rows if isinstance(v := row[key], float)]
            means[key] = fmean(values) if values else None
        rows.append(means)
    notes = [
        "Read: sentences read when the model's estimate reaches 99 %; true: the coverage then.",
        f"The eight rows of the paper average {AVERAGE} % read; it prints {PRINTED_AVERAGE} %.",
    ]
    formats = {key: ".1f" for key in rows[0] if key != "label"} if rows else {}
    return Table("sentences read at an estimate of 99 %", rows, notes, formats)


def intervals(found: Curves) -> Table:
    """How often the interval of the audit has the true coverage."""
    rows: list[dict[str, Cell]] = []
    for name, curve in found.items():
        held = [inside(row) for row in curve["rounds"]]
        end = stop(curve) or curve["rounds"][-1]
        known = end["estimate"]
        rows.append(
            {
                "label": name,
                "rounds": len(held),
                "covered %": percent(fmean(held)),
                "at the stop: low %": percent(known["low"]),
                "corrected %": percent(known["corrected"]),
                "true %": percent(end["coverage"]),
                "high %": percent(known["high"]),
                "audited": known["audited"],
            }
        )
    formats = {key: ".1f" for key in rows[0] if key.endswith("%")} if rows else {}
    notes = ["The interval is exact at 95 % in each round; rounds of a run are not independent."]
    return Table("the interval of the audit", rows, notes, formats)


def inside(row: dict[str, Any]) -> bool:
    """Whether the interval of a round has the truth."""
    known = row["estimate"]
    return bool(known["low"] <= row["coverage"] <= known["high"])


def enriched(found: dict[str, Curves]) -> Table:
    """What it helps that other labels are known."""
    rows: list[dict[str, Cell]] = []
    for name, curve in found["enrich"].items():
        plain, size = found["plain"].get(name), curve["sentences"]
        row: dict[str, Cell] = {"label": name}
        for loop, each in (("plain", plain), ("enrich", curve)):
            end = stop(each) if each else None
            row[f"{loop} read %"] = percent(end["estimate"]["read"] / size) if end else None
            row[f"{loop} true %"] = percent(end["coverage"]) if end else None
        wanted = SETTINGS[name].published.coverage / 100
        for loop, each in (("plain", plain), ("enrich", curve)):
            read = reached(each, wanted) if each else None
            row[f"{loop}: read for paper's true %"] = percent(read / size) if read else None
        rows.append(row)
    formats = {key: ".1f" for key in rows[0] if key != "label"} if rows else {}
    notes = [
        "Tokens of other labels are ruled out exactly, by clamping, not only left out of sums."
    ]
    return Table("enriching a corpus", rows, notes, formats)


def suggested(found: Curves) -> Table:
    """How often the right annotation is among ten suggestions, and at which place."""
    rows: list[dict[str, Cell]] = []
    curve = found.get("RNA", {"rounds": []})
    for row in curve["rounds"]:
        told, number = row["suggested"], row["number"]
        if told is None or number not in (1, 5, 10, 20):
            continue
        paper = SUGGESTED.get(number, (None, None, None))
        rows.append(
            {
                "iteration": number,
                "with a mention %": percent(told["relevant"] / told["sentences"]),
                "paper's %": paper[0],
                "among ten %": percent(told["among"] / told["sentences"]),
                "paper's among ten %": paper[1],
                "first %": percent(told["first"] / told["sentences"]),
                "mean rank": told["rank"],
                "paper's rank": paper[2],
            }
        )
    notes = ["RNA; of all sentences of a batch, where the right annotation may be that of none."]
    formats = {key: ".1f" for key in rows[0] if key.endswith("%")} if rows else {}
    return Table("suggestions", rows, notes, formats)


def speed(found: dict[str, Curves], crfsuite: Curves) -> Table:
    """Seconds of a round, and of the same with python-crfsuite."""
    rows: list[dict[str, Cell]] = []
    for name, curve in found["plain"].items():
        seconds = [row["seconds"] for row in curve["rounds"]]
        other = crfsuite.get(name)
        theirs = fmean(other["seconds"].values()) if other else None
        rows.append(
            {
                "label": name,
                "rounds": len(seconds),
                "mean s": fmean(seconds),
                "longest s": max(seconds),
                "whole run s": sum(seconds),
                "crfsuite mean s": theirs,
                "ratio": theirs / fmean(seconds) if theirs else None,
            }
        )
    notes = [
        "CPU seconds of learning and asking about all that is left, without finding features.",
        "crfsuite retrains from nothing (L-BFGS, c2 0.25, the paper's features without parts of",
        "speech) and is measured in six rounds of the run, with the same sentences read.",
    ]
    return Table("seconds of a round", rows, notes)


def targets(found: dict[str, Curves], crfsuite: Curves) -> Table:
    """What was asked for."""
    fewer = dict[str, int]()
    for loop in ("plain", "audit"):
        for name, curve in found[loop].items():
            published = SETTINGS[name].published
            read = reached(curve, published.coverage / 100)
            fewer[loop] = fewer.get(loop, 0) + bool(read and read < published.read)
    covered = [inside(row) for curve in found["audit"].values() for row in curve["rounds"]]
    ratios = [
        fmean(other["seconds"].values())
        / fmean(row["seconds"] for row in found["plain"][name]["rounds"])
        for name, other in crfsuite.items()
    ]
    rows: list[dict[str, Cell]] = [
        row("fewer sentences than published, of eight", fewer.get("plain"), FEWER),
        row("the same, with the audit", fewer.get("audit"), FEWER),
        row("a round, x python-crfsuite", min(ratios) if ratios else None, FASTER),
        row("rounds whose interval has the truth", fmean(covered) if covered else None, COVERED),
    ]
    return Table("targets", rows)


def row(what: str, value: float | None, wanted: float) -> dict[str, Cell]:
    """One target."""
    measured = None if value is None else float(value)
    return {
        "target": what,
        "wanted": f">= {wanted:g}",
        "measured": measured,
        "verdict": at_least(measured, wanted),
    }
