"""Learning curves as a picture; matplotlib is loaded only for it."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from statistics import mean

COLOURS = ("#b3611f", "#6b6b6b", "#1f5fb3")
MARKERS = "s^o"


def draw(path: Path, points: dict[str, dict[float, list[float]]]) -> None:
    """A line for each system: the mean over the seeds, with a band from the worst to the best."""
    matplotlib = import_module("matplotlib")
    matplotlib.use("agg")
    figure, axes = import_module("matplotlib.pyplot").subplots(figsize=(6.4, 4.2))
    shares = sorted({share for found in points.values() for share in found})
    for (name, found), colour, marker in zip(points.items(), COLOURS, MARKERS):
        known = [share for share in shares if found[share]]
        values = [found[share] for share in known]
        axes.plot(known, list(map(mean, values)), color=colour, marker=marker, label=name)
        axes.fill_between(
            known, list(map(min, values)), list(map(max, values)), color=colour, alpha=0.15, lw=0
        )
    axes.set_xscale("log")
    axes.set_xticks(shares, [f"{share:.0%}" for share in shares])
    axes.minorticks_off()
    axes.set_xlabel("share of the CoNLL-2003 training data")
    axes.set_ylabel("F1 on the test data")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="best", frameon=False)
    figure.tight_layout()
    figure.savefig(path, dpi=150)
