"""The workflows of project.yml run, and a second run skips what has not changed."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import srsly

from .shared import ROOT

PROJECT = ROOT / "project.yml"


def run(folder: Path, workflow: str) -> str:
    """What a workflow prints."""
    command = [sys.executable, "-m", "spacy", "project", "run", workflow, str(folder)]
    env = os.environ | {"OMP_NUM_THREADS": "1", "NO_COLOR": "1"}
    done = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_strategies(tmp_path: Path) -> None:
    project = srsly.read_yaml(PROJECT)
    project["vars"] |= {"sentences": 60, "splits": 2}
    srsly.write_yaml(tmp_path / "project.yml", project)
    first = run(tmp_path, "strategies")
    assert "winnow   constrained  be" in first
    assert (tmp_path / "strategies" / "index.html").is_file()
    assert run(tmp_path, "strategies").count("nothing changed") == 2
    project["vars"] |= {"seed": 1}
    srsly.write_yaml(tmp_path / "project.yml", project)
    assert "winnow   constrained  be" in run(tmp_path, "strategies")
