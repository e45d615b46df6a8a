"""Measurements beside other tools: `python -m benchmarks NAME`, from the repository root."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def prefer_installed() -> None:
    """Move the repository root to the end of sys.path, so that an installed package wins.

    The source tree may lack the compiled kernels; it is still used where nothing is installed.
    """
    root = [entry for entry in sys.path if Path(entry or ".").resolve() == ROOT]
    sys.path[:] = [entry for entry in sys.path if entry not in root] + root


def one_thread() -> None:
    """Ask for matrix products in one thread: CPU time would count those that idle and spin."""
    for library in ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB"):
        os.environ.setdefault(f"{library}_NUM_THREADS", "1")


prefer_installed()
one_thread()  # before anything loads numpy
