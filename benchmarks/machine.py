"""What the numbers were measured on; no host names and no paths."""

from __future__ import annotations

import os
import platform
from datetime import datetime, timezone
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from spacy_iobes import kernels

from .table import Cell

PACKAGE = "spacy-iobes"
PACKAGES = (
    PACKAGE,
    "spacy",
    "thinc",
    "numpy",
    "iobes",
    "seqeval",
    "seqscore",
    "nervaluate",
    "python-crfsuite",
)


def describe() -> dict[str, Cell]:
    """Python, packages, processor, load, date, and which kernels are in use."""
    return {
        "date": datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
        "system": f"{platform.system()} {platform.machine()}",
        "processor": processor(),
        "cores": os.cpu_count(),
        "load at start": load(),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        **{name: installed(name) for name in PACKAGES},
        "kernels in use": kernels.IN_USE,
        "chain kernels in use": kernels.CHAIN_IN_USE,
    }


def installed(package: str) -> str:
    """The version of a package."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def processor() -> str:
    """The model name of the processor."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf8").splitlines() if info.is_file() else []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or "unknown"


def load() -> float | None:
    """How many processes competed over the last minute, where the system tells."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else None
